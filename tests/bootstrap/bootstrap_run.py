"""Runs a script by plain Python and by the bootstrap, outside the jail, and reads the report."""
import dataclasses
import os
import pathlib
import re
import resource
import signal
import subprocess

PYTHON = os.environ.get("CLOCHE_PYTHON", "/usr/bin/python3")
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "zygote" / "bootstrap.py"
REPORT_SIZE = 1024 * 1024
ERROR_NAME, ERROR_VALUE, ERROR_TRACEBACK, RESULT, ADVICE = 1, 2, 3, 4, 5
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
}


@dataclasses.dataclass
class Run:
    status: int  # negative: minus the signal
    out: bytes
    err: bytes
    report: dict = dataclasses.field(default_factory=dict)  # tag -> bytes, of the last record
    results: list = dataclasses.field(default_factory=list)  # (mime, "text" or "path", bytes, is main)


def adapted(folder, argv0):
    """The bootstrap's text with the jail's paths replaced by those of a test."""
    text = SOURCE.read_text()
    for name, value in {
        "SCRIPT": f"{folder}/main.py",
        "HOME": str(folder),
        "ARGV0": argv0,
        "PARTS": str(SOURCE.parent),
    }.items():
        text, count = re.subn(rf"(?m)^{name} = .*$", f"{name} = {value!r}", text)
        assert count == 1, name
    return text


def run(command, folder, *, stdin=b"", env=None, closed=(), report=None, python=()):
    """Runs it in the folder, with a report's descriptor as 3 if given one."""

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if report is not None:
            os.dup2(report, 3)
        for fd in closed:
            os.close(fd)

    ended = subprocess.run(
        [PYTHON, *python, *command],
        cwd=folder,
        input=stdin,
        env=ENVIRONMENT | (env or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        close_fds=False,
        preexec_fn=prepare,
        timeout=20,
    )
    return Run(ended.returncode, ended.stdout, ended.stderr)


def read_report(fd):
    data = os.pread(fd, REPORT_SIZE, 0)
    records, results, at = {}, [], 0
    while data[at]:
        size = int.from_bytes(data[at + 1 : at + 5], "little")
        record = data[at + 5 : at + 5 + size]
        if data[at] == RESULT:
            mime, value = record[2 : 2 + record[1]], record[2 + record[1] :]
            results.append((mime.decode(), "path" if record[0] & 2 else "text", value, bool(record[0] & 1)))
        else:
            records[data[at]] = record
        at += 5 + size
    return records, results


def run_plain(folder, arguments=(), **options):
    return run([f"{folder}/main.py", *arguments], folder, **options)


def run_bootstrap(folder, arguments=(), report_size=REPORT_SIZE, compiled=False, **options):
    """The way of the jail. Its own file lies beside the folder."""
    own = folder.parent / "bootstrap.py"
    own.write_text(adapted(folder, f"{folder}/main.py"))
    if compiled:
        source, own = own, own.with_suffix(".pyc")
        code = f"import py_compile; py_compile.compile({str(source)!r}, {str(own)!r}, doraise=True)"
        subprocess.run([PYTHON, "-c", code], check=True)
    report = os.memfd_create("report")
    try:
        os.ftruncate(report, report_size)
        result = run([str(own), *arguments], folder, report=report, **options)
        if report_size == REPORT_SIZE:
            result.report, result.results = read_report(report)
        return result
    finally:
        os.close(report)
