"""W7: the isolation tests of tests/jail and the attacks of tests/attack, on the image's files in place of the host's.

The very same functions, run by another `cloche`: one that names the image. As root, since the image is root's. Of the
attacks a sample (those that are tried rootless as well), in long runs all.
"""
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "attack")]

import test_ideas  # noqa: E402
import test_isolation  # noqa: E402
import test_limits  # noqa: E402
from runner import Cloche, Identity  # noqa: E402
from test_ideas import programs  # noqa: E402,F401
from test_limits import waiting  # noqa: E402,F401

# What these attacks look for is there for another reason: ctypes of the image has a libffi that keeps a file of code of
# the process's own open as descriptor 3; /etc and /var have more folders; mounts are told by the image's place.
OTHERWISE = {"ans_report_lies", "fds_open", "out_forged_report", "zygote_socket", "fs_made_etc", "fs_host_paths",
             "roomy_proc_leaks"}
assert OTHERWISE <= {idea.name for idea in test_ideas.IDEAS}
IDEAS = [pytest.param(idea, id=idea.name, marks=() if idea.header.get("rootless") == "yes" else pytest.mark.long)
         for idea in test_ideas.IDEAS if idea.name not in OTHERWISE]
pytestmark = pytest.mark.parametrize("cloche", ["image"], indirect=True)


class Imaged(Cloche):
    """A person whose scripts see the image."""

    def __init__(self, tree, folder):
        super().__init__(Identity(), folder)
        self.tree = tree

    def argv(self, script, *, extra=(), **options):
        return super().argv(script, extra=("--rootfs", self.tree, *extra), **options)


@pytest.fixture
def cloche(program, tree, tmp_path):
    made = Imaged(tree, tmp_path)
    yield made
    made.close()


def borrow(module):
    """The tests of a module, under their own names."""
    for name, function in vars(module).items():
        if name.startswith("test_"):
            globals()[name] = function


borrow(test_isolation)
borrow(test_limits)


@pytest.mark.parametrize("idea", IDEAS)
def test_idea(idea, cloche, checked, programs):  # noqa: F811
    test_ideas.test_idea(idea, cloche, checked, programs)
