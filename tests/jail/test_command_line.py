"""`cloche run`: languages, sources of the script, variables, arguments, statuses, and errors that name the remedy."""
import re

import pytest
from runner import PROGRAM

SHELL = "echo from $0\n"
PYTHON = "import sys\nprint('from', sys.argv[0])\n"


@pytest.mark.both
@pytest.mark.parametrize("name, content, option, wanted", [
    ("a.py", PYTHON, None, "python"), ("a.sh", SHELL, None, "bash"), ("a.bash", SHELL, None, "bash"),
    ("bare", "#!/bin/bash\n" + SHELL, None, "bash"), ("bare2", "#!/usr/bin/env python3\n" + PYTHON, None, "python"),
    ("bare3", "#!/bin/sh\n" + SHELL, None, "bash"), ("wrong.py", SHELL, "bash", "bash"), ("wrong.sh", PYTHON, "python", "python"),
])
def test_language_by_option_extension_or_first_line(cloche, checked, name, content, option, wanted):
    run = cloche.run(cloche.file(name, content), language=option)
    assert checked(run)["language"] == wanted
    assert run.text.startswith("from ") and run.text.endswith(f"main.{'sh' if wanted == 'bash' else 'py'}\n")


@pytest.mark.both
def test_script_from_stdin(cloche, checked):
    run = cloche.run("-", typed=b"print(6*7)\n", language="python")
    assert checked(run)["outcome"] == "ok" and run.text == "42\n"


def test_script_from_stdin_by_its_first_line(cloche, checked):
    run = cloche.run("-", typed=b"#!/bin/bash\necho $((6*7))\n")
    assert checked(run)["language"] == "bash" and run.text == "42\n"


@pytest.mark.both
def test_arguments_after_the_dashes(cloche):
    words = ["one", "two words", "--json", "-e", "", "Жук", "*", "$HOME"]
    run = cloche.run("import sys, json\nprint(json.dumps(sys.argv[1:]))\n", args=words)
    import json
    assert json.loads(run.text) == words
    assert cloche.bash('for w in "$@"; do echo "<$w>"; done\n', args=words).text.splitlines() == [f"<{w}>" for w in words]


@pytest.mark.both
def test_stdin_from_a_file(cloche):
    typed = cloche.file("typed.txt", "Анна\n5\n")
    before = typed.stat()
    run = cloche.run("name, n = input(), int(input())\nprint(name * n)\n", stdin=typed)
    assert run.text == "Анна" * 5 + "\n"
    now = typed.stat()
    assert typed.read_text() == "Анна\n5\n" and (now.st_mtime_ns, now.st_mode) == (before.st_mtime_ns, before.st_mode)


def test_large_stdin_arrives_whole(cloche):
    typed = cloche.file("typed.bin", bytes(range(256)) * 4000)
    run = cloche.run("import sys, hashlib\nprint(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())\n", stdin=typed)
    import hashlib
    assert run.text.strip() == hashlib.sha256(typed.read_bytes()).hexdigest()


def test_stdin_that_nobody_reads_does_not_matter(cloche, checked):
    typed = cloche.file("typed.bin", bytes(1 << 20))
    assert checked(cloche.run("print('done')\n", stdin=typed))["outcome"] == "ok"


def test_stdin_above_1_MiB_names_the_other_way(cloche):
    usage_error(cloche.run("print(1)\n", stdin=cloche.file("typed.bin", bytes((1 << 20) + 1)), json_answer=False), "--file")


@pytest.mark.both
def test_variables_are_given(cloche):
    run = cloche.run("import os\nprint(os.environ['GREETING'], repr(os.environ['EMPTY']), os.environ['LANG'], os.environ['EQ'])\n",
                     env=["GREETING=привет мир", "EMPTY=", "LANG=ru_RU.UTF-8", "EQ=a=b"])
    assert run.text == "привет мир '' ru_RU.UTF-8 a=b\n"


REFUSED = ["PYTHONPATH=/mnt/data", "PYTHONSTARTUP=x", "PYTHON_CPU_COUNT=9", "LD_PRELOAD=x", "LD_LIBRARY_PATH=x", "LD_AUDIT=x",
           "MALLOC_ARENA_MAX=1", "PATH=/mnt/data", "HOME=/root", "USER=root", "TMPDIR=/x", "MPLBACKEND=x", "MPLCONFIGDIR=/x",
           "XDG_CACHE_HOME=/x", "PYTHONUNBUFFERED=", "OMP_NUM_THREADS=64", "OPENBLAS_NUM_THREADS=64", "MKL_NUM_THREADS=64",
           "NUMEXPR_NUM_THREADS=64", "=x", "NOVALUE", "BAD NAME=1", "9X=1", "A-B=1"]


def usage_error(run, *words):
    """Exit status 2, nothing on stdout, and a short text that names what was wrong."""
    assert run.status == 2, run.explain()
    assert run.stdout == b"", run.explain()
    text = run.stderr.decode()
    assert all(word in text for word in words), text
    assert 0 < len(text.splitlines()) <= 6 and "Traceback" not in text and "errno" not in text.lower()
    return text


@pytest.mark.parametrize("pair", REFUSED)
def test_variables_are_refused(cloche, pair):
    usage_error(cloche.run("print(1)\n", env=[pair], json_answer=False), pair.split("=")[0] or "-e")


def test_more_than_64_variables_are_refused(cloche, checked):
    pairs = [f"V{n}=x" for n in range(64)]
    assert checked(cloche.run("print(1)\n", env=pairs))["outcome"] == "ok"
    usage_error(cloche.run("print(1)\n", env=pairs + ["V64=x"], json_answer=False), "64")


def test_more_than_32_KiB_of_variables_are_refused(cloche, checked):
    assert checked(cloche.run("print(1)\n", env=["V=" + "x" * 32000]))["outcome"] == "ok"
    usage_error(cloche.run("print(1)\n", env=["V=" + "x" * 33000], json_answer=False), "32")


@pytest.mark.both
def test_a_given_variable_does_not_change_the_rest(cloche):
    run = cloche.run("import os\nprint(sorted(os.environ))\n", env=["EXTRA=1"])
    plain = cloche.run("import os\nprint(sorted(os.environ))\n")
    assert sorted(eval(plain.text) + ["EXTRA"]) == eval(run.text)


@pytest.mark.both
@pytest.mark.parametrize("options, words", [
    ({"profile": "generous"}, ["generous", "strict"]),
    ({"timeout": "0"}, ["timeout"]), ({"timeout": "-1"}, ["timeout"]), ({"timeout": "soon"}, ["timeout"]),
    ({"timeout": "31"}, ["30"]), ({"timeout": "99999999999999999999"}, ["timeout"]),
    ({"files": ["/nowhere/data.csv"]}, ["/nowhere/data.csv", "check its name"]), ({"files": ["/etc"]}, ["/etc"]),
    ({"stdin": "/nowhere/typed"}, ["/nowhere/typed", "check its name"]), ({"rootfs": "/nowhere/root"}, ["/nowhere/root"]),
    ({"extra": ["--colour"]}, ["--colour"]), ({"extra": ["--session", "k"]}, ["--session", "--server unix:", "cloche up"]),
    ({"extra": ["--token-file", "t"]}, ["--token-file", "--server unix:"]),
])
def test_wrong_use_names_the_remedy(cloche, options, words):
    rootfs = options.get("rootfs")
    options = {key: value for key, value in options.items() if key != "rootfs"}
    if rootfs:
        options["extra"] = ["--rootfs", rootfs]
    usage_error(cloche.run("print(1)\n", json_answer=False, **options), *words)


def test_wrong_language_names_the_two(cloche):
    script = cloche.file("x.py", "print(1)\n")
    usage_error(cloche.command("run", "--language", "perl", script), "perl", "python", "bash")


def test_a_script_of_no_known_language_names_the_option(cloche):
    usage_error(cloche.run(cloche.file("mystery", "hello\n"), json_answer=False), "--language")


def test_missing_script_and_unknown_command(cloche):
    usage_error(cloche.command("run", "/nowhere/script.py"), "/nowhere/script.py", "check its name")
    usage_error(cloche.command("run"), "script")
    usage_error(cloche.command("fly"), "fly")
    usage_error(cloche.command("run", cloche.folder), str(cloche.folder))


def test_json_mode_keeps_stdout_for_the_answer_only(cloche, checked):
    run = cloche.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\n")
    answer = checked(run)
    assert answer["stdout"]["text"] == "out\n" and answer["stderr"]["text"] == "err\n"
    assert run.stdout.count(b"\n") <= 1 or run.stdout.strip().startswith(b"{")


@pytest.mark.both
def test_plain_mode_passes_both_streams_on(cloche):
    run = cloche.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.stdout.buffer.write(b'\\xff\\x00')\n",
                     json_answer=False)
    assert run.stdout == b"out\n\xff\x00" and b"err\n" in run.stderr and run.status == 0


@pytest.mark.both
def test_a_folder_that_takes_no_files_is_refused_before_the_run(cloche):
    run = cloche.run("open('made', 'w')\nprint('ran')\n", json_answer=False, out=False, extra=["--out", "/proc/here"])
    usage_error(run, "--out /proc/here", "name another folder")


MISSING = {
    "a file": ("open('sales.csv')", "--file NAME"), "a package": ("import no_such_package", "cloche image build"),
    "a network": ("import urllib.request as u; u.urlopen('http://example.com')", "no network"),
    "a route": ("import socket; socket.create_connection(('1.1.1.1', 80))", "no network"),
    "a name server": ("import socket; socket.getaddrinfo('example.com', 80)", "no network"),
}


@pytest.mark.parametrize("script, word", MISSING.values(), ids=MISSING)
def test_what_is_missing_in_the_jail_is_hinted_at_for_people(cloche, checked, script, word):
    run = cloche.run(script, json_answer=False)
    last = run.stderr.decode().splitlines()[-1]
    assert run.status == 1 and last.startswith("cloche: ") and word in last
    answer = checked(cloche.run(script))
    assert answer["end"]["text"].endswith("exited with status 1") and answer["advice"] == []


def test_no_hint_for_a_file_where_files_were_given_or_the_error_was_caught(cloche):
    data = cloche.file("data.csv", "1\n")
    assert b"puts one beside" not in cloche.run("open('sales.csv')", files=[data], json_answer=False).stderr
    caught = "try:\n    open('sales.csv')\nexcept FileNotFoundError as e:\n    print(repr(e)); raise SystemExit(3)\n"
    run = cloche.run(caught, json_answer=False)
    assert run.status == 3 and b"puts one beside" not in run.stderr


@pytest.mark.both
def test_names_in_our_own_text_cannot_steer_a_terminal(cloche):
    """What the script prints is its own; what we print about its files has no control characters."""
    run = cloche.run("import os\nfor n in ('\\x1b[31mred\\x07', 'a\\nb', '\\x9b5m'):\n    open(n, 'w').write('x')\n",
                     json_answer=False)
    text = run.stderr.decode()
    assert "red" in text, "the file is not told"
    assert not any(c in text for c in "\x1b\x07\x9b\r"), text
    assert not any(line.startswith("b") for line in text.splitlines())


@pytest.mark.both
def test_timeout_of_one_second_works(cloche):
    run = cloche.run("import time\ntime.sleep(20)\n", timeout=1, json_answer=False)
    assert run.status == 124 and run.wall < 4
    assert b"1 s" in run.stderr or b"time" in run.stderr.lower()


@pytest.mark.parametrize("command", [["--help"], ["run", "--help"], ["doctor", "--help"], ["jail", "--help"], ["image", "--help"], ["help", "--help"]])
def test_help_fits_a_screen(cloche, command):
    run = cloche.command(*command)
    lines = run.text.splitlines()
    assert run.status == 0 and run.stderr == b"" and 0 < len(lines) <= 24, len(lines)
    assert max(map(len, lines)) <= 80, max(lines, key=len)


def test_run_help_names_every_option(cloche):
    text = cloche.command("run", "--help").text
    for option in ("--json", "--language", "--file", "--out", "--profile", "--timeout", "--stdin", "-e", "--rootfs"):
        assert option in text


def test_version(cloche):
    run = cloche.command("--version")
    assert run.status == 0 and re.match(r"cloche \d+\.\d+", run.text)


def test_the_program_is_the_one_that_was_built():
    assert PROGRAM.name == "cloche"
