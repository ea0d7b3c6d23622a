"""Fixtures of the jail and attack suites: the program as root and as an ordinary user, and what it leaves behind.

CLOCHE_MUST_WORK=1 turns every skip into a failure. CLOCHE_LONG=1 (make check-long) adds the tests marked `long`.
CLOCHE_BIN names another program than build/cloche.
"""
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "jail"), str(HERE / "support")]

import account  # noqa: E402
import traces  # noqa: E402
from answer import problems_of  # noqa: E402
from runner import FILE_SECRET, PROGRAM, SECRET_FILE, Cloche, Identity  # noqa: E402

MUST_WORK = os.environ.get("CLOCHE_MUST_WORK") == "1"
LONG = os.environ.get("CLOCHE_LONG") == "1"


def pytest_configure(config):
    config.addinivalue_line("markers", "both: runs as root and rootless in every run, not in long runs only")
    config.addinivalue_line("markers", "long: runs with CLOCHE_LONG=1 only")


def pytest_generate_tests(metafunc):
    """A test that takes `cloche` runs as root, and as an ordinary user: always if marked `both`, else in long runs."""
    if "cloche" not in metafunc.fixturenames:
        return
    marks = list(metafunc.definition.iter_markers())
    if any(mark.name == "parametrize" and "cloche" in mark.args[0] for mark in marks):
        return
    always = any(mark.name == "both" for mark in marks)
    rootless = pytest.param("rootless", marks=() if always else pytest.mark.long)
    metafunc.parametrize("cloche", ["root", rootless], indirect=True)


def pytest_collection_modifyitems(config, items):
    if LONG:
        return
    kept = [item for item in items if not item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
    items[:] = kept


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if MUST_WORK and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"CLOCHE_MUST_WORK=1: skipped: {report.longrepr}"


@pytest.fixture(scope="session")
def program():
    if os.geteuid() != 0:
        pytest.skip("needs root, to make users, plant secrets and look at processes")
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")
    yield PROGRAM
    SECRET_FILE.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def rootless(program):
    """The ordinary user with delegated cgroups."""
    entry = account.ensure_user()
    folders = account.delegate(entry.pw_uid, entry.pw_gid)
    yield account.Rootless(entry, folders)
    account.withdraw(folders)


@pytest.fixture
def cloche(request, program, tmp_path):
    if not SECRET_FILE.exists():
        SECRET_FILE.write_text(FILE_SECRET)
        SECRET_FILE.chmod(0o600)
    who = request.getfixturevalue("rootless") if request.param == "rootless" else Identity()
    made = Cloche(who, tmp_path)
    yield made
    made.close()


@pytest.fixture
def leftovers():
    """leftovers() is what the test has left on the host so far."""
    before = traces.snapshot()
    return lambda: traces.leftovers(before)


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    """After every test that ran the program: no process, cgroup or mount more than before."""
    if "program" not in request.fixturenames:
        yield
        return
    if "cloche" in request.fixturenames and request.node.callspec.params.get("cloche") == "rootless":
        request.getfixturevalue("rootless")
    before = traces.snapshot()
    yield
    left = traces.leftovers(before)
    assert not left, "left behind on the host:\n" + "\n".join(left)


@pytest.fixture(scope="session")
def checked():
    """checked(run) asserts that the run's answer has exactly the promised shape, and returns the answer."""

    def check(run):
        assert run.answer is not None, "no answer\n" + run.explain()
        problems = problems_of(run.answer)
        assert not problems, "\n".join(problems) + "\n" + run.explain()
        return run.answer

    return check
