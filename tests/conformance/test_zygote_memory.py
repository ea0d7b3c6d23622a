"""The zygotes' memory: charged to groups of their own, bounded there, and their copies' to the cells'."""
import contextlib
import itertools
import os
import signal
import time
from pathlib import Path

import account
import pytest
import wire
from conftest import SERVES, serving
from test_zygotes import IS_WARM, waiting_copy, warm_run, zygotes_of

_numbers = itertools.count()
MIB = 1 << 20
KINDS = "small", "data"


class Groups:
    """Those of one instance, in the tree that has the memory."""

    def __init__(self, pen):
        self.is_v1 = "memory" in pen.folders
        self.folder, = (pen.folders["memory"] if self.is_v1 else pen.folders["unified"]).glob("cloche-*")

    def zygotes(self, kind):
        return self.folder / f"zygotes-{kind}"

    def session(self):
        """The only one there is."""
        found, = self.folder.glob("s[0-9]*")
        return found

    def used(self, group):
        return int((group / ("memory.usage_in_bytes" if self.is_v1 else "memory.current")).read_text())

    def limit(self, group):
        return int((group / ("memory.limit_in_bytes" if self.is_v1 else "memory.max")).read_text())

    def set_limit(self, group, limit):
        """As the kernel demands it: memory alone is never above memory with swap."""
        names = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes") if self.is_v1 else ("memory.max",)
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                (group / name).write_text(str(limit))


def members(group):
    return {int(pid) for pid in (group / "cgroup.procs").read_text().split()}


def group_of(pid, controller):
    """The path of the process's group."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return None


def test_zygotes_are_in_groups_of_their_own(warm):
    """One for each kind, with room for two zygotes and for what the kernel needs for their copies; jaild in neither."""
    groups = Groups(warm.pen)
    found = [members(groups.zygotes(kind)) for kind in KINDS]
    assert [len(pids) for pids in found] == [1, 1] and sorted(found[0] | found[1]) == sorted(zygotes_of(warm))
    for kind, least in zip(KINDS, (4 * MIB, 32 * MIB)):
        group = groups.zygotes(kind)
        assert least < groups.used(group) and 2 * groups.used(group) < groups.limit(group) < 2048 * MIB
    others = {group_of(pid, "memory") or group_of(pid, "") for pid in (warm.pid, *warm.makers())}
    assert not any("zygotes" in path for path in others), others


@pytest.mark.parametrize("kind", KINDS)
def test_memory_of_a_copy_is_its_sessions(warm, kind):
    """What it copies of the zygote's while it waits, and what its script takes; a few pages of the kernel's aside."""
    groups, session = Groups(warm.pen), warm.open("charged")
    before = groups.used(groups.zygotes(kind))
    pid = waiting_copy(warm, session, kind)
    assert pid not in members(groups.zygotes(kind))
    assert groups.used(groups.session()) > MIB
    run = warm.run(session, "x = bytearray(100 << 20); x[::4096] = b'x' * len(x[::4096])\nprint('on', flush=True)\nimport time; time.sleep(60)",
                  warm=kind)
    assert run.line() == "on" and Path(f"/proc/{pid}").exists()
    assert groups.used(groups.session()) > 100 * MIB
    assert groups.used(groups.zygotes(kind)) < before + 4 * MIB
    warm.cancel(run.started()["run"])
    run.ended()
    warm.close(session)


def said(jaild):
    """What it has logged so far."""
    os.set_blocking(jaild.launcher.stderr.fileno(), False)
    return (jaild.launcher.stderr.read() or b"").decode()


def check_that_it_is_replaced(warm, kind):
    groups, other = Groups(warm.pen), KINDS[kind == "small"]
    group, pids = groups.zygotes(kind), zygotes_of(warm)
    lost, stays, before = members(group), members(groups.zygotes(other)), warm.zygotes()
    jaild, limit, sessions = warm.pid, groups.limit(group), []
    assert before[kind]["kills"] == 0
    groups.set_limit(group, groups.used(group) + MIB // 2)
    while not warm.zygotes()[kind]["kills"]:
        sessions.append(warm.open(f"over{next(_numbers)}"))
        # its wall limit is beyond the wait for the answer: what the zygote's end leaves behind holds nothing up
        assert warm.result(sessions[-1], IS_WARM, warm=kind, wall_ms=30000)[1] in ("True\n", "False\n")
        assert len(sessions) < 100
    for session in sessions:
        assert warm_run(warm, IS_WARM, kind, session) in ("True\n", "False\n")
        warm.close(session)
    now = serving(warm)
    assert now[kind]["generation"] == before[kind]["generation"] + 1 and now[kind]["kills"] == 1
    assert all(now[other][name] == before[other][name] for name in ("generation", "kills"))
    assert (warm.pid, members(groups.zygotes(other))) == (jaild, stays) and not members(group) & lost
    assert groups.limit(group) == limit and set(pids) != set(zygotes_of(warm))
    assert warm_run(warm, IS_WARM, kind) == "True\n"
    lines = [line for line in said(warm).splitlines() if "reason=memory" in line]
    assert len(lines) == 1 and f"kind={kind}" in lines[0] and "error=12" in lines[0], lines


@pytest.mark.parametrize("kind", KINDS)
def test_zygote_that_is_over_its_memory_is_replaced(warm, kind):
    """Its group is given no more than it has: the next copies are too much. Runs are slower then, and never wrong."""
    check_that_it_is_replaced(warm, kind)


@pytest.fixture
def of_an_ordinary_user(pen):
    """A jaild that such a user has started, in groups that are delegated to him as systemd does it."""
    entry = account.ensure_user()
    for folder in pen.folders.values():
        for path in (folder, *(folder / name for name in account.OWNED_FILES if name)):
            if path.exists():
                os.chown(path, entry.pw_uid, entry.pw_gid)
    become = f'exec setpriv --reuid {entry.pw_uid} --regid {entry.pw_gid} --init-groups -- "$@"; '
    with wire.Jaild(pen, options=["--zygotes", "1000000"], before=become) as jaild:
        serving(jaild)
        yield jaild


def test_zygotes_of_an_ordinary_user_are_bounded_too(of_an_ordinary_user):
    jaild, groups = of_an_ordinary_user, Groups(of_an_ordinary_user.pen)
    assert Path(f"/proc/{jaild.pid}").stat().st_uid != 0
    for kind in KINDS:
        pid, = members(groups.zygotes(kind))
        assert pid in zygotes_of(jaild) and groups.zygotes(kind).stat().st_uid != 0
        assert 2 * groups.used(groups.zygotes(kind)) < groups.limit(groups.zygotes(kind)) < 2048 * MIB
    check_that_it_is_replaced(jaild, "small")


def test_many_zygotes_leave_no_groups(pen):
    with wire.Jaild(pen, options=["--zygotes", "2"]) as jaild:
        serving(jaild)
        groups = Groups(pen)
        deadline = time.monotonic() + 60
        while jaild.zygotes()["small"]["generation"] < 5:
            warm_run(jaild, "print(1)")
            assert time.monotonic() < deadline
        assert sorted(path.name for path in groups.folder.glob("zygotes*")) == ["zygotes-data", "zygotes-small"]
        assert pen.dying() < 50


def test_groups_of_an_earlier_life_are_swept(pen):
    """A launcher that is killed cannot remove them; the next one does."""
    killed = wire.Jaild(pen, options=["--zygotes", "10"])
    serving(killed, kinds=["small"])
    left = Groups(pen).zygotes("small")
    os.kill(killed.launcher.pid, signal.SIGKILL)
    killed.stop()
    deadline = time.monotonic() + 20
    while members(left):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with wire.Jaild(pen, options=["--zygotes", "10"]) as jaild:
        assert not left.exists()
        assert serving(jaild, kinds=["small"])["small"]["state"] == SERVES
