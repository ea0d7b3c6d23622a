"""Fixtures of the suites that start programs in a pen (walls, protocol, leak)."""
import itertools
import os

import pytest
import tables
import wire
from pen import Pen

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def programs():
    if os.geteuid() != 0:
        pytest.skip("needs root, to make cgroups and to look into other users' processes")
    if not (tables.BUILD / "cloche-jaild").exists():
        pytest.skip("build/cloche-jaild is not built")


@pytest.fixture(scope="session")
def faults(programs):
    """The program of the build for fault injection."""
    program = tables.FAULTS / "cloche"
    if not program.exists():
        pytest.skip("build-faults is not built: make build-faults")
    return program


@pytest.fixture
def pen(programs):
    """A pen of the test's own; nothing may be left in it at the end."""
    made = Pen(f"pen-{os.getpid()}-{next(_numbers)}")
    yield made
    left = made.empties()
    made.close()
    assert not left, "left behind:\n" + "\n".join(left)


@pytest.fixture
def jaild(pen):
    """A jaild of the test's own, let go at the end."""
    with wire.Jaild(pen) as made:
        yield made


@pytest.fixture(scope="module")
def shared(programs, request):
    """A jaild that serves many tests, each over a connection of its own."""
    made = Pen(f"pen-{os.getpid()}-{request.module.__name__}")
    try:
        with wire.Jaild(made) as jaild:
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
