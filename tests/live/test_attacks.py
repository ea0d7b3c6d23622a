"""Code that turns against the way of its own calls: it can lie about itself, lose itself, and nothing more.

After each of them the session takes calls again, another session has noticed nothing, and jaild lives.
"""
import os
import time

import pytest
import wire
from live_session import ERROR, RESULT, Session
from wire import End, Interpreter, Lost

# The socket of the interpreter, and the word that ends call `number`.
CHANNEL = """
import _socket, os, threading, time
channel = _socket.socket(fileno=os.dup(3))
def done(number, code=0): return number.to_bytes(4, 'little') + code.to_bytes(4, 'little')
"""


@pytest.fixture
def bystander(client):
    """Another session, with a state of its own."""
    made = Session(client)
    made.good("mine = 41")
    yield made
    assert made.good("mine += 1; print(mine)") == "42\n"
    assert made("1").is_reused
    made.close()


@pytest.fixture
def victim(session, bystander):
    """The attacker's own session; it must take calls at the end."""
    yield session
    for flags in 0, 0, wire.LIVE_RESET:  # what the code has broken for itself, a reset mends
        called = session("print('well')", wall_ms=5000, flags=flags)
        if called.end == End.EXIT and called.out.endswith("well\n"):
            return
    raise AssertionError(f"the session takes no calls any more: {called}")


def test_forged_end_lies_about_its_own_call_only(victim):
    called = victim(CHANNEL + "channel.send(done(1, 77)); time.sleep(2.5); print('after the end', flush=True)")
    assert (called.end, called.ended["code"], called.out) == (End.EXIT, 77, "")
    called = victim("print('second')")
    assert "after" not in called.out


def test_flood_of_forged_ends(victim):
    victim(CHANNEL + """
def flood():
    number = 0
    while True:
        number += 1
        try: channel.send(done(number % 50, 99), _socket.MSG_DONTWAIT)
        except OSError: time.sleep(0.0001)
threading.Thread(target=flood, daemon=True).start()
""")
    for number in range(20):
        called = victim(f"print('call {number}', flush=True)")
        assert called.end == End.EXIT and called.ended["code"] in (0, 99)
        assert called.out in ("", f"call {number}\n"), "no other call's output"
    victim("1", flags=wire.LIVE_RESET)


@pytest.mark.parametrize("message", [
    "bytes(150000)", "bytes(9)", "bytes(7)", "done(2)", "done(0xFFFFFFFF)", "bytes(8)", "b'\\xff' * 8"])
def test_words_that_are_none_are_dropped(message, victim):
    called = victim(CHANNEL + f"for _ in range(3): channel.send({message})\nprint('on')")
    assert (called.end, called.ended["code"], called.out) == (End.EXIT, 0, "on\n")


def test_exit_status_of_more_than_a_byte(victim):
    assert victim(CHANNEL + "channel.send(done(1, 0x7FFFFF01)); time.sleep(60)").ended["code"] == 1


def test_descriptors_sent_along_reach_nobody(victim, shared):
    victim.good("1")
    victim.good("1")  # the session's own are open now: some are only needed beside a live interpreter
    before = len(shared.descriptors())
    victim.good(CHANNEL + """
import array
fds = array.array('i', [os.open('/dev/null', 0)] * 200)
for _ in range(5):
    channel.sendmsg([done(9)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
channel.sendmsg([done(1)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
""")
    assert len(shared.descriptors()) <= before


@pytest.mark.parametrize("code", ["channel.send(b'')", "os.close(3); channel.close()", "channel.shutdown(2)"])
def test_hang_up_ends_the_interpreter_and_is_told(code, victim):
    victim.good("x = 1")
    called = victim(CHANNEL + f"{code}\ntime.sleep(30)")
    assert (called.end, called.lost, called.ended["is_kept"]) == (End.SIGNAL, Lost.CRASH, 0)


def test_closed_after_the_end(victim):
    """The next call finds nobody, or a new one if jaild has heard of it before. The reason is the same."""
    victim.good(CHANNEL + """
def later():
    channel.send(done(1))
    os.close(3); channel.shutdown(2); channel.close()
later()
""")
    called = victim("print(1)")
    is_new = called.started["interpreter"] == Interpreter.NEW
    assert (called.started if is_new else called.ended)["lost"] == Lost.CRASH
    assert called.out == ("1\n" if is_new else "")


def test_output_after_the_end_is_in_no_other_call(victim):
    """By threads and children that keep the first call's pipe, and by 1 itself between calls."""
    victim.good("""
import os, threading, time
kept = os.dup(1)
def write(fd):
    while True:
        try: os.write(fd, b'late ')
        except OSError: time.sleep(0.001)
threading.Thread(target=write, args=(kept,), daemon=True).start()
if os.fork() == 0:
    write(kept)
""")
    for _ in range(5):
        assert victim.good("time.sleep(0.01); print('own')") == "own\n"


def test_pipe_of_the_first_call_is_broken_in_the_next(victim):
    run = victim.begin("import os; kept = os.dup(1)")
    victim.finish(run)
    run.close()
    assert victim("os.write(kept, b'x')").report[ERROR] == "BrokenPipeError"


def test_full_pipe_at_the_end(victim):
    """A thread that is stuck in a full pipe stands still like any other; what is in the pipe is told."""
    run = victim.begin("import array, fcntl, os, termios, threading, time\n"
                       "threading.Thread(target=lambda: os.write(1, bytes(10 << 20)), daemon=True).start()\n"
                       "held = array.array('i', [0])\n"
                       "while held[0] < 65536: time.sleep(0.01); fcntl.ioctl(1, termios.FIONREAD, held)")
    called = victim.finish(run)
    assert len(called.out) == 65536 and called.ended["is_kept"] == 1
    run.close()
    assert victim.good("print('own')") == "own\n"


def test_thief_of_the_next_call_has_only_copies(victim):
    """A thread takes a call before the interpreter does: code and input are memory of the session, not of the client.

    What the client sends is sealed against writing; init's copies are not. Short code is in no memory file at all."""
    victim.good(CHANNEL + """
import fcntl
def steal():
    word, control, _, _ = channel.recvmsg(5000, 1000)
    fds = [int.from_bytes(control[0][2][i:i + 4], 'little') for i in range(0, len(control[0][2]), 4)]
    out = -4  # then errors, report, input; before it the package, if it is long
    seals = [fcntl.fcntl(fd, 1034) for fd in [*fds[:out], fds[-1]]]  # F_GET_SEALS
    os.write(fds[out], f'{len(word) > 8} {seals}'.encode())
    channel.send(word[:8])
for _ in range(6): threading.Thread(target=steal, daemon=True).start()
time.sleep(0.1)
""")
    for padding, expected in (0, "True [1]"), (5000, "False [1, 1]"):
        told = [victim("print('not run')" + " " * padding, stdin=b"input").out for _ in range(3)]
        stolen = [out for out in told if out != "not run\n"]
        assert stolen and set(stolen) == {expected}, "F_SEAL_SEAL alone"
    victim("1", flags=wire.LIVE_RESET)


def test_report_that_is_kept_changes_no_later_one(victim):
    """The code finds the memory of its report, keeps it, and writes over it in the next call."""
    victim.good("""
import mmap, sys
copy = mmap.mmap(sys._getframe(1).f_globals['boot'].memory.fd, 1 << 20)
""")
    called = victim("copy[:9] = b'\\x01\\x04\\x00\\x00\\x00fake'; 1 / 0")
    assert called.report[ERROR] == "ZeroDivisionError"


def test_null_streams_are_the_cells_and_go_one_way(victim):
    victim.good("import os, stat\nassert os.fstat(0).st_rdev == os.stat('/dev/null').st_rdev")
    assert victim("os.write(0, b'x')").report[ERROR] == "OSError"


def test_descriptors_that_are_all_taken_leave_no_room_for_a_call(victim):
    """The interpreter ends at the end of its call (Python 3.13) or at the begin of the next one (3.11)."""
    called = victim("import os\ntry:\n    while True: os.open('/dev/null', 0)\nexcept OSError: pass")
    if called.lost == Lost.NOTHING:
        called = victim("print('no')")
    assert (called.out, called.lost) == ("", Lost.CRASH)
    assert victim("'os' in globals()").report[RESULT].endswith("False")


def test_fork_that_answers_twice(victim):
    called = victim(CHANNEL + """
if os.fork() == 0:
    channel.send(done(1, 5)); channel.send(done(1, 6)); channel.send(done(2, 7))
    os._exit(0)
time.sleep(60)
""")
    assert called.ended["code"] == 5
    called = victim("print('second')", wall_ms=1000)
    assert called.ended["code"] != 7, "a word from before the call does not end it"


def test_stopping_itself(victim):
    called = victim("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", wall_ms=2000)
    assert (called.end, called.lost) == (End.TIMEOUT, Lost.TIMEOUT)


def test_stopped_children_are_frozen_too(victim):
    victim.good("import os, signal, time\nif (pid := os.fork()) == 0:\n    os.kill(os.getpid(), signal.SIGSTOP)\n    os._exit(0)\nos.waitpid(pid, os.WUNTRACED)")
    assert victim.good("os.kill(pid, signal.SIGCONT); print(os.waitpid(pid, 0)[1])") == "0\n"


def test_vfork_that_never_ends_is_frozen_too(victim):
    victim.good("""
import _posixsubprocess, os, subprocess, threading, time
os.mkfifo('fifo')
def spawn(): subprocess.Popen(['/bin/bash', '-c', 'read < fifo'])
threading.Thread(target=spawn, daemon=True).start()
time.sleep(0.1)
""")


def test_catching_the_interrupt_for_ever(victim):
    victim.good("x = 1")
    code = "import time\ndef run():\n    try:\n        while True: time.sleep(0.001)\n    except BaseException: run()\nrun()"
    called = victim(code, wall_ms=2000)
    assert (called.end, called.lost) == (End.TIMEOUT, Lost.TIMEOUT)


def test_interrupting_itself_without_end(victim):
    victim(CHANNEL + """
import signal
def interrupt():
    while True:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.0001)
threading.Thread(target=interrupt, daemon=True).start()
""")
    for _ in range(5):
        assert victim("for _ in range(1000): pass").end in (End.EXIT, End.SIGNAL)
    victim("1", flags=wire.LIVE_RESET)


@pytest.mark.parametrize("code", [
    "import linecache; linecache.cache = None; linecache.getlines = linecache.updatecache = None",
    "import traceback; traceback.format_exception = None",
    "import sys; del sys.modules['__main__']; sys.modules.clear()",
    "import sys; del sys.stdout, sys.stderr, sys.stdin, sys.excepthook, sys.__stdout__",
    "import sys; sys.stdout.close(); sys.stderr.close(); sys.stdin.close()",
    "import sys; sys.stdout.detach(); sys.stderr.detach(); sys.stdin.detach()",
    "import os; os.closerange(0, 3)",
    "import os; os.open = os.dup2 = os.fstat = os.environ = None",
    "globals().clear()",
    "import sys; sys.excepthook = 5",
    "import sys; sys.settrace(lambda *_: 1 / 0)",
    "import sys, threading; sys.setswitchinterval(100); sys.setrecursionlimit(50)",
    "import gc; gc.disable(); [gc.get_referrers(one) for one in ()]",
    "import signal; signal.signal(signal.SIGINT, lambda *_: 1 / 0); signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001); signal.signal(signal.SIGALRM, signal.SIG_IGN)",
    "import os; os.chdir('/'); os.umask(0o777); os.nice(19)",
    "globals()[7] = globals()['not a\\nname'] = globals()['x' * 100000] = 1",
    "globals().update((f'n{i}', i) for i in range(100000))",
    "class Name(str):\n    def __hash__(self): return 1\n    def __eq__(self, other): raise ValueError\nglobals()[Name('x')] = 1",
])
def test_breaking_what_the_call_stands_on(code, victim):
    """A later call works, or the interpreter is lost and told: never silence, never another session's trouble."""
    victim(code)
    called = victim("print('on')")
    assert called.end in (End.EXIT, End.SIGNAL)
    assert called.ended["is_kept"] == 1 or called.lost == Lost.CRASH
    failed = victim("1 / 0")
    assert failed.end in (End.EXIT, End.SIGNAL)
    assert failed.end == End.SIGNAL or failed.ended["code"] != 0


def test_builtins_that_are_gone(victim):
    assert victim("import builtins; builtins.__dict__.clear()").end in (End.EXIT, End.SIGNAL)
    assert victim("x = 1").end in (End.EXIT, End.SIGNAL)


def test_many_spinning_processes_are_frozen(victim):
    victim.good("import os\nfor _ in range(10):\n    if os.fork() == 0:\n        while True: pass")
    assert victim.good("print('on')") == "on\n"
    victim("1", flags=wire.LIVE_RESET)


def test_names_are_bounded(victim):
    called = victim("globals().update((f'name_{i:06}', i) for i in range(100000))")
    assert len(called.report[6]) <= 4096 and called.names[0] == "name_000000"


def test_memory_that_is_kept_from_call_to_call_is_the_sessions(victim, shared):
    """Packages of 256 KiB, all of them kept: the interpreter's memory grows, and it is what ends."""
    victim.good(CHANNEL + """
kept = []
def steal():
    while True:
        word, control, _, _ = channel.recvmsg(8, 1000)
        fds = [int.from_bytes(control[0][2][i:i + 4], 'little') for i in range(0, 20, 4)]
        kept.append(fds)
        channel.send(word)
for _ in range(2): threading.Thread(target=steal, daemon=True).start()
time.sleep(0.1)
""")
    before = shared.memory()["rss"]
    for _ in range(30):
        victim("#" * 250_000)
    assert shared.memory()["rss"] < before + (4 << 20)
    victim("1", flags=wire.LIVE_RESET)


def test_clock_of_the_wall_limit_does_not_run_in_between(victim):
    victim.good("x = 1", wall_ms=3000)
    time.sleep(3.2)
    assert victim.good("print(x)", wall_ms=3000) == "1\n"
