"""A house over a real jaild for each file of tests; tests that need other settings start their own.

CLOCHE_CALL_DRIVER names another program, such as the one of a sanitizer's build.
"""
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build"
sys.path.insert(0, str(HERE))

from driver import Driver  # noqa: E402

PROGRAM = os.environ.get("CLOCHE_CALL_DRIVER", BUILD / "tests/call/call-test-driver")


@pytest.fixture
def start(tmp_path):
    """start(name=value, ...) is a house of the test's own, with its jaild."""
    made = []
    log = open(tmp_path / "log", "w+", encoding="utf-8")

    def start_one(**config):
        made.append(Driver(PROGRAM, BUILD / "cloche-jaild", log, **config))
        said = made[-1].do("start")
        assert "fault" not in said, said
        return made[-1]

    yield start_one
    statuses = [one.end() for one in made]
    log.seek(0)
    text = log.read()
    log.close()
    assert set(statuses) <= {0}, text


@pytest.fixture
def house(start):
    return start()
