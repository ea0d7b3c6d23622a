"""The suite's fixtures are those of tests/support, and one jaild for all tests of a file that leave it alive."""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import wire  # noqa: E402
from fixtures import client, faults, jaild, pen, programs, shared  # noqa: E402, F401


@pytest.fixture
def session(client):  # noqa: F811
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
