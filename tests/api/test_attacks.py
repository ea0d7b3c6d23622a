"""The ideas of tests/attack again, this time by POST run: a sample in every run, all of them with CLOCHE_LONG=1."""
import base64
import itertools
import json
import os
import socket
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from service import Background, Service, make_pen, until

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "attack"))
from idea import read_all  # noqa: E402
from judge import check_end, check_secrets, compile_program  # noqa: E402
from runner import ENV_SECRET, FILE_SECRET, SECRET_FILE, Run  # noqa: E402

IDEAS = read_all()
SAMPLE = {"bomb_fork", "caps_empty", "col_fifos", "col_hardlinks", "col_names", "col_symlinks", "env_names", "env_bash",
          "fds_open", "fds_standard", "filter_unknown", "fs_hardlinks", "fs_host_paths", "id_numbers", "init_process",
          "kill_all", "mem_anonymous", "mount_old", "net_none", "ns_unshare", "out_binary", "out_flood", "out_forged_end",
          "outlive_daemon", "proc_absent", "ptrace_all", "unix_sockets"}
CASES = [pytest.param(idea, id=idea.name, marks=() if idea.name in SAMPLE else pytest.mark.long) for idea in IDEAS]
FILES_LOOKED_AT = 30
TARGET_MAX_BYTES = 8 << 10  # a longer address is 414: each odd byte of a name takes three in it
_keys = itertools.count(1)


@pytest.fixture(scope="module")
def hunted(programs, tmp_path_factory):
    """A service whose environment and whose host hold secrets."""
    if not SECRET_FILE.exists():
        SECRET_FILE.write_text(FILE_SECRET)
        SECRET_FILE.chmod(0o600)
    pen = make_pen("attacks")
    os.environ["SECRET_TOKEN"] = ENV_SECRET
    try:
        made = Service(pen, tmp_path_factory.mktemp("attacks"))
        yield made
        made.stop()
    finally:
        del os.environ["SECRET_TOKEN"]
        pen.close()
        SECRET_FILE.unlink(missing_ok=True)


def fields_of(idea, folder):
    """The options of `cloche run` in the idea's header as fields of a run request."""
    header = idea.header
    fields = {"timeout_ms": int(float(header.get("timeout", "15")) * 1000)}
    if "profile" in header:
        fields["profile"] = header["profile"]
    if "stdin" in header:
        fields["stdin"] = header["stdin"] + "\n"
    if "args" in header:
        values = {"hostname": socket.gethostname(), "secret": ENV_SECRET[::-1]}
        fields["args"] = header["args"].format(**values).split()
    if "program" in header:
        content = compile_program(header["program"], folder).read_bytes()
        fields["files"] = [{"path": header["program"].removesuffix(".c"), "base64": base64.b64encode(content).decode()}]
    return fields


def check_files(api, key):
    """What the files' routes give out afterwards: regular files without anything of the host."""
    problems = []
    listed = api.get(f"/v1/sessions/{key}/files")
    assert listed.status == 200, listed
    for row in listed.json["files"][:FILES_LOOKED_AT]:
        path = base64.b64decode(row["path_b64"]) if "path_b64" in row else row["path"]
        if row["size"] > 1 << 20:
            continue
        response = api.file(key, path)
        if response.status == 414 and len(quote(path)) > TARGET_MAX_BYTES - 200:
            continue
        if response.status != 200:
            problems.append(f"listed, but {response.status}: {path!r}")
        elif FILE_SECRET.encode() in response.body or b"root:x:0:" in response.body and b"/root:/bin/bash" in response.body:
            problems.append(f"a file of the host as {path!r}")
    return problems


@pytest.mark.parametrize("idea", CASES)
def test_idea_over_http(idea, hunted, tmp_path):
    api, key = hunted.api, f"idea-{next(_keys)}"
    within = int(idea.header.get("within", 40))
    if "program" in idea.header:  # executable: uploads may say so, inline files cannot
        fields = fields_of(idea, tmp_path)
        file = fields.pop("files")[0]
        profile = f"&profile={fields['profile']}" if "profile" in fields else ""
        assert api.file(key, file["path"], "PUT", base64.b64decode(file["base64"]), f"?executable=true{profile}").status == 201
    else:
        fields = fields_of(idea, tmp_path)
    response = api.run(key, idea.script, language=idea.language, timeout=within, **fields)
    assert response.status == 200, response
    run = Run(0, response.body, b"", 0, None, response.json)
    problems = check_end(idea, run) + check_secrets(run) + check_files(api, key)
    assert api.token.encode() not in response.body
    assert api.delete(f"/v1/sessions/{key}").status == 204
    until(lambda: len(hunted.pids("cloche-init")) <= 1)
    assert not problems, "\n".join(problems) + "\n" + json.dumps(run.answer)[:4000]


def test_a_neighbour_notices_nothing(hunted):
    """While a bomb and an eater of memory run beside it, a session's files and processes are its own."""
    api = hunted.api
    api.file("quiet", "x", "PUT", b"mine")
    noise = [Background(api.run, f"noise{i}", code, timeout_ms=3000) for i, code in enumerate([
        "import os\nwhile 1:\n try: os.fork()\n except OSError: pass", "b=[]\nwhile 1: b.append(bytearray(10**7))"])]
    for _ in range(5):
        answer = api.answer("quiet", "print(open('x').read())")
        assert answer["stdout"]["text"] == "mine\n"
    for one in noise:
        assert one.result().json["outcome"] in ("killed", "timeout")
    for key in ("quiet", "noise0", "noise1"):
        assert api.delete(f"/v1/sessions/{key}").status == 204
