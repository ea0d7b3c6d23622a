"""The suite's fixtures are those of tests/support, and one jaild for all tests of a file that leave it alive."""
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from fixtures import client, faults, jaild, pen, programs, refused, shared  # noqa: E402, F401


@pytest.fixture
def session(client):  # noqa: F811
    """A session of the test's own, over that connection's jaild."""
    made = client.open(os.urandom(8).hex())
    yield made
    client.close(made)
