"""RUN_LOOK: the answer comes before the kernel has freed what the script's process held, if nothing of the run can
run any more; never before that.
"""
import contextlib
import errno
import itertools
import signal
import struct
from pathlib import Path

import pytest
import wire
from wire import End, Type

_numbers = itertools.count()
# What takes the kernel long enough to free that jaild is asked meanwhile, almost always; Python's own end keeps it.
HEAVY = """
import gc, mmap
class Held: pass
held = Held()
held.itself, held.memory = held, mmap.mmap(-1, 150 << 20)
held.memory.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, len(held.memory), 4096): held.memory[at] = 1
gc.freeze()
"""
TRIES = 40
CLOSED = "import os\nos.close(1); os.close(2)\n"
LATER = """
def until(name):
    import time
    while not os.path.exists(name): time.sleep(0.002)
"""


@pytest.fixture
def session(warm):
    made = warm.open(f"look{next(_numbers)}")
    yield made
    warm.close(made)


def is_fading(jaild):
    """Whether there is a cell: its session's next one is only built when this one has gone."""
    for pid in wire.children(jaild.pid):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text() == "cloche-init\n":
                return True
    return False


def looked(jaild, session, code, **options):
    """As a supervisor does it. Returns (ended, stdout, whether the cell was still fading then)."""
    run = jaild.run(session, code, warm="small", **options)
    out, _ = run.both()
    jaild.look(run.started()["run"])
    return run.ended(), out.decode(), is_fading(jaild)


@pytest.mark.parametrize("code, end, number", [
    ("print('x')", End.EXIT, 0),
    ("print('x'); raise SystemExit(3)", End.EXIT, 3),
    ("print('x'); undefined", End.EXIT, 1),
    ("print('x')\n" + CLOSED + "os._exit(4)", End.EXIT, 4),
    ("print('x')\n" + CLOSED + "os.kill(os.getpid(), 9)", End.SIGNAL, signal.SIGKILL),
    ("print('x')\n" + CLOSED + "os.abort()", End.SIGNAL, signal.SIGABRT),
], ids=["end", "exit", "error", "_exit", "killed", "aborted"])
def test_end_is_told_as_it_was(code, end, number, warm, session):
    """Early or not: and at least once it is early."""
    early = False
    for _ in range(TRIES):
        ended, out, was_fading = looked(warm, session, HEAVY + code)
        assert (ended["end"], ended["code"], out) == (end, number, "x\n")
        early |= was_fading
        if early:
            break
    assert early, f"not one of {TRIES} runs was answered before its memory was freed"


def test_room_of_a_file_without_a_name_is_back_at_the_answer(warm, session):
    """The kernel closes the script's files behind its memory."""
    held = "fd = os.open('big', os.O_RDWR | os.O_CREAT)\nos.posix_fallocate(fd, 0, 80 << 20)\nos.unlink('big')\nprint('x')\n"
    heavy = HEAVY.replace("150 <<", "100 <<")
    for _ in range(8):
        ended, out, _ = looked(warm, session, f"import os{heavy}{held}")
        assert (ended["end"], ended["code"], out) == (End.EXIT, 0, "x\n")
        warm.file_put(session, "new", bytes(40 << 20))
        warm.file_remove(session, "new")


def test_next_run_waits_for_what_is_freed(warm, session):
    """Nothing of the one counts as the other's: it has its whole memory, and its own peak."""
    for _ in range(5):
        looked(warm, session, HEAVY)
        run = warm.run(session, HEAVY.replace("150", "200"), warm="small")
        assert run.ended()["end"] == End.EXIT
        looked(warm, session, HEAVY)
        ended, out, _ = looked(warm, session, "print(1)")
        assert (ended["end"], out) == (End.EXIT, "1\n")
        assert ended["memory_peak_bytes"] < 60 << 20


def test_live_call_behind_it(warm, session):
    for number in range(5):
        looked(warm, session, HEAVY)
        run = warm.live(session, f"x = {number}")
        assert run.ended()["end"] == End.EXIT
        ended, out, _ = looked(warm, session, HEAVY + "print('x' in globals())")
        assert (ended["end"], out) == (End.EXIT, "False\n")
        run = warm.live(session, "assert x == %d" % number)
        assert run.ended()["code"] == 0


def test_all_else_that_may_come_behind_it(warm, refused):
    for _ in range(3):
        session = warm.open(f"look{next(_numbers)}")
        run = warm.run(session, HEAVY + "open('made', 'w').write('whole')", warm="small")
        run.both()
        warm.look(run.started()["run"])
        run.ended()
        with refused(errno.ESRCH):
            warm.cancel(run.started()["run"])
        assert warm.file_read(session, "made") == b"whole"
        assert list(warm.list(session)[1]) == [b"made"]
        warm.file_put(session, "put", b"1")
        waits = warm.run(session, "print(open('put').read())", warm="small")
        with refused(errno.EBUSY):
            warm.run(session, "print(1)").started()
        waits.ended()
        assert waits.text() == "1\n"
        looked(warm, session, HEAVY)
        warm.close(session)
    assert warm.status()["cells"] == 0


def test_session_that_is_closed_while_a_run_waits(warm):
    session = warm.open(f"look{next(_numbers)}")
    run = warm.run(session, HEAVY, warm="small")
    run.both()
    warm.look(run.started()["run"])
    run.ended()
    waits = warm.run(session, "print(1)", warm="small")
    warm.close(session)
    try:
        assert waits.ended()["end"] == End.CANCELLED  # its turn had come
    except wire.Refused as refusal:
        assert refusal.error == errno.ECANCELED
    assert warm.status()["cells"] == 0


def test_client_that_goes_while_its_run_waits(warm, session):
    with warm.attach() as other:
        run = other.run(session, HEAVY, warm="small")
        run.both()
        other.look(run.started()["run"])
        run.ended()
        other.run(session, "open('late', 'w')\nimport time; time.sleep(60)", warm="small")
    while True:  # until jaild has seen that it has gone
        try:
            ended, out = warm.result(session, "print(1)", warm="small")
            break
        except wire.Refused as refusal:
            assert refusal.error == errno.EBUSY
    assert (ended["end"], out) == (End.EXIT, "1\n")


def test_script_that_closes_its_streams_and_goes_on(warm, session):
    run = warm.run(session, CLOSED + LATER + "until('on'); open('done', 'w').close(); os._exit(7)", warm="small")
    run.both()
    for _ in range(5):
        warm.look(run.started()["run"])
    assert warm.status()["cells"] == 1
    warm.file_put(session, "on", b"")
    ended = run.ended()
    assert (ended["end"], ended["code"]) == (End.EXIT, 7)
    assert warm.file_read(session, "done") == b""


@pytest.mark.parametrize("first", [
    "if os.fork() > 0: os._exit(5)",
    "import ctypes, _thread\n_thread.start_new_thread(lambda: (until('on'), open('late', 'w').close(), os._exit(6)), ())\n"
    "ctypes.CDLL(None).syscall(60, 5)",
], ids=["child", "thread"])
def test_script_whose_first_thread_leaves_others(first, warm, session):
    """The child dies with its script, which is told as ever; the thread is the script."""
    run = warm.run(session, CLOSED + LATER + first + "\nuntil('on'); open('late', 'w').close()", warm="small")
    run.both()
    warm.look(run.started()["run"])
    warm.status()
    warm.file_put(session, "on", b"")
    ended = run.ended()
    names = {os_name.decode() for os_name in warm.list(session)[1]}
    assert (ended["end"], ended["code"]) == (End.EXIT, 5 if "fork" in first else 6)
    assert ("late" in names) == ("thread" in first) or "fork" in first
    assert names == {os_name.decode() for os_name in warm.list(session)[1]}


# Children that go on writing into the home while their script ends with its streams closed, some only just begun.
WRITERS = """
import mmap
with open("beat", "wb") as file: file.truncate(4096)
file = open("beat", "r+b")
beat = mmap.mmap(file.fileno(), 4096)
for number in range(6):
    if os.fork() == 0:
        count = 0
        while True:
            count += 1
            beat[number * 8:number * 8 + 4] = (count & 0xFFFFFFFF).to_bytes(4, "little")
            if count % 50 == 0 and os.fork() == 0: pass
os._exit(0)
"""


def test_nothing_is_written_behind_the_answer(warm, session):
    for _ in range(10):
        run = warm.run(session, CLOSED + WRITERS, warm="small")
        run.both()
        warm.look(run.started()["run"])
        assert run.ended()["end"] == End.EXIT
        first = warm.file_read(session, "beat")
        for _ in range(20):
            assert warm.file_read(session, "beat") == first


# A process that is only ever two threads for a moment: the first one ends, the other one writes a byte to descriptor 5 and
# executes the same program again, with which it becomes the first. x86-64, as made by `as` from:
#   clone(0x50f00, rsp - 1024, 0, 0) == 0 ? write(5, rsp, 1), execve("/mnt/data/m", 0, 0) : exit(0)
MILL = """
import os, struct
code = bytes.fromhex("bf000f0500488db42400fcffff31d24531d2b8380000000f0585c0740931ffb83c0000000f05"
                     "6a654889e6bf05000000ba01000000b8010000000f05488d3d0d00000031f631d2b83b0000000f050f0b") + b"/mnt/data/m\\0"
base = 0x400000
head = b"\\x7fELF\\2\\1\\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + 120, 64, 0, 0, 64, 56, 1, 0, 0, 0)
head += struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, 120 + len(code), 120 + len(code), 4096)
with open("m", "wb") as file: file.write(head + code)
os.chmod("m", 0o755)
beat = os.open("beat", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
if os.fork() == 0:
    os.dup2(beat, 5)
    os.close(1); os.close(2)
    os.execv("m", ["m"])
while os.path.getsize("beat") < 10: pass
"""


def test_process_that_executes_in_its_threads_is_not_missed(warm, session):
    """The kernel's list of processes can lack it at such a moment, so it is asked many times."""
    for _ in range(4):
        run = warm.run(session, MILL + HEAVY + CLOSED + "os._exit(0)", warm="small")
        run.both()
        for _ in range(500):
            warm.look(run.started()["run"])
        assert run.ended()["end"] == End.EXIT
        first = warm.file_read(session, "beat")
        for _ in range(20):
            assert warm.file_read(session, "beat") == first


def test_look_at_what_is_not_ones_own(warm, session):
    run = warm.run(session, CLOSED + LATER + "until('on')", warm="small")
    number = run.started()["run"]
    with warm.attach() as other:
        for wrong in number, number + 1, 0, 2**64 - 1:
            other.look(wrong)
        other.send(Type.RUN_LOOK, struct.pack("<Q", number))
        assert other.status()["cells"] == 1
    warm.file_put(session, "on", b"")
    assert run.ended()["end"] == End.EXIT
    warm.look(number)
    assert warm.status()["cells"] == 0


def test_look_at_an_executed_script(warm, session):
    run = warm.run(session, CLOSED + "import sys; sys.exit(3)")
    run.both()
    warm.look(run.started()["run"])
    ended = run.ended()
    assert (ended["end"], ended["code"]) == (End.EXIT, 3)
