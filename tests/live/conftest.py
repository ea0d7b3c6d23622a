"""One jaild for all tests of a file that leave it alive; a session of its own for each test."""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import wire  # noqa: E402
from fixtures import faults, jaild, pen, programs  # noqa: E402, F401
from live_session import Session  # noqa: E402
from pen import Pen  # noqa: E402

@pytest.fixture(scope="module")
def shared(programs, request):  # noqa: F811
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
    with shared.attach() as made:
        yield made


@pytest.fixture
def session(client):
    made = Session(client)
    yield made
    made.close()
