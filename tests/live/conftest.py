"""One jaild for all tests of a file that leave it alive; a session of its own for each test."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from fixtures import client, faults, jaild, pen, programs, shared  # noqa: E402, F401
from live_session import Session  # noqa: E402


@pytest.fixture
def session(client):  # noqa: F811
    made = Session(client)
    yield made
    made.close()
