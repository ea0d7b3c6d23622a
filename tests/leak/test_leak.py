"""Many runs through one jaild: what it holds after the last is what it held after the first few.

Everything is counted inside of the test's own pen, dead groups included, so other people's runs on the machine change
nothing. 200 runs, 2,000 with CLOCHE_LONG=1.
"""
import errno
import os
import time

import pytest
import wire
from wire import End

LONG = os.environ.get("CLOCHE_LONG") == "1"
RUNS = 2000 if LONG else 200
# Caches of libc and kernel fill during the first ones.
WARM_UP = 20
# Per run, in bytes, on average: far below one page of a forgotten object each time.
HEAP_PER_RUN = 200
KERNEL_PER_RUN = 2048
# The kernel frees in batches, of each processor: what may be under way at any time.
HEAP_SLACK = 128 * 1024
RSS_SLACK = 1 << 20  # pages of the program itself that are touched late
KERNEL_SLACK = 4 << 20
DYING_SLACK = 40

SCRIPTS = [
    "print(6 * 7)",
    "open('file', 'wb').write(bytes(3_000_000))",
    "import os\nos.fork() or os.setsid() or __import__('time').sleep(30)",
    "import os\nos.kill(os.getpid(), 9)",
    "raise ValueError",
    "import tempfile\ntempfile.NamedTemporaryFile(delete=False).write(bytes(2_000_000))",
    "import multiprocessing.shared_memory as m\nm.SharedMemory(create=True, size=1_000_000)",
    "import socket\npairs = [socket.socketpair() for _ in range(20)]\n[a.send(bytes(30_000)) for a, _ in pairs]",
]


def run(jaild, session, turn):
    """One run of a kind that depends on the turn: most ways in which a run can end, and files on the way."""
    kind = turn % (len(SCRIPTS) + 5)
    if kind < len(SCRIPTS):
        under_way = jaild.run(session, SCRIPTS[kind])
        assert under_way.ended()["end"] in (End.EXIT, End.SIGNAL)
    elif kind == len(SCRIPTS):
        under_way = jaild.run(session, "while True: pass", wall_ms=100)
        assert under_way.ended()["end"] == End.TIMEOUT
    elif kind == len(SCRIPTS) + 1:
        under_way = jaild.run(session, "import time\ntime.sleep(30)")
        jaild.cancel(under_way.started()["run"])
        assert under_way.ended()["end"] == End.CANCELLED
    elif kind == len(SCRIPTS) + 2:
        under_way = jaild.run(session, "", package_fd=wire.memfd(b"no package"))
        with pytest.raises(wire.Refused):
            under_way.started()
    elif kind == len(SCRIPTS) + 3:
        under_way = jaild.run(session, "for i in range(10): open(str(i), 'w').write('x')", "python")
        under_way.ended()
        jaild.list(session, wire.LIST_HASH)
        os.close(jaild.file_open(session, "3")[0])
        jaild.file_put(session, "brought", bytes(100_000))
        with pytest.raises(wire.Refused):
            jaild.file_open(session, "..")
        with jaild.attach() as other:
            os.close(other.file_create(session, "half")[1])
    else:
        under_way = jaild.run(session, "echo hello > file; sleep 30 & exit 3", "bash")
        assert under_way.ended()["code"] == 3
    under_way.close()
    jaild.runs.remove(under_way)


def look(jaild):
    """What must not grow."""
    time.sleep(0.1)  # work of the kernel's that runs after the last reference is gone
    jaild.status()
    groups = sorted(folder for group in jaild.pen.groups() for folder, _, _ in os.walk(group))
    return {
        "descriptors": sorted(jaild.descriptors().values()),
        "mounts": [line.split()[2:] for line in jaild.mounts()],
        "groups": groups,
        "processes": jaild.pen.processes(),
        "status": dict(jaild.status()),
    }


def amounts(jaild):
    """What may move a little but not with the number of runs."""
    return {**jaild.memory(), **jaild.pen.memory(), "dying": jaild.pen.dying()}


def settled(jaild, bounds, within=15):
    """The amounts, when they are below their bounds or do not come down in time."""
    deadline = time.monotonic() + within
    while True:
        now = amounts(jaild)
        if all(now[name] <= bound for name, bound in bounds.items()) or time.monotonic() > deadline:
            return now
        time.sleep(0.2)


def hold_against(jaild, before, runs):
    bounds = {
        "private": before["private"] + HEAP_SLACK + runs * HEAP_PER_RUN,
        "rss": before["rss"] + RSS_SLACK + runs * HEAP_PER_RUN,
        "shmem": before["shmem"] + (1 << 20),
        "kernel": before["kernel"] + KERNEL_SLACK + runs * KERNEL_PER_RUN,
        "dying": before["dying"] + DYING_SLACK,
    }
    after = settled(jaild, bounds)
    print(f"{runs} runs: before {before}, after {after}")
    grown = {name: (before[name], after[name]) for name, bound in bounds.items() if after[name] > bound}
    assert not grown, f"grown in {runs} runs: {grown}"


def test_sessions_of_one_run_each(jaild):
    def one(turn):
        session = jaild.open(f"session-{turn}", "roomy" if turn % 9 == 0 else "strict")
        run(jaild, session, turn)
        jaild.close(session)

    for turn in range(WARM_UP):
        one(turn)
    before, amounts_before = look(jaild), amounts(jaild)
    for turn in range(RUNS // 2):
        one(turn)
    assert look(jaild) == before
    hold_against(jaild, amounts_before, RUNS // 2)


def test_runs_of_one_session(jaild):
    session = jaild.open("session")

    def clear():
        stopped = jaild.run(session, "import time\ntime.sleep(30)")  # takes the spare cell and leaves none
        jaild.cancel(stopped.started()["run"])
        stopped.ended()
        for path, entry in jaild.list(session)[1].items():
            if entry["kind"] == "file":
                jaild.file_remove(session, path)

    for turn in range(WARM_UP):
        run(jaild, session, turn)
    clear()
    before, amounts_before = look(jaild), amounts(jaild)
    for turn in range(RUNS // 2):
        run(jaild, session, turn)
    clear()
    assert look(jaild) == before
    hold_against(jaild, amounts_before, RUNS // 2)


def test_sessions_without_runs(jaild):
    """Refusals among them: a key twice, limits out of range."""
    def one(turn):
        session = jaild.open("session")
        for changes in ({}, {"wall_ms": 0}):
            with pytest.raises(wire.Refused) as refusal:
                jaild.open("session", **changes)
            assert refusal.value.error in (errno.EEXIST, errno.ERANGE)
        jaild.close(session)

    for turn in range(WARM_UP):
        one(turn)
    before, amounts_before = look(jaild), amounts(jaild)
    for turn in range(RUNS * 2):
        one(turn)
    assert look(jaild) == before
    hold_against(jaild, amounts_before, RUNS * 2)


def test_instances_leave_nothing(pen):
    """Whole lives of jaild: start, a run, end."""
    def one():
        with wire.Jaild(pen) as jaild:
            jaild.result(jaild.open(), "open('file', 'wb').write(bytes(5_000_000))")

    for _ in range(5):
        one()
    before = pen.memory()["kernel"]
    lives = RUNS // 10
    for _ in range(lives):
        one()
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        left, now, dying = pen.left(), pen.memory(), pen.dying()
        if not left and not now["shmem"] and now["kernel"] < before + KERNEL_SLACK and dying <= DYING_SLACK:
            break
        time.sleep(0.1)
    print(f"{lives} lives: kernel {before} to {now['kernel']}, shmem {now['shmem']}, dying {dying}")
    assert not left and not now["shmem"], f"{left} {now}"
    assert now["kernel"] < before + KERNEL_SLACK and dying <= DYING_SLACK
