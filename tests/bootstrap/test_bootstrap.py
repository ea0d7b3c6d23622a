"""The bootstrap against plain Python: same output, same end, and what the report tells."""
import os
import pty
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from bootstrap_cases import CASES
from bootstrap_run import ERROR_NAME, ERROR_TRACEBACK, ERROR_VALUE, run_bootstrap, run_plain

HAS_TRACEBACK = re.compile(rb"(Traceback \(most recent call last\)|^\s+File \")", re.M)


def prepare(tmp_path, script, files=None, name="home"):
    folder = tmp_path / name / "home"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / "main.py").write_bytes(script if isinstance(script, bytes) else script.encode())
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    return folder


def comparable(data):
    """Without what differs between two runs of plain Python too: addresses and process ids."""
    data = re.sub(rb"0x[0-9a-f]{6,}|refcount : \d+", b"0x", data)
    data = data.replace(b"/ours_/home", b"/plain/home")
    return re.sub(rb"pid=\d+|ident=\d+|started \d+", b"id", data)


@pytest.mark.parametrize("name, script, options", CASES, ids=[c[0] for c in CASES])
def test_same_as_plain(tmp_path, name, script, options):
    options = dict(options)
    files = options.pop("files", None)
    expected = options.pop("error", "")
    # Side by side, in folders of equally long names.
    with ThreadPoolExecutor(1) as pool:
        folder = prepare(tmp_path, script, files, "plain")
        plain = pool.submit(run_plain, folder, **options)
        ours = run_bootstrap(prepare(tmp_path, script, files, "ours_"), **options)
        plain = plain.result()
    assert comparable(ours.out) == comparable(plain.out)
    assert comparable(ours.err) == comparable(plain.err)
    assert ours.status == plain.status
    if expected is not None:
        assert ours.report.get(ERROR_NAME, b"").decode() == expected


REPORTS = [
    # script, value, traceback (None: as on stderr)
    ("1/0", b"division by zero", None),
    ("raise KeyError('k')", b"'k'", None),
    ("raise ValueError", b"", None),
    ("raise ValueError('a', 2)", b"('a', 2)", None),
    ("raise ValueError('a\\nValueError: b')", b"a\nValueError: b", None),
    ("class E(Exception):\n  def __str__(s): return 'text'\nraise E", b"text", None),
    ("class E(Exception):\n  def __str__(s): return 'l1\\nl2'\nraise E", b"l1\nl2", None),
    ("try: 1/0\nexcept Exception: raise ValueError('second')", b"second", None),
    ("raise ExceptionGroup('g', [ValueError(1)])", None, None),
    ("open('/nope')", b"[Errno 2] No such file or directory: '/nope'", None),
    ("raise ValueError('ж')", "ж".encode(), None),
    ("raise ValueError('a\\udc80')", b"a\\udc80", None),
    ("x = = 1", b"invalid syntax", None),
    ("def f(): f()\nf()", None, None),
    ("import sys\nsys.stderr.close()\n1/0", b"division by zero", b"ZeroDivisionError: division by zero\n"),
    ("import sys\nsys.excepthook = lambda *a: None\n1/0", b"division by zero", b"ZeroDivisionError: division by zero\n"),
    ("import sys\nclass E(Exception):\n  def __str__(s): print('once'); return 'x'\nsys.excepthook = lambda *a: None\nraise E", b"", b""),
]


@pytest.mark.parametrize("script, value, traceback", REPORTS)
def test_report(tmp_path, script, value, traceback):
    ours = run_bootstrap(prepare(tmp_path, script))
    assert ours.status == 1
    if value is not None:
        assert ours.report[ERROR_VALUE] == value
    if traceback is None:
        assert ours.report[ERROR_TRACEBACK] == ours.err
        assert HAS_TRACEBACK.search(ours.err)
    else:
        assert ours.report[ERROR_TRACEBACK].endswith(traceback)


def test_report_is_bounded(tmp_path):
    ours = run_bootstrap(prepare(tmp_path, "raise ValueError('ж' * 10**6 + 'end')"))
    value, text = ours.report[ERROR_VALUE], ours.report[ERROR_TRACEBACK]
    assert 4000 < len(value) <= 4096 and value.endswith(b"end")
    assert 65000 < len(text) <= 65536 and text.endswith(b"end\n") and text.startswith(b"Traceback")


def test_report_only_of_the_process_itself(tmp_path):
    script = "import os\nif os.fork() == 0: 1/0\nos.wait()\nraise KeyError('mine')"
    assert run_bootstrap(prepare(tmp_path, script)).report[ERROR_NAME] == b"KeyError"


@pytest.mark.parametrize("size", [0, 4096])
def test_goes_on_with_a_report_too_small(tmp_path, size):
    ours = run_bootstrap(prepare(tmp_path, "import os\nprint(os.dup(0))\n1/0"), report_size=size)
    assert ours.out == b"3\n" and b"ZeroDivisionError" in ours.err and ours.status == 1


def test_goes_on_without_a_report(tmp_path):
    ours = run_bootstrap(prepare(tmp_path, "import os\nprint(os.dup(0))\n1/0"), closed=[3])
    assert ours.out == b"3\n" and b"ZeroDivisionError" in ours.err and ours.status == 1


def test_files_of_the_script_outlive_the_report(tmp_path):
    """The report's mapping once owned the number of the script's first file, and closed it."""
    script = "import sys\nsys.f = open('x.txt', 'w'); sys.f.write('kept')\n%s"
    for end in "", "1/0", "raise SystemExit(3)", "raise KeyboardInterrupt":
        folder = prepare(tmp_path, script % end)
        run_bootstrap(folder)
        assert (folder / "x.txt").read_text() == "kept", end


@pytest.mark.parametrize(
    "script", ["print(__loader__, sorted(globals()))", "1/0", "x = = 1", "import sys; sys.exit(3)"]
)
def test_works_compiled_ahead(tmp_path, script):
    folder = prepare(tmp_path, script)
    plain, ours = run_plain(folder), run_bootstrap(folder, compiled=True)
    assert (ours.status, ours.err) == (plain.status, plain.err)
    assert comparable(ours.out) == comparable(plain.out)


@pytest.mark.parametrize("follow", ["settrace", "setprofile"])
def test_little_of_the_bootstrap_is_followed(tmp_path, follow):
    """A trace function left behind sees where the generator wakes, not all that comes after."""
    script = f"""if 1:
        import sys
        def f(frame, event, _):
            if frame.f_code.co_filename.endswith("bootstrap.py"): sys.__stdout__.write("x")
            return f
        sys.{follow}(f)"""
    assert len(run_bootstrap(prepare(tmp_path, script)).out) <= 20


def test_a_terminal_gets_the_same(tmp_path):
    """With a terminal Python may choose colours; the copy for the report must not change it."""
    def through_terminal(run_one):
        ours, theirs = pty.openpty()
        folder = prepare(tmp_path, f"import os\nos.dup2({theirs}, 2)\n1/0")
        os.set_inheritable(theirs, True)
        run_one(folder)
        os.close(theirs)
        data = os.read(ours, 65536)
        os.close(ours)
        return data

    assert through_terminal(run_bootstrap) == through_terminal(run_plain)
