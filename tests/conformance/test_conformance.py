"""The same script by a started interpreter and by a copy of a prepared one: same output, same end, same files."""
import itertools
import os
import re
import struct
import subprocess

import bootstrap_cases
import conformance_cases
import pytest
import wire
from wire import End

_numbers = itertools.count()

# What is not the same, and why. docs/performance.md tells people of it.
DIFFERENT = {
    "modules": "more of them are loaded",
    "modules order": "more of them are loaded",
    "importer cache": "more folders have been looked at",
    "builtins broken, end": "loaded modules have code of their own for the end: threading",
}
# Of the other suite's cases, every fourth; all of them in long runs.
OTHERS = bootstrap_cases.CASES if os.environ.get("CLOCHE_LONG") == "1" else bootstrap_cases.CASES[::4]
CASES = [case for case in OTHERS + conformance_cases.CASES
         if not set(case[2]) & {"closed", "python", "env"} and case[0] not in DIFFERENT]

# Not the same outside of a jail, on purpose.
JAIL_ONLY = {
    "ids": "a pid namespace of its own",
    "umask and folder": "plain Python's script lies in its folder",
    "environment": "set by the shell as well",
    "environment of a child": "set by the shell as well",
    "limits": "a cell's",
    "processors": "one, of a cell",
    "capabilities": "the bounding set is empty in a cell",
    "seeking": "stdin is a file there, a pipe here",
    "user site": "the folders that the test makes have other modes",
}
PLAIN = [case for case in conformance_cases.CASES if case[0] not in DIFFERENT and case[0] not in JAIL_ONLY]


def comparable(data):
    """Without what differs between two runs of one interpreter: addresses, process and thread numbers, times, names."""
    data = re.sub(rb"0x[0-9a-f]{6,}|refcount : \d+", b"0x", data)
    data = re.sub(rb"/tmp/(tmp|pymp-)[a-z0-9_]+", b"/tmp/T", data)
    data = re.sub(rb"cloche_zygote|in \d\.\d+ seconds|\b0\.0\d\d\b", b"", data)
    return re.sub(rb"pid=\d+|ident=\d+|started \d+|Thread-\d+|ForkPoolWorker-\d+|process \d+", b"id", data)


def files_of(jaild, session):
    found = {}
    for path, entry in jaild.list(session)[1].items():
        name = path.decode(errors="replace")
        content = jaild.file_read(session, name) if entry["kind"] == "file" else b""
        if name.endswith(".db"):
            content = b""
        found[name] = (entry["kind"], entry["mode"], content)
    # caches of compiled modules and of fonts, which a prepared interpreter has in its memory
    return {name: row for name, row in found.items() if not re.match(r"(.*__pycache__|\.cache|\.config)", name)}


def run(jaild, script, options, warm):
    session = jaild.open(f"c{next(_numbers)}")
    try:
        for name, text in options.get("files", {}).items():
            folder = name.rpartition("/")[0]
            if folder:
                jaild.make(session, wire.MAKE_FOLDER, folder, mode=0o755)
            jaild.file_put(session, name, text.encode())
        started = jaild.run(session, script, args=options.get("arguments", ()), stdin=options.get("stdin"), warm=warm)
        out, err = started.both()
        ended = started.ended()
        report = {tag: comparable(text.encode()) for tag, text in wire.report_read(started.report).items()}
        started.close()
        jaild.runs.remove(started)
        return {"end": End(ended["end"]), "code": ended["code"], "out": comparable(out), "err": comparable(err),
                "files": files_of(jaild, session), "report": report}
    finally:
        jaild.close(session)



# The way of a fresh interpreter outside of any jail: same user, home, variables; what it prints of its file is main.py.
PLAIN_SETUP = """
mount -t tmpfs -o mode=0755 t /mnt && mkdir /mnt/data || exit 99
cp -r "$1/." /mnt/data && chown -R 65534:65534 /mnt/data && cd /mnt/data || exit 99
shift
env -i $VARIABLES setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs /usr/bin/python3 main.py "$@"
status=$?
cp -a /mnt/data/. "$OUT/"
exit $status
"""
VARIABLES = ("PATH=/usr/local/bin:/usr/bin:/bin HOME=/mnt/data USER=sandbox LANG=C.UTF-8 TZ=UTC TMPDIR=/tmp MPLBACKEND=Agg "
             "MPLCONFIGDIR=/mnt/data/.config/matplotlib XDG_CACHE_HOME=/mnt/data/.cache PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1 "
             "OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMEXPR_NUM_THREADS=1 VECLIB_MAXIMUM_THREADS=1 PYTHON_CPU_COUNT=1")


def run_plain(folder, script, options):
    """As run(), without the report."""
    before, after = folder / "before", folder / "after"
    before.mkdir(), after.mkdir()
    for name, text in options.get("files", {}).items():
        (before / name).parent.mkdir(parents=True, exist_ok=True)
        (before / name).write_text(text)
    (before / "main.py").write_bytes(script)
    done = subprocess.run(["unshare", "--mount", "sh", "-c", PLAIN_SETUP, "sh", before, *options.get("arguments", ())],
                          input=options.get("stdin") or b"", capture_output=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "VARIABLES": VARIABLES, "OUT": str(after)})
    end, code = End.EXIT, done.returncode
    if 128 < code <= 128 + 64:
        end, code = End.SIGNAL, code - 128
    out, err = (text.replace(b"/mnt/data/main.py", b"main.py") for text in (done.stdout, done.stderr))
    err = re.sub(rb"(?m)^(Aborted|Terminated|Segmentation fault)( \(core dumped\))?\n\Z", b"", err)  # the shell's
    files = {}
    for path in after.rglob("*"):
        name, mode = str(path.relative_to(after)), path.lstat().st_mode
        if not re.match(r"(.*__pycache__|\.cache|\.config|main\.py$)", name):
            content = b"" if path.is_dir() or name.endswith(".db") else path.read_bytes()
            files[name] = ("folder" if path.is_dir() else "file", mode & 0o7777, content)
    return {"end": end, "code": code, "out": comparable(out), "err": comparable(err), "files": files, "report": None}


def as_plain(result):
    """What the jail's run says, with the script's name as plain Python has it, and without the report."""
    named = {key: result[key].replace(b"/run/cloche/main.py", b"main.py") for key in ("out", "err")}
    return {**result, **named, "report": None}


@pytest.mark.parametrize("name, script, options", PLAIN, ids=[case[0] for case in PLAIN])
def test_warm_is_as_plain(warm, tmp_path, name, script, options):
    """Outcome, both streams, files: as `python3 main.py` outside of any jail; cold is as warm (below)."""
    os.chmod(tmp_path, 0o755)
    plain = run_plain(tmp_path, script, options)
    assert as_plain(run(warm, script, options, options.get("kind", "small"))) == plain


@pytest.mark.parametrize("name, script, options", CASES, ids=[case[0] for case in CASES])
def test_warm_is_as_cold(warm, name, script, options):
    kind = options.get("kind", "small")
    before = warm.zygotes()[kind]
    cold = run(warm, script, options, "none")
    assert run(warm, script, options, kind) == cold
    after = warm.zygotes()[kind]
    assert after["copies"] > before["copies"] and after["generation"] == before["generation"]


def test_there_are_some_hundred_cases():
    assert len(CASES) > (400 if OTHERS is bootstrap_cases.CASES else 200)
