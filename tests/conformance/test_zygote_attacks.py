"""Scripts against the zygotes themselves: at the moments when a copy is made, has rights, or is late."""
import errno
import itertools
import os
import signal
import time
from pathlib import Path

import pytest
import tables
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


# Looks for others in the cell, says so when it has done that once, goes on for a second, and tries on each of them what would be a way to its rights. At the end it
# looks once more, with a child of its own there: it would have seen somebody.
LATE = """
import ctypes, os, signal, struct, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
me, got, seen = os.getpid(), set(), set()
buffer = ctypes.create_string_buffer(64)
vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(buffer), 8))
def look():
    for pid in range(2, 12):
        if pid == me: continue
        try: os.kill(pid, 0)
        except ProcessLookupError: continue
        except PermissionError: pass
        yield pid
is_up, until = False, time.monotonic() + 1
while time.monotonic() < until:
    for pid in look():
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
    if not is_up: print("up", flush=True)
    is_up = True
child = os.fork()
if child == 0: signal.pause()
print(sorted(got)); print(sorted(seen)); print(child in look())
"""


def waiting_init(jaild, within=10):
    """Process 1 of the spare behind a run, once it is all that there is."""
    deadline = time.monotonic() + within
    while len(found := jaild.inits()) != 1:
        assert time.monotonic() < deadline, f"no spare: {found}"
        time.sleep(0.01)
    return found[0]


def warm_once(jaild, session, zygote):
    """A run that is a copy; behind it the next cell is built, and a copy for it asked of the zygote, which is stopped."""
    with_copies = jaild.zygotes()["small"]["copies"]
    run = jaild.run(session, "import os, time; print('up', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)", warm="small")
    assert run.line() == "up"
    os.kill(zygote, signal.SIGSTOP)
    jaild.file_put(session, "go", b"")
    assert run.ended()["end"] == End.EXIT
    run.close()
    deadline = time.monotonic() + 10
    while jaild.zygotes()["small"]["copies"] != with_copies + 2:
        assert time.monotonic() < deadline, "no copy is asked for"
        time.sleep(0.01)
    return waiting_init(jaild)


def refusal(jaild, within=10):
    """The stage at which the last copy failed, and why."""
    deadline = time.monotonic() + within
    while not (told := jaild.zygotes()["small"])["error"]:
        assert time.monotonic() < deadline, "no copy was refused"
        time.sleep(0.01)
    return tables.stages()[told["stage"] - 1][1], told["error"]


def test_late_copy_does_not_come_to_a_script_that_was_executed(own):  # noqa: F811
    """The zygote is held up, the cell's script is executed; then the zygote wants to enter. It cannot any more: it enters by
    init, which is undumpable from before any script begins, and whose memory is of the maker's user namespace, over which
    the zygote's rights do not reach. So nobody comes in beside the script, and the zygote serves on."""
    zygote = min(zygotes_of(own))  # the small one is begun first
    assert own.zygotes()["small"]["error"] == 0
    for turn in range(3):
        session = own.open(f"late{turn}")
        try:
            warm_once(own, session, zygote)
            run = own.run(session, LATE, warm="none")
            assert run.line() == "up"
        finally:
            os.kill(zygote, signal.SIGCONT)
        assert run.text().splitlines() == ["[]", "[]", "True"]
        assert run.ended()["end"] == End.EXIT
        assert refusal(own) == ("WARM_ENTER", errno.EPERM)
        run.close()
        own.close(session)
    assert own.inits() == []
    assert warm_run(own, IS_WARM) == "True\n"
    assert min(zygotes_of(own)) == zygote and own.zygotes()["small"]["generation"] == 1


def has_capabilities(pid):
    return int(Path(f"/proc/{pid}/status").read_text().split("CapEff:")[1].split()[0], 16) != 0


def stopped_copy(init, zygote):
    """The copy for this cell, stopped as soon as it is seen, and whether it still had its rights."""
    place = f"/proc/{init}/task/{init}/children"
    os.kill(zygote, signal.SIGCONT)
    deadline = time.monotonic() + 10
    with open(place, "rb", buffering=0) as file:
        while not (found := file.read(64).split()):
            file.seek(0)
            assert time.monotonic() < deadline, "no copy came"
    pid = int(found[0])
    os.kill(pid, signal.SIGSTOP)
    while "T (stopped)" not in (status := Path(f"/proc/{pid}/status").read_text()):
        assert time.monotonic() < deadline, status
    return pid, has_capabilities(pid)


def test_copy_with_rights_beside_a_script_that_was_executed(own):  # noqa: F811
    """The copy has just come in, and has all rights of the cell; there it is held up, and the cell's script is executed.
    Nothing that the script tries on it works. Let go, it finds its socket closed, and goes."""
    zygote, attacked = min(zygotes_of(own)), 0
    for turn in range(40):
        session = own.open(f"rights{turn}")
        try:
            init = warm_once(own, session, zygote)
        finally:
            os.kill(zygote, signal.SIGCONT)
        copy, has_rights = stopped_copy(init, zygote)
        if has_rights:
            run = own.run(session, LATE, warm="none")
            assert run.line() == "up"
            os.kill(copy, signal.SIGCONT)
            got, seen, sees = run.text().splitlines()
            assert (got, sees) == ("[]", "True") and seen != "[]"
            assert run.ended()["end"] == End.EXIT
            run.close()
            attacked += 1
        own.close(session)
        if attacked == 2:
            break
    assert attacked, "no copy was there to be attacked"
    assert own.inits() == []
    assert warm_run(own, IS_WARM) == "True\n"


FLOOD = IS_WARM + """
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
    """Refused, each of them; the run's end is told, and the session's next run works. Only a run that is a copy is sure to
    be alone: in place of one that was too late the script is executed, and may hit it (the test below)."""
    session, copies = warm.open("flood"), 0
    for _ in range(40):
        is_copy, bad = warm_run(warm, FLOOD, session=session).splitlines()
        if is_copy == "True":
            copies += 1
            assert bad == "[]"
        assert "(1, " not in bad
        time.sleep(0.1)
        assert warm_run(warm, "print(6*7)", session=session) == "42\n"
        if copies == 3:
            break
    assert copies == 3
    warm.close(session)


def test_signals_flood_a_copy_that_nobody_wants(own):  # noqa: F811
    """An executed script hits the copy that waited in its cell, whose rights are the script's by then: it costs nothing."""
    session = own.open("unwanted")
    assert warm_run(own, IS_WARM, session=session) == "True\n"
    init, deadline = waiting_init(own), time.monotonic() + 10
    while not (copies := wire.children(init)) or has_capabilities(copies[0]):
        assert time.monotonic() < deadline, "no copy waits"
        time.sleep(0.01)
    copy = copies[0]
    os.kill(copy, signal.SIGSTOP)  # or it had gone at once
    is_copy, bad = own.result(session, FLOOD, warm="none")[1].splitlines()
    assert is_copy == "False" and "(-1, 9)" in bad and "(1, " not in bad
    for _ in range(3):
        assert warm_run(own, "print(6*7)", session=session) == "42\n"
    own.close(session)
    assert own.inits() == []
    assert warm_run(own, IS_WARM) == "True\n"


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
