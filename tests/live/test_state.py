"""What a session's live interpreter is for: state that lives between calls, and is told when it does not."""
import errno
import os
import struct
import time
from pathlib import Path

import pytest
import traced
import wire
from live_session import ERROR, NAMES, RESULT, TRACEBACK, Session
from wire import End, Interpreter, Lost, Type

SPIN = """
import threading
def spin():
    while True: pass
threading.Thread(target=spin, daemon=True).start()
"""


def test_names_live_from_call_to_call(session):
    first = session("x = 1\ndef double(n): return 2 * n\nimport json")
    assert (first.started["interpreter"], first.started["lost"]) == (Interpreter.NEW, Lost.NOTHING)
    assert first.names == ["x", "double", "json"]
    second = session("x += 1\nprint(json.dumps([double(x), __name__]))")
    assert second.out == '[4, "__main__"]\n' and second.is_reused
    assert session.good("import __main__; print(__main__.x)") == "2\n"


def test_names_are_told_when_they_change(session):
    assert session("x = 1").names == ["x"]
    assert NAMES not in session("x += 1").report
    assert session("y = 1").names == ["x", "y"]
    assert session("raise SystemExit(x)").ended["code"] == 2
    assert session("del x; z = 1").names == ["y", "z"], "as many as before"
    assert session("del y, z").report[NAMES] == ""


def test_names_that_a_report_lost_are_told_again(session):
    """The code writes over the report of the call in which they came."""
    session.good("x = 1")
    called = session("""
import os, stat
for fd in range(4, 64):
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode): os.pwrite(fd, bytes([255] * 5), 0)
    except OSError: pass
""")
    assert called.ended["code"] == 0 and NAMES not in called.report, called
    told = [called.names for called in (session("1") for _ in range(16)) if NAMES in called.report]
    assert told == [["x", "os", "stat", "fd"]]


def test_report_that_takes_nothing_is_not_the_codes_to_see(session):
    """Its OSError was shown as the code's, which did not run."""
    session.good("import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))")
    assert session.good("print('ran')") == "ran\n"


def test_report_is_not_written_into_a_file_that_took_its_number(session):
    session.good("import os\nos.closerange(4, 64)\nfds = [os.open(f'f{n}', os.O_RDWR | os.O_CREAT) for n in range(16)]")
    assert session.good("print([os.fstat(fd).st_size for fd in fds] == [0] * 16)") == "True\n"
    assert session("z = 1").names == ["os", "fds", "z"]
    assert session.good("print([os.write(fd, b'x') for fd in fds] == [1] * 16)") == "True\n"


def test_stdin_that_was_closed_is_there_in_the_next_call(session):
    """It was opened as 0, and closed as the descriptor that had become 0."""
    session.good("import os\nos.close(0)")
    called = session("input()")
    assert called.ended["code"] == 1 and called.report[ERROR] == "EOFError"
    assert session.good("import subprocess; print(subprocess.run(['cat']).returncode)") == "0\n", "a child has it too"
    assert session.good("fd = os.open('f', os.O_RDWR | os.O_CREAT); print(fd > 2)") == "True\n"


def test_end_of_a_call_tells_of_an_empty_home(session):
    assert session("x = 1").ended["is_home_empty"] == 1
    assert session("open('f', 'w').close()").ended["is_home_empty"] == 0
    assert session("import os; os.remove('f')").ended["is_home_empty"] == 1


def test_each_call_has_its_own_streams_arguments_and_variables(session):
    assert session.good("import sys; print(input(), sys.argv[1:])", stdin=b"one\n", args=["a", "b c"]) == "one ['a', 'b c']\n"
    assert session.good("print(sys.argv[1:], sys.stdin.read())", stdin=b"two") == "[] two\n"
    called = session("print(input())")
    assert called.ended["code"] == 1 and called.report[ERROR] == "EOFError"
    assert session.good("import os, time; print(os.environ['COLOUR'], time.tzname[0])", env=["COLOUR=red", "TZ=Asia/Tokyo"]) == "red JST\n"
    assert session.good("print(os.environ['COLOUR'])") == "red\n", "variables stay, as everything does"


@pytest.mark.parametrize("more", range(-2, 3))
def test_code_within_the_word_and_in_a_memory_file_is_the_same(more, session):
    """Init hands a package of 4,096 bytes over within its word, one of 4,097 beside it."""
    words = {"args": ["one", "zwei\N{WHITE SMILING FACE}"], "env": ["COLOUR=red"]}
    code = "import os, sys\nprint(sys.argv[1:], os.environ['COLOUR'], input(), len(text))\ntext = '{}'"
    left = 4096 + more - len(wire.package(code, **words)) + 2
    session.good("text = 'before'")
    assert session.good(code.format("x" * left), stdin=b"told\n", **words) == "['one', 'zwei\N{WHITE SMILING FACE}'] red told 6\n"
    assert session.good("print(len(text), sys.argv[1:], sys.stdin.read())") == f"{left} [] \n"


def test_what_is_printed_between_two_calls_is_lost_even_without_our_null(session):
    """The code closes what 1 is connected to in between."""
    session.good("""
import os, threading, time
os.closerange(4, 64)
errors = []
def write():
    while True:
        try: os.write(1, b'late '); time.sleep(0.001)
        except BaseException as error: errors.append(error); return
""")
    session.good("threading.Thread(target=write, daemon=True).start()")
    assert session.good("import stat; print(stat.S_ISFIFO(os.fstat(1).st_mode), errors, end='$')").replace("late ", "") == "True []$"


def test_report_tells_when_the_code_began(session):
    for _ in range(2):
        asked = time.monotonic_ns()
        run = session.begin("import time\nprint(time.monotonic_ns())")
        said = session.finish(run)
        assert asked < run.begun_ns() < int(said.out)
        run.close()


def test_traceback_shows_the_lines_of_cells(session):
    session.good("def fail(n):\n    return 1 / n\n")
    called = session("# a comment\nfail(0)")
    assert called.ended["code"] == 1 and called.report[ERROR] == "ZeroDivisionError"
    assert called.report[TRACEBACK] == called.err
    lines = [line for line in called.err.splitlines() if line.strip("~^ ")]  # from 3.13 on marks stand below some
    assert lines[1:5] == [
        '  File "<cell 2>", line 2, in <module>', "    fail(0)", '  File "<cell 1>", line 2, in fail',
        "    return 1 / n"]
    assert 'File "<cell 3>", line 1' in session("x = = 1").err
    assert session("raise SystemExit('gone')").err == "gone\n"


def test_last_value_is_a_result_of_its_call(session):
    assert session("x = 20\nx + 1").report[RESULT] == "\x01\ntext/plain21"
    assert RESULT not in session("x = 5").report
    assert session("'text'").report[RESULT] == "\x01\ntext/plain'text'"
    assert session("x += 1\nx").report[RESULT] == "\x01\ntext/plain6"
    assert RESULT not in session("print(x)").report


def test_figures_are_of_the_call_that_drew_them(session):
    for _ in range(2):
        session.good("import matplotlib.pyplot as plt\nplt.plot([1, 2])")
        assert session.good("print(plt.get_fignums())") == "[]\n"
    files = session.client.list(session.id)[1]
    assert sorted(name for name in files if name.startswith(b"figure")) == [b"figure-1.png", b"figure-2.png"]


@pytest.mark.parametrize("code, status", [("import sys; sys.exit(7)", 7), ("raise SystemExit", 0), ("exit(-1)", 255)])
def test_exit_ends_the_call_and_not_the_interpreter(code, status, session):
    session.good("x = 5")
    called = session(code)
    assert (called.end, called.ended["code"], called.ended["is_kept"]) == (End.EXIT, status, 1)
    assert session.good("print(x)") == "5\n"


def test_interrupt_keeps_the_state(session):
    session.good("x = 1")
    called = session("x = 2\nimport time\ntime.sleep(60)\nx = 3", wall_ms=2000)
    assert (called.end, called.ended["is_kept"], called.lost) == (End.TIMEOUT, 1, Lost.NOTHING)
    assert called.report[ERROR] == "KeyboardInterrupt" and called.is_reused
    assert session.good("print(x)") == "2\n"


def test_code_that_does_not_compile_changes_nothing(session):
    session.good("x = 1")
    assert session("x = = 2").report[ERROR] == "SyntaxError"
    called = session("import time; time.sleep(60)", wall_ms=2000)
    assert (called.end, called.ended["is_kept"]) == (End.TIMEOUT, 1), "the interrupt was ignored"


def test_second_interrupt_comes_after_one_that_was_swallowed(session):
    session.good("x = 0; import time")
    code = "try: time.sleep(60)\nexcept KeyboardInterrupt: x = 1\ntime.sleep(60)"
    called = session(code, wall_ms=2000)
    assert (called.end, called.ended["is_kept"]) == (End.TIMEOUT, 1)
    assert session.good("print(x)") == "1\n"


def test_interrupt_by_cancel_keeps_the_state(session):
    session.good("x = 1; import time")
    run = session.begin("print('up', flush=True)\ntime.sleep(60)")
    assert run.line() == "up"
    session.client.cancel(run.started()["run"])
    called = session.finish(run)
    assert (called.end, called.ended["is_kept"]) == (End.CANCELLED, 1)
    assert session.good("print(x)") == "1\n"


def test_a_cancel_waits_less_for_what_ignores_it(session):
    """Cancels that follow each other prolong nothing: it ends while they go on."""
    run = session.begin("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nprint(1, flush=True)\nwhile True: pass")
    assert run.line() == "1"
    number = run.started()["run"]
    for _ in range(400):
        try:
            session.client.cancel(number)
        except wire.Refused:
            break
        time.sleep(0.05)
    called = session.finish(run)
    assert (called.end, called.ended["is_kept"], called.lost) == (End.CANCELLED, 0, Lost.CANCELLED)


def test_what_ignores_the_interrupt_is_killed_and_told(session):
    session.good("x = 1")
    called = session("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", wall_ms=200)
    assert (called.end, called.ended["is_kept"], called.lost) == (End.TIMEOUT, 0, Lost.TIMEOUT)
    called = session("print('x' in globals())")
    assert (called.started["interpreter"], called.started["lost"]) == (Interpreter.NEW, Lost.TIMEOUT)
    assert called.out == "False\n"
    assert session("x").started["lost"] == Lost.NOTHING, "told once by a start"


@pytest.mark.parametrize("code, end, number", [
    ("import os; os._exit(3)", End.EXIT, 3),
    ("import ctypes; ctypes.string_at(0)", End.SIGNAL, 11),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", End.SIGNAL, 9)])
def test_crash_is_told(code, end, number, session):
    session.good("x = 1")
    called = session(code)
    assert (called.end, called.ended["code"], called.lost, called.ended["is_kept"]) == (end, number, Lost.CRASH, 0)
    assert session("1").started["lost"] == Lost.CRASH


def test_reset_on_request(session):
    session.good("x = 1")
    called = session("print('x' in globals())", flags=wire.LIVE_RESET)
    assert called.out == "False\n"
    assert (called.started["interpreter"], called.started["lost"]) == (Interpreter.NEW, Lost.REQUEST)
    other = Session(session.client)
    assert other("1", flags=wire.LIVE_RESET).started["lost"] == Lost.NOTHING, "there was none"
    other.close()


def test_memory_ends_it_and_is_told(session):
    session.good("x = 1")
    called = session("x = bytearray(400 << 20)")
    assert (called.end, called.lost, called.ended["is_kept"]) == (End.MEMORY, Lost.MEMORY, 0)
    assert session("print(1)").started["lost"] == Lost.MEMORY


def test_what_it_holds_counts_for_the_next_call(session):
    session.good("held = [bytearray(150 << 20)]")
    called = session("more = bytearray(150 << 20)")
    assert (called.end, called.lost) == (End.MEMORY, Lost.MEMORY)


def test_memory_files_are_no_home(session):
    """What lies in memfds and /dev/shm must not raise the limit of the next call, as the home does."""
    session.good("import os\nfds = [os.memfd_create('m')]\nos.write(fds[0], bytes(100 << 20)) == 100 << 20 or 1/0")
    called = session("fds.append(os.memfd_create('m'))\nos.write(fds[1], bytes(100 << 20))\nx = bytearray(120 << 20)")
    assert (called.end, called.lost) == (End.MEMORY, Lost.MEMORY)


def test_fresh_run_beside_it_has_its_full_memory(session):
    session.good("held = bytearray(120 << 20)")
    code = "x = bytearray(180 << 20); print(len(x))"
    assert session.client.result(session.id, code)[1] == f"{180 << 20}\n"
    assert session.good("print(len(held))") == f"{120 << 20}\n"


HOLD_IN_A_CHILD = """
import os, time
x = 1
ours, theirs = os.pipe()
if os.fork() == 0:
    held = bytearray(150 << 20)
    os.write(theirs, b'x')
    time.sleep(1000)
os.read(ours, 1)
"""


@pytest.mark.parametrize("hold", ["x = 1; held = bytearray(200 << 20)", HOLD_IN_A_CHILD])
@pytest.mark.parametrize("stay", ["", "; import time; time.sleep(0.3)"])
def test_short_of_memory_it_goes_before_the_run_beside_it(hold, stay, session):
    """Whichever of its processes the kernel takes: it is given up whole, which is said, and the run has what it held."""
    session.good(hold)
    ended, out = session.client.result(session.id, f"x = bytearray(300 << 20){stay}; print(len(x))")[:2]
    assert (End(ended["end"]), out, Lost(ended["lost"])) == (End.EXIT, f"{300 << 20}\n", Lost.MEMORY)
    called = session("print('x' in globals())")
    assert (called.started["interpreter"], called.started["lost"]) == (Interpreter.NEW, Lost.MEMORY)
    assert called.out == "False\n"
    ended = session.client.result(session.id, "print(1)")[0]
    assert End(ended["end"]) == End.EXIT, "no kill of before is counted for a later run"


@pytest.mark.parametrize("code", [
    "x = bytearray(400 << 20)",
    "import os\nif os.fork() == 0:\n    x = bytearray(400 << 20)\nos.wait()\nimport time; time.sleep(20)"])
def test_run_beside_it_that_takes_too_much_is_ended_alone(code, session):
    session.good("x = 1")
    ended = session.client.result(session.id, code)[0]
    assert (End(ended["end"]), Lost(ended["lost"])) == (End.MEMORY, Lost.NOTHING)
    assert session.good("print(x)") == "1\n"


def test_script_that_the_kernel_kills_while_the_interpreter_dies_was_short_of_memory(session, shared):
    """It was told as killed by signal 9. A child that is traced keeps the dying interpreter's cell from its end."""
    before = shared.pen.processes()
    session.good("import os, time\nheld = bytearray(200 << 20)\nif os.fork() == 0: time.sleep(1000)")
    stats = {pid: Path(f"/proc/{pid}/stat").read_text() for pid in shared.pen.processes() - before}
    pythons = {pid: int(stat.rpartition(")")[2].split()[1]) for pid, stat in stats.items() if "(cloche-init)" not in stat}
    child, = (pid for pid, parent in pythons.items() if parent in pythons)
    with traced.Held(child):
        run = session.client.run(session.id, "print('up', flush=True)\nx = bytearray(1000 << 20)")
        ended = run.ended(within=60)
        assert Path(f"/proc/{child}/status").read_text().split("State:\t")[1][0] == "Z", "it has not died"
    assert (End(ended["end"]), Lost(ended["lost"]), run.text()) == (End.MEMORY, Lost.MEMORY, "up\n")
    run.close()


def test_bash_beside_it_has_its_full_memory_too(session):
    session.good("held = bytearray(120 << 20)")
    grown = "x=$(head -c 30000000 /dev/zero | tr '\\0' x); y=$x$x; echo ${#y}"
    assert session.client.result(session.id, grown, "bash")[1] == "60000000\n"
    assert session.good("print(len(held))") == f"{120 << 20}\n"


def test_without_a_v2_tree_it_is_refused(pen):
    hide = "exec unshare -m sh -c 'umount -l -a -t cgroup2 && exec \"$@\"' sh \"$@\"; "
    with wire.Jaild(pen, before=hide) as jaild:
        session = Session(jaild)
        with pytest.raises(wire.Refused) as refused:
            session("1")
        assert refused.value.error == errno.EOPNOTSUPP
        assert jaild.result(session.id, "print(1)")[1] == "1\n"
        session.close()


def test_bash_beside_it_is_fresh_and_shares_the_home(session):
    session.good("open('a.txt', 'w').write('from python'); x = 1")
    assert session.client.result(session.id, "cat a.txt; echo new > b.txt", "bash")[1] == "from python"
    assert session.good("print(x, open('b.txt').read())") == "1 new\n\n"


def test_home_does_not_count_for_the_interpreter(session):
    session.good("open('big', 'wb').write(bytes(60 << 20))")
    session.good("x = bytearray(200 << 20)")


def test_frozen_it_uses_no_processor(session, shared):
    """Not a moment: the kernel's count of the cell's CPU time stands still, threads and children with it."""
    session.good(SPIN + "import subprocess\nchild = subprocess.Popen(['/bin/bash', '-c', 'while :; do :; done'])")
    leaves = [path for path in shared.pen.folders["unified"].rglob("cgroup.events") if "frozen 1" in path.read_text()]
    assert len(leaves) == 1
    stat = leaves[0].with_name("cpu.stat")
    before = stat.read_text()
    time.sleep(3)
    assert stat.read_text() == before
    assert session.good("print(child.poll(), threading.active_count())") == "None 2\n"
    assert stat.read_text() != before


def test_threads_and_children_go_on_in_the_next_call(session):
    session.good("""
import os, threading, time
count = 0
def work():
    global count
    while True:
        count += 1
        time.sleep(0.001)
threading.Thread(target=work, daemon=True).start()
ours, theirs = os.pipe()
if os.fork() == 0:
    while True:
        os.write(theirs, b'x')
        time.sleep(0.001)
""")
    assert session.good("n = count\nwhile count == n: time.sleep(0.01)\nprint(len(os.read(ours, 100)) > 0)") == "True\n"


def test_a_forked_process_ends_with_the_code(session):
    assert session.good("import os\nif (pid := os.fork()) == 0:\n    print('child')\nelse:\n    os.waitpid(pid, 0); print('parent')") == "child\nparent\n"
    assert session.good("print('once')") == "once\n"


def test_one_run_at_a_time(session):
    run = session.begin("print('up', flush=True); import time; time.sleep(60)")
    assert run.line() == "up"
    for other in session.client.live(session.id, "1"), session.client.run(session.id, "1"):
        with pytest.raises(wire.Refused) as refused:
            other.started()
        assert refused.value.error == errno.EBUSY
        other.close()
    session.client.cancel(run.started()["run"])
    session.finish(run)


def test_limits_of_a_call(session):
    with pytest.raises(wire.Refused) as refused:
        session("1", wall_ms=30001)
    assert refused.value.error == errno.ERANGE
    with pytest.raises(wire.Refused) as refused:
        session("1", flags=2)
    assert refused.value.error == errno.EINVAL
    assert session.good("print(1)") == "1\n"


def test_close_of_an_idle_and_of_a_busy_session(client):
    for code in "x = 1", "import time; time.sleep(60)":
        session = Session(client)
        run = session.begin(code)
        run.started()
        if "sleep" not in code:
            session.finish(run)
        client.close(session.id)
        run.close()
    assert client.status()["cells"] == 0


def test_client_that_hangs_up_ends_its_call_and_no_more(shared, session):
    session.good("x = 1")
    with shared.attach() as other:
        run = other.live(session.id, "x = 2; print('up', flush=True); import time; time.sleep(60)")
        assert run.line() == "up"
    deadline = time.monotonic() + 10
    while True:
        try:
            assert session.good("print(x)") == "2\n"
            return
        except wire.Refused as refused:
            assert refused.error == errno.EBUSY and time.monotonic() < deadline
        time.sleep(0.01)


def test_death_of_everything_leaves_nothing(pen):
    """A frozen cell dies with jaild as any other."""
    with wire.Jaild(pen) as jaild:
        session = Session(jaild)
        session.good(SPIN)
        os.kill(jaild.pid, 9)
        jaild.ends()


def test_pids_advice_is_of_the_call(session):
    code = "import os\npids = []\ntry:\n    while True:\n        pid = os.fork()\n        if pid == 0:\n            import time; time.sleep(60); os._exit(0)\n        pids.append(pid)\nexcept BlockingIOError: pass"
    assert session(code).ended["advice"] == 1
    called = session("import signal\nfor pid in pids: os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)")
    assert called.ended["advice"] == 0 and called.ended["code"] == 0
    assert session.good("print(os.system('true'))") == "0\n"


def test_cpu_time_is_of_the_call(session):
    busy = session("import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass")
    assert busy.ended["cpu_us"] >= 500_000
    assert session("pass").ended["cpu_us"] < 300_000


def test_files_of_reset_are_kept(session):
    session.good("open('kept', 'w').write('1')")
    session("1", flags=wire.LIVE_RESET)
    assert session.client.file_read(session.id, "kept") == b"1"


def test_unknown_session(client):
    with pytest.raises(wire.Refused) as refused:
        client.live(2**40, "1").started()
    assert refused.value.error == errno.ENOENT


def test_package_that_is_not_sealed(session):
    fds = [wire.memfd(wire.package("1"), 0), os.open("/dev/null", os.O_RDONLY), *os.pipe(), wire.report()]
    seq = session.client.send(Type.LIVE, struct.pack("<QQII", session.id, 0, 0, 0), fds)
    for fd in fds:
        os.close(fd)
    with pytest.raises(wire.Refused) as refused:
        session.client.answer(seq, Type.RUN_STARTED)
    assert refused.value.error == errno.EPERM
