"""Scripts against the zygotes themselves: at the moments when a copy is made, has rights, or is late."""
import itertools
import os
import signal
import time

import pytest
import wire
from test_zygotes import IS_WARM, own, warm_run, zygotes_of  # noqa: F401
from wire import End

_numbers = itertools.count()
MIB = 1 << 20


def ended(run, within=60):
    """How it ended; None if it could not start for want of memory."""
    try:
        return End(run.ended(within)["end"])
    except wire.Refused:
        return None
    finally:
        run.close()


@pytest.mark.parametrize("kind", ["small", "data"])
def test_memory_that_is_too_little_for_a_copy_costs_the_run_alone(warm, kind):
    """The kernel kills for memory while a copy is made: never the zygote, whose memory its helpers share."""
    before = warm.zygotes(), zygotes_of(warm)
    for memory in 16 * MIB, 17 * MIB, 20 * MIB:
        session = warm.open(f"small{next(_numbers)}", memory_bytes=memory)
        for _ in range(4):
            warm.file_put(session, "filler", b"x" * (4 * MIB))
            run = warm.run(session, "x = bytearray(1 << 30)\nfor i in range(0, len(x), 4096): x[i] = 1", warm=kind)
            assert ended(run) in (End.MEMORY, End.EXIT, None)
        warm.close(session)
    after = warm.zygotes(), zygotes_of(warm)
    assert after[1] == before[1] and after[0][kind]["generation"] == before[0][kind]["generation"]
    assert warm_run(warm, IS_WARM, kind) == "True\n"


def test_memory_is_filled_while_other_sessions_get_copies(warm):
    bombs = [warm.open(f"bomb{n}") for n in range(3)]
    bomb = "import os\nfor _ in range(14):\n  if os.fork() == 0: break\nx = bytearray(1 << 29)\nfor i in range(0, len(x), 4096): x[i] = 1"
    before = zygotes_of(warm)
    session = warm.open("quiet")
    for _ in range(2):
        running = [warm.run(place, bomb, warm="small") for place in bombs]
        for _ in range(4):
            assert warm_run(warm, IS_WARM, session=session) in ("True\n", "False\n")
            assert warm_run(warm, "print(6*7)") == "42\n"
        assert all(ended(run) == End.MEMORY for run in running)
    assert zygotes_of(warm) == before
    for place in (*bombs, session):
        warm.close(place)


LATE = """
import ctypes, os, signal, struct, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
me, got, seen = os.getpid(), set(), set()
buffer = ctypes.create_string_buffer(64)
vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(buffer), 8))
print("up", flush=True)
until = time.monotonic() + 1
while time.monotonic() < until:
    for pid in range(2, 12):
        if pid == me: continue
        try: os.kill(pid, 0)
        except ProcessLookupError: continue
        except PermissionError: pass
        seen.add(pid)
        for name, call, args in (("ptrace", 101, (16, pid, 0, 0)), ("seize", 101, (0x4206, pid, 0, 0)),
                ("readv", 310, (pid, vector, 1, vector, 1, 0)), ("writev", 311, (pid, vector, 1, vector, 1, 0)),
                ("prlimit", 302, (pid, 7, 0, vector)), ("setns", 308, (pid, 0)), ("kcmp", 312, (pid, me, 0, 0, 0)),
                ("setscheduler", 144, (pid, 0, vector)), ("migrate", 256, (pid, 0, 0, 0))):
            if libc.syscall(call, *args) >= 0: got.add(name)
        pidfd = libc.syscall(434, pid, 0)
        if pidfd >= 0:
            for fd in range(8):
                if libc.syscall(438, pidfd, fd, 0) >= 0: got.add("getfd")
            if libc.syscall(308, pidfd, 0x10000000) >= 0: got.add("setns of a pidfd")
            os.close(pidfd)
print(sorted(got)); print(sorted(seen))
"""


def test_late_copy_beside_a_script_that_was_executed(own):  # noqa: F811
    """The zygote is held up, the cell's script is executed; then the copy comes, with all rights of the cell. It finds its
    socket closed and goes; meanwhile nothing that the script tries on it works."""
    seen = 0
    for turn in range(6):
        zygote = min(zygotes_of(own))  # the small one is begun first
        session = own.open(f"late{turn}")
        first = own.run(session, "import time; print('up', flush=True); time.sleep(0.2)", warm="small")
        assert first.line() == "up"
        os.kill(zygote, signal.SIGSTOP)
        try:
            assert first.ended()["end"] == End.EXIT
            time.sleep(0.2)  # the next cell is built, and a copy for it is asked for
            run = own.run(session, LATE, warm="none")
            assert run.line() == "up"
        finally:
            os.kill(zygote, signal.SIGCONT)
        got, others = run.text().splitlines()
        seen += others != "[]"
        assert got == "[]"
        assert run.ended()["end"] == End.EXIT
        for one in first, run:
            one.close()
        own.close(session)
    assert seen, "no copy was there to be attacked"
    assert own.inits() == []
    assert warm_run(own, IS_WARM) == "True\n"


FLOOD = """
import os, signal
bad = set()
for _ in range(1000):
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT, signal.SIGCHLD, signal.SIGTERM, 64):
        for pid in (1, -1):
            try: os.kill(pid, number); bad.add((pid, int(number)))
            except (PermissionError, ProcessLookupError): pass
print(sorted(bad))
"""


def test_signals_flood_the_init_of_a_copy(warm):
    """Refused, each of them; the run's end is told, and the session's next run has its copy."""
    session = warm.open("flood")
    for _ in range(3):
        assert warm_run(warm, FLOOD, session=session) == "[]\n"
        time.sleep(0.1)
        assert warm_run(warm, IS_WARM, session=session) == "True\n"
    warm.close(session)


def test_forged_end_changes_nothing(warm):
    """Init waits for the copy itself: what a script writes, where words to init could be, is nobody's."""
    session = warm.open("forged")
    run = warm.run(session, """
import os, socket, struct, time
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
os.dup2(ours.fileno(), 3)
for kind in range(8): os.write(3, struct.pack("<IiIiQQ", kind, 0, 0, 0, 0, 0))
if os.fork() == 0: os._exit(0)
time.sleep(0.3); print("on"); os._exit(9)
""", warm="small")
    end = run.ended()
    assert (end["end"], end["code"], run.text()) == (End.EXIT, 9, "on\n")
    assert end["wall_us"] > 250_000
    run.close()
    warm.close(session)
