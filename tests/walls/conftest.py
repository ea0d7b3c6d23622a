"""The suite's fixtures are those of tests/support."""
import sys
from pathlib import Path

for folder in "support", "call":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

from fixtures import faults, jaild, pen, programs  # noqa: E402, F401
