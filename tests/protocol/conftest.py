"""The suite's fixtures are those of tests/support, and one jaild for all tests of a file that leave it alive."""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import wire  # noqa: E402
from fixtures import faults, jaild, pen, programs  # noqa: E402, F401
from pen import Pen  # noqa: E402


@pytest.fixture(scope="module")
def shared(programs, request):  # noqa: F811
    """A jaild that serves many tests, each over a connection of its own."""
    made = Pen(f"pen-{os.getpid()}-{request.module.__name__}")
    try:
        with wire.Jaild(made) as jaild:  # noqa: F811
            yield jaild
            assert (jaild.status()["sessions"], jaild.status()["cells"]) == (0, 0)
        left = made.empties()
    finally:
        made.close()
    assert not left, "left behind:\n" + "\n".join(left)


@pytest.fixture
def client(shared):
    """A connection of the test's own to the shared jaild."""
    with shared.attach() as made:
        yield made


@pytest.fixture
def session(client):
    """A session of the test's own, over that connection's jaild."""
    made = client.open(os.urandom(8).hex())
    yield made
    client.close(made)


@pytest.fixture
def refused():
    """refused(errno) is a context in which jaild refuses with this errno, at no stage."""

    class Context:
        def __init__(self, *errors):
            self.errors = errors

        def __enter__(self):
            return self

        def __exit__(self, kind, value, traceback):
            assert kind is not None, "jaild has not refused"
            if kind is not wire.Refused:
                return False
            assert value.error in self.errors and value.stage == 0, str(value)
            return True

    return Context
