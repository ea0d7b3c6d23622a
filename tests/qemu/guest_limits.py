"""The limits of profile strict as cgroup v2 keeps them: what the tree says during a run, and what happens at the limit."""

import os
import re

import guest_cell as cell
from guest_runs import check
from guest_table import guest_test

MIB = 1 << 20
MEMORY_KILLED = (137, "killed", "memory")

FORK_UNTIL_REFUSED = """
import errno, os, time
made = 0
try:
    while made < 50:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
except OSError as error:
    print(made, errno.errorcode[error.errno])
"""

ALLOCATE = "memory = bytearray({mib} << 20)\nprint('allocated')\n"

FILL = """
with open({path!r}, "wb") as file:
    for _ in range({mib}):
        file.write(bytes(1 << 20))
"""


def check_tree(leaf):
    """What the session and the leaf of a run in progress say (decision 1)."""
    session = os.path.dirname(leaf)
    assert "cloche" in leaf, leaf
    assert 256 * MIB <= int(cell.read(session, "memory.max")) <= 257 * MIB, cell.read(session, "memory.max")
    found = {name: cell.read(folder, name) for folder, name in (
        (session, "memory.swap.max"), (session, "memory.oom.group"), (session, "cgroup.procs"),
        (leaf, "pids.max"), (leaf, "cpu.max"))}
    assert found == {"memory.swap.max": "0", "memory.oom.group": "1", "cgroup.procs": "", "pids.max": "17",
                     "cpu.max": "100000 100000"}, found
    assert int(cell.read(leaf, "pids.current")) >= 3, "init, the script and its sleep belong into the leaf"


def limits_in_the_tree(uid=0):
    started = cell.start("sleep 1000; exit", language="bash", uid=uid)
    leaf = cell.leaf_of(cell.wait_for_sleep(started))
    try:
        check_tree(leaf)
    finally:
        cell.cancel(started)
    return leaf


@guest_test
def limits_stand_in_the_tree():
    return limits_in_the_tree()


@guest_test
def memory_over_the_limit():
    ended = cell.run(ALLOCATE.format(mib=400))
    check(ended, *MEMORY_KILLED)
    assert "allocated" not in ended.stdout, ended


@guest_test
def memory_under_the_limit():
    ended = cell.run(ALLOCATE.format(mib=200))
    check(ended, 0, "ok", "exit")
    usage = ended.answer["usage"]
    assert usage["memory_peak_kind"] == "cgroup", usage
    assert 200 * MIB <= usage["memory_peak_bytes"] <= 256 * MIB, usage


@guest_test
def memory_of_a_child_ends_the_whole_cell():
    """memory.oom.group: the script would otherwise go on without its child and never learn why."""
    child = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'bytearray(400 << 20)'])\nprint('survived')"
    ended = cell.run(child)
    check(ended, *MEMORY_KILLED)
    assert "survived" not in ended.stdout, ended


@guest_test
def memory_counts_what_the_run_put_into_its_home():
    """J22: 90 MiB of tmpfs pages and 200 MiB of memory are more than 256."""
    check(cell.run(FILL.format(path="/mnt/data/fill", mib=90) + ALLOCATE.format(mib=200)), *MEMORY_KILLED)


@guest_test
def memory_counts_tmp_and_shm():
    fill = FILL.format(path="/tmp/fill", mib=90) + FILL.format(path="/dev/shm/fill", mib=60)
    check(cell.run(fill + ALLOCATE.format(mib=150)), *MEMORY_KILLED)


@guest_test
def memory_does_not_count_what_was_brought_in():
    """Decision 2: files that we put into the home are not taken from the script's 256 MiB."""
    with open("/tmp/brought", "wb") as file:
        for _ in range(80):
            file.write(b"x" * MIB)
    try:
        ended = cell.run(ALLOCATE.format(mib=200), "--file", "/tmp/brought")
    finally:
        os.unlink("/tmp/brought")
    check(ended, 0, "ok", "exit")


def fifteen_processes(uid=0):
    ended = cell.run(FORK_UNTIL_REFUSED, uid=uid)
    check(ended, 0, "ok", "exit")
    assert ended.stdout == "15 EAGAIN\n", ended


@guest_test
def pids_fifteen_more_then_eagain():
    fifteen_processes()


@guest_test
def cpu_two_busy_children_get_one_cpu():
    """Judged by the guest's own clock: what TCG or a busy host takes away is taken from both sides of the ratio."""
    ended = cell.run("import os, time\nend = time.monotonic() + 3\nfor _ in range(2):\n    if os.fork() == 0:\n"
                     "        while time.monotonic() < end: pass\n        os._exit(0)\nos.wait(); os.wait()")
    check(ended, 0, "ok", "exit")
    used, wall = ended.answer["usage"]["cpu_ms"], ended.answer["usage"]["wall_ms"]
    assert wall >= 3000, ended
    assert 0.6 * 3000 <= used <= 1.15 * wall, (used, wall)
    return f"{used} ms of CPU in {wall} ms"


@guest_test
def cpu_is_throttled_by_the_leaf():
    """Two busy processes on two processors: without cpu.max nothing would be throttled. A cell is pinned to one processor,
    on which its quota is nearly never used up, so root of the guest takes the pinning away first."""
    started = cell.start("while :; do :; done & sleep 1000 & while :; do :; done", language="bash")
    leaf = cell.leaf_of(cell.wait_for_sleep(started))

    def throttled():
        for pid in cell.read(leaf, "cgroup.procs").split():
            os.sched_setaffinity(int(pid), range(os.cpu_count()))
        return int(re.search(r"nr_throttled (\d+)", cell.read(leaf, "cpu.stat")).group(1))

    times = cell.wait_until(throttled, 10)
    cell.cancel(started)
    assert times, "never throttled"
