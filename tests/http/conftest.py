"""One test server for each file of tests; tests that need other limits start their own.

CLOCHE_HTTP_SERVER names another program, such as the one of a sanitizer's build.
"""
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from wire import Server  # noqa: E402

PROGRAM = os.environ.get("CLOCHE_HTTP_SERVER", HERE.parents[1] / "build/tests/http/http-test-server")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(PROGRAM, tmp_path_factory.mktemp("http"))
    yield made
    made.stop()


@pytest.fixture
def start(tmp_path):
    """start(limit=value, ...) is a server of the test's own."""
    made = []

    def start_one(**limits):
        made.append(Server(PROGRAM, tmp_path, **limits))
        return made[-1]

    yield start_one
    for one in made:
        one.stop()
