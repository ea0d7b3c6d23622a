"""The same as an ordinary user, in a cgroup that root delegated to him."""

import contextlib
import os

import guest_cell as cell
from guest_limits import ALLOCATE, MEMORY_KILLED, fifteen_processes, limits_in_the_tree
from guest_runs import check, doctor
from guest_table import guest_test

ADA = 1000
SCOPE = f"{cell.ROOT}/ada.scope"


def become_ada():
    """Runs in the child that will be cloche: nothing else is in the scope, as after systemd-run --scope."""
    with open(f"{SCOPE}/cgroup.procs", "w") as procs:
        procs.write("0")
    os.setgroups([])
    os.setgid(ADA)
    os.setuid(ADA)
    os.environ.update(HOME="/home/ada", USER="ada")


@contextlib.contextmanager
def delegated():
    """A scope of its own for each test. Once delegated controllers are on, the kernel lets no process back in ("no
    internal processes"), and systemd also makes a scope per command."""
    os.mkdir(SCOPE)
    for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
        os.chown(os.path.join(SCOPE, name), ADA, ADA)
    try:
        yield become_ada
    finally:
        # Depth first, as systemd trims a scope; what still lives in it makes this fail, and so the test.
        for folder, _, _ in os.walk(SCOPE, topdown=False):
            os.rmdir(folder)


def rootless(function):
    def test():
        with delegated() as enter:
            return function(enter)
    test.__name__ = f"rootless_{function.__name__}"
    return guest_test(test)


@rootless
def doctor_finds_all_well(enter):
    return doctor(enter)


@rootless
def hello_from_python(enter):
    ended = cell.run("import os; print('hello', os.getresuid())", enter=enter)
    check(ended, 0, "ok", "exit")
    assert ended.stdout == "hello (65534, 65534, 65534)\n", ended


@rootless
def hello_from_bash(enter):
    check(cell.run("echo hello; exit 3", language="bash", enter=enter), 3, "error", "exit")


@rootless
def limits_stand_in_the_tree(enter):
    leaf = limits_in_the_tree(enter)
    assert leaf.startswith(f"{SCOPE}/"), leaf
    return leaf


@rootless
def memory_over_the_limit(enter):
    check(cell.run(ALLOCATE.format(mib=400), enter=enter), *MEMORY_KILLED)


@rootless
def pids_fifteen_more_then_eagain(enter):
    fifteen_processes(enter)


@rootless
def without_delegation_strict_is_refused(_):
    """A user in a cgroup that is not his gets no run without limits, and is told what is missing."""
    def enter():
        os.setgroups([])
        os.setgid(ADA)
        os.setuid(ADA)
    started = cell.start("print('ran')", enter=enter)
    out, said = started.communicate(timeout=cell.RUN_S)
    assert started.returncode == 125 and "'ran'" not in out and "cgroup" in (out + said), (started.returncode, out, said)
    cell.check_clean()
