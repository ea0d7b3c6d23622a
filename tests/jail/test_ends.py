"""E1-E3, B4, B5, B11 and the exit statuses: a run tells exactly how it ended."""
import os
import signal
import time
from pathlib import Path

import pytest
from runner import first_line, stop


@pytest.mark.both
def test_E1_an_exception_is_an_error_with_its_traceback(cloche, checked):
    run = cloche.run("def f():\n    undefined_name\n\nf()\n")
    answer = checked(run)
    assert answer["outcome"] == "error" and answer["end"]["code"] == 1 and run.status == 1
    assert answer["error"]["name"] == "NameError" and "undefined_name" in answer["error"]["value"]
    trace = answer["error"]["traceback"]
    assert "main.py" in trace and "line 2" in trace and "NameError" in trace
    assert "NameError" in answer["stderr"]["text"]


def test_E1_a_syntax_error_names_main_py(cloche, checked):
    answer = checked(cloche.run("print('x'\n"))
    assert answer["outcome"] == "error" and answer["error"]["name"] == "SyntaxError"
    assert "main.py" in answer["error"]["traceback"]


def test_E1_a_plain_exit_status_is_no_exception(cloche, checked):
    run = cloche.run("import sys\nsys.exit(7)\n")
    answer = checked(run)
    assert answer["outcome"] == "error" and answer["end"]["code"] == 7 and run.status == 7
    assert answer["error"] is None


@pytest.mark.both
def test_E2_timeout(cloche, checked):
    run = cloche.run("print('before', flush=True)\nwhile 1: pass\n", timeout=1)
    answer = checked(run)
    assert answer["outcome"] == "timeout" and answer["end"]["reason"] == "timeout" and run.status == 124
    assert answer["stdout"]["text"] == "before\n", "what was printed before the end is kept"
    assert 0.9 <= run.wall <= 4 and answer["usage"]["wall_ms"] >= 900
    assert answer["end"]["code"] is None


@pytest.mark.both
def test_E3_memory_is_killed(cloche, checked):
    run = cloche.bash("echo before\nhead -c 400000000 /dev/zero | tail > /dev/null\necho after\n")
    answer = checked(run)
    assert answer["outcome"] == "killed" and answer["end"]["reason"] == "memory" and run.status == 137
    assert answer["stdout"]["text"] == "before\n"


@pytest.mark.both
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT, signal.SIGUSR1])
def test_E3_a_signal_is_killed(cloche, checked, number):
    run = cloche.run(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    answer = checked(run)
    assert answer["outcome"] == "killed" and answer["end"]["reason"] == "signal" and run.status == 128 + number
    assert answer["end"]["signal"] in (int(number), number.name)
    assert answer["end"]["text"]


@pytest.mark.both
@pytest.mark.parametrize("code", [0, 1, 3, 42, 126, 127, 255])
def test_the_scripts_status_is_ours(cloche, code):
    assert cloche.bash(f"exit {code}\n", json_answer=False).status == code


def test_B4_200_MB_of_output_keep_head_and_tail_and_little_memory(cloche, checked):
    script = "import os\nos.write(1, b'first\\n')\nb = b'x' * 99999 + b'\\n'\nfor _ in range(2000):\n    os.write(1, b)\nprint('last')\n"
    child = cloche.start(script)
    peak = 0
    import threading
    answer = []
    reader = threading.Thread(target=lambda: answer.append(child.communicate()))
    reader.start()
    while reader.is_alive():
        for line in _status_lines(child.pid):
            if line.startswith("VmHWM"):
                peak = max(peak, int(line.split()[1]))
        time.sleep(0.01)
    import json
    from runner import Run
    run = Run(child.returncode, *answer[0], 0.0, cloche.out, json.loads(answer[0][0]))
    stream = checked(run)["stdout"]
    assert run.answer["outcome"] == "ok" and run.status == 0
    assert stream["bytes"] == 200_000_000 + len("first\nlast\n")
    assert stream["text"].startswith("first\n") and stream["text"].endswith("last\n")
    kept = len(stream["text"].encode())
    assert f"\n... {stream['dropped']} bytes left out ...\n" in stream["text"]
    assert stream["bytes"] - stream["dropped"] + len(f"\n... {stream['dropped']} bytes left out ...\n") == kept
    assert 0 < peak < 32 << 10, f"the program took {peak} KiB"


def _status_lines(pid):
    try:
        return Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return []


@pytest.mark.both
@pytest.mark.parametrize("ending, outcome", [
    ("", "ok"), ("1/0\n", "error"), ("while 1: pass\n", "timeout"), ("import os; os.kill(os.getpid(), 9)\n", "killed"),
    ("b = bytearray(400 << 20); b[::4096] = b'x' * len(b[::4096])\n", "killed"),
])
def test_B5_files_are_reported_after_every_kind_of_end(cloche, checked, ending, outcome):
    changed, gone, kept = cloche.file("changed.txt", "old"), cloche.file("gone.txt", "x"), cloche.file("kept.txt", "k")
    script = ("import os\nos.makedirs('sub/deep')\nopen('sub/deep/new.txt', 'w').write('new')\n"
              "open('changed.txt', 'a').write('er')\nos.unlink('gone.txt')\n" + ending)
    run = cloche.run(script, files=[changed, gone, kept], timeout=2 if outcome == "timeout" else None)
    answer = checked(run)
    assert answer["outcome"] == outcome
    assert run.changes() == {"sub/deep/new.txt": "created", "changed.txt": "modified", "gone.txt": "deleted"}
    assert run.files() == {"sub/deep/new.txt": b"new", "changed.txt": b"older"}
    sizes = {f["path"]: f["size"] for f in answer["files"] if f["change"] != "deleted"}
    assert sizes == {"sub/deep/new.txt": 3, "changed.txt": 5}


@pytest.mark.both
def test_B11_input_ends_at_once_with_a_hint(cloche, checked):
    run = cloche.run("name = input('who? ')\n")
    answer = checked(run)
    assert answer["outcome"] == "error" and answer["error"]["name"] == "EOFError" and run.wall < 5
    assert "stdin" in " ".join([answer["end"]["text"], *answer["advice"], answer["stderr"]["text"]])


@pytest.mark.both
@pytest.mark.parametrize("whole_group", [False, True])
def test_ctrl_c_gives_130_and_leaves_nothing(cloche, whole_group):
    child = cloche.start("import signal, time\nsignal.signal(2, signal.SIG_IGN)\nprint('going', flush=True)\ntime.sleep(60)\n",
                         json_answer=False)
    try:
        assert first_line(child) == "going"
        os.killpg(child.pid, signal.SIGINT) if whole_group else os.kill(child.pid, signal.SIGINT)
        assert child.wait(60) == 130  # and not 124, as after the 30 s of its profile
    finally:
        stop(child)
        child.communicate()


def descendants(pid):
    """The names of a program's children, of theirs, and so on."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        names = [Path(f"/proc/{child}/comm").read_text() for child in children]
    except OSError:
        return []
    return names + [name for child in children for name in descendants(child)]


def test_ctrl_c_with_json_answers_cancelled(cloche, checked):
    import json
    from runner import Run
    child = cloche.start("import time\nopen('ready', 'w')\ntime.sleep(60)\n")
    until = time.monotonic() + 20
    while not any(name.startswith("python") for name in descendants(child.pid)):
        assert time.monotonic() < until
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGINT)
    stdout, stderr = child.communicate(timeout=60)
    assert child.returncode == 130
    if stdout:
        answer = checked(Run(130, stdout, stderr, 0.0, cloche.out, json.loads(stdout)))
        assert answer["end"]["reason"] == "cancelled" and answer["outcome"] == "killed"


@pytest.mark.both
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_the_death_of_the_program_ends_the_run(cloche, number):
    child = cloche.start("import time\nprint('going', flush=True)\ntime.sleep(60)\n", json_answer=False)
    assert first_line(child) == "going"
    os.kill(child.pid, number)
    child.communicate(timeout=60)


def test_a_reader_that_goes_away_does_not_hang_the_program(cloche):
    child = cloche.start("while True:\n    print('x' * 1000)\n", json_answer=False, timeout=5)
    first_line(child)
    child.stdout.close()
    try:
        child.wait(60)
    finally:
        stop(child)
        child.stderr.close()
