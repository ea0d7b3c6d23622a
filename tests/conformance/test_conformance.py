"""The same script by a started interpreter and by a copy of a prepared one: same output, same end, same files."""
import itertools
import os
import re
import struct

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
