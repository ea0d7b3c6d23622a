"""Fixtures of tests/api: a service of the test's own, in a pen."""
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "api"))
sys.path.insert(0, str(HERE.parent / "support"))

import pytest  # noqa: E402
from service import PROGRAM, Service, make_pen  # noqa: E402


@pytest.fixture
def pen():
    made = make_pen("store")
    yield made
    made.close()


@pytest.fixture
def start(pen, tmp_path):
    """start(option..., state=None) is a service; ended with the test."""
    import os
    if os.geteuid() != 0 or not PROGRAM.exists():
        pytest.skip("needs root, and a build")
    made = []

    def start_one(*options, **more):
        made.append(Service(pen, tmp_path, *options, **more))
        return made[-1]

    yield start_one
    for service in made:
        if service.process.poll() is None:
            service.stop()
