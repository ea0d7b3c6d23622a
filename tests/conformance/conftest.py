"""One jaild with zygotes for all tests; the cases of tests/bootstrap and tools of tests/support."""
import os
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "bootstrap")]

import wire  # noqa: E402
from fixtures import faults, pen, programs, refused  # noqa: E402, F401
from pen import Pen  # noqa: E402

SERVING_WITHIN_S = 60
LOADING, SERVES, FAILED = 1, 2, 3


def serving(jaild, kinds=("small", "data"), within=SERVING_WITHIN_S):
    """Waits until the zygotes serve; returns their status."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        zygotes = jaild.zygotes()
        if all(zygotes[kind]["state"] == SERVES for kind in kinds):
            return zygotes
        time.sleep(0.02)
    raise AssertionError(f"no zygote serves: {jaild.zygotes()}")


@pytest.fixture(scope="module")
def warm(programs, request):  # noqa: F811
    """A jaild whose zygotes serve."""
    made = Pen(f"pen-{os.getpid()}-{request.module.__name__}")
    try:
        with wire.Jaild(made, options=["--zygotes", "1000000"]) as jaild:
            serving(jaild)
            yield jaild
        left = made.empties()
    finally:
        made.close()
    assert not left, "left behind:\n" + "\n".join(left)
