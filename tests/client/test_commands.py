"""`cloche session`, `files`, `cancel`, `token`: what they ask for, and what they make of answers."""
import json
import os
import re

import pytest
from misbehaving import PROGRAM, problem, reply
from terminal import said_on_terminal

SESSION = {"session": "k\u001b1", "tenant": "default", "profile": "strict", "policy": "ephemeral", "state": "fresh",
           "phase": "active", "run_id": None, "runs": 3, "opened_ms_ago": 61000, "idle_ms": 500, "closes_in_ms": 59500,
           "expires_in_ms": 59500, "created": None, "files": None, "bytes": None, "disk_bytes": None}
NO = problem(404, "not_found")
DONE = reply(b"", "204 No Content", "text/plain")


def targets(at):
    return [b" ".join(request.split(b" ")[:2]).decode() for request in at.requests]


def test_session_ls_and_show(server, command):
    at = server(lambda r: reply({"sessions": [SESSION]}) if b"/sessions HTTP" in r else reply(SESSION))
    done = command("session", "ls", "--server", at.url)
    assert done.status == 0 and b"\x1b" not in done.out and rb"k\x1b1" in done.out
    assert done.out.splitlines()[0].split() == b"SESSION TENANT PROFILE POLICY PHASE BYTES GONE IN RUN".split()
    done = command("session", "show", "--server", at.url, "a b")
    assert b"closes in" in done.out and targets(at)[-1] == "GET /v1/sessions/a%20b"
    stopped = SESSION | {"phase": "stopped", "opened_ms_ago": None, "closes_in_ms": None, "expires_in_ms": 30 * 86400 * 1000}
    done = command("session", "show", "--server", server(reply(stopped)).url, "a")
    assert b"closes in" not in done.out and b"opened" not in done.out and b"gone in    30 d\n" in done.out
    assert command("session", "ls", "--json", "--server", at.url).json == {"sessions": [SESSION]}
    assert command("session", "ls", "--server", server(reply({"sessions": []})).url).out == b""


def test_session_stop_export_and_import(server, command):
    at = server(lambda r: NO if b"/gone" in r else reply(b"a tar", "200 OK", "application/x-tar") if b"/export" in r
                else reply({"skipped": 2 if b"/c/" in r else 0}, "201 Created") if b"/import" in r else DONE)
    assert command("session", "stop", "--server", at.url, "a").status == 0
    assert command("session", "stop", "--server", at.url, "gone").status == 125
    assert command("session", "export", "--server", at.url, "a", "--out", "-").out == b"a tar"
    (command.state / "x.tar").write_bytes(b"bytes")
    done = command("session", "import", "--server", at.url, "--policy", "kept", "b", command.state / "x.tar")
    assert done.status == 0 and not done.said and not done.out
    done = command("session", "import", "--server", at.url, "c", command.state / "x.tar")
    assert done.status == 0 and "x.tar: 2 entries of it were passed over" in done.said
    assert command("session", "import", "--server", at.url, "--json", "c", command.state / "x.tar").json == {"skipped": 2}
    assert targets(at) == ["POST /v1/sessions/a/stop", "POST /v1/sessions/gone/stop", "GET /v1/sessions/a/export",
                           "PUT /v1/sessions/b/import?policy=kept"] + ["PUT /v1/sessions/c/import"] * 2
    assert at.requests[-1].endswith(b"bytes")


def test_session_rm_tells_each_failure(server, command):
    at = server(lambda r: NO if b"/gone" in r else DONE)
    assert command("session", "rm", "--server", at.url, "a", "b").status == 0
    done = command("session", "rm", "--server", at.url, "gone", "c")
    assert done.status == 125 and "gone: it is not_found" in done.said
    assert targets(at) == [f"DELETE /v1/sessions/{key}" for key in ("a", "b", "gone", "c")]


def test_files_ls_follows_the_pages(server, command):
    rows = [{"path": f"f{i}", "size": i, "mime": "text/plain", "mtime": "2026-11-29T18:00:00.000Z"} for i in range(3)]
    odd = {"path": "x\ufffd", "path_b64": "eP8=", "size": 1, "mime": "a/b", "mtime": None}

    def script(request):
        if b"after=x%FF" in request:
            return reply({"files": rows[1:], "next": None, "truncated": True})
        return reply({"files": [rows[0], odd], "next": "x\ufffd", "next_b64": "eP8=", "truncated": False})

    at = server(script)
    done = command("files", "ls", "--server", at.url, "k")
    assert done.status == 0 and [line.split()[-1] for line in done.out.splitlines()] == [b"f0", rb"x\xff", b"f1", b"f2"]
    assert "more files than a list takes" in done.said
    done = command("files", "ls", "--json", "--server", at.url, "k")
    assert len(done.out.splitlines()) == 2


def test_files_get(server, command):
    at = server(lambda r: NO if b"/gone" in r else reply(b"\0\xff", length=9) if b"/cut" in r else reply(b"\0\xff", kind="a/b"))
    assert command("files", "get", "--server", at.url, "k", "d/x", "-o", "-").out == b"\0\xff"
    assert command("files", "get", "--server", at.url, "k", "d/x").status == 0
    assert (command.here / "x").read_bytes() == b"\0\xff"
    done = command("files", "get", "--server", at.url, "k", "d/x")
    assert done.status == 2 and "exists" in done.said and "--out" in done.said
    for name in ("gone", "cut"):
        assert command("files", "get", "--server", at.url, "k", name).status == 125
        assert not (command.here / name).exists()


def test_files_put(server, command):
    at = server(reply(b"", "201 Created", "text/plain"))
    (command.here / "x y").write_bytes(b"12")
    (command.here / "tool").write_bytes(b"#!")
    (command.here / "tool").chmod(0o755)
    (command.here / "empty").write_bytes(b"")
    assert command("files", "put", "--server", at.url, "k", "x y").status == 0
    assert command("files", "put", "--server", at.url, "k", "tool", "bin/t", "-p", "roomy").status == 0
    assert command("files", "put", "--server", at.url, "k", "empty", "--policy", "kept").status == 0
    assert targets(at) == ["PUT /v1/sessions/k/files/x%20y", "PUT /v1/sessions/k/files/bin/t?executable=true&profile=roomy",
                           "PUT /v1/sessions/k/files/empty?policy=kept"]
    assert at.requests[0].endswith(b"\r\n\r\n12") and b"\r\nContent-Length: 0\r\n" in at.requests[2]
    os.mkfifo(command.here / "fifo")
    for name in ("fifo", ".", "none"):
        assert command("files", "put", "--server", at.url, "k", name).status == 2


def test_files_put_that_is_refused_at_once(server, command):
    (command.here / "big").write_bytes(b"x" * (30 << 20))
    done = command("files", "put", "--server", server(problem(401, "unauthorized")).url, "k", "big")
    assert done.status == 125 and "unauthorized" in done.said


def test_files_rm_and_cancel(server, command):
    at = server(lambda r: NO if b"gone" in r else DONE)
    assert command("files", "rm", "--server", at.url, "k", "a", "b/c").status == 0
    done = command("files", "rm", "--server", at.url, "k", "gone", "d")
    assert done.status == 125 and "gone: it is not_found" in done.said
    assert command("cancel", "--server", at.url, "r1").status == 0
    assert command("cancel", "--json", "--server", at.url, "gone").json["code"] == "not_found"
    assert targets(at) == ["DELETE /v1/sessions/k/files/a", "DELETE /v1/sessions/k/files/b/c",
                           "DELETE /v1/sessions/k/files/gone", "DELETE /v1/sessions/k/files/d",
                           "POST /v1/runs/r1/cancel", "POST /v1/runs/gone/cancel"]


DONE_LINES = [
    (["session", "stop", "a"], "stopped a"), (["session", "rm", "a", "b"], "removed a\ncloche: removed b"),
    (["session", "export", "a"], "wrote a.tar"), (["session", "import", "a", "x y"], "imported a"), (["session", "ls"], "no sessions"),
    (["files", "put", "k", "x y"], "stored x y"), (["files", "get", "k", "d/f\x1b"], "wrote f\\x1b"), (["files", "ls", "k"], "the session has no files"),
    (["files", "rm", "k", "d/f"], "removed d/f"), (["cancel", "r1"], "cancelled r1"),
]


@pytest.mark.parametrize("words, line", DONE_LINES)
def test_a_terminal_is_told_what_was_done(server, command, words, line):
    bodies = {b"/export ": reply(b"a tar", "200 OK", "application/x-tar"), b"/import ": reply({"skipped": 0}, "201 Created"),
              b"GET /v1/sessions ": reply({"sessions": []}), b"/files ": reply({"files": [], "next": None, "truncated": False}),
              b"GET /v1/sessions/k/files/": reply(b"x", kind="a/b")}
    at = server(lambda r: next((body for part, body in bodies.items() if part in r), DONE))
    (command.here / "x y").write_bytes(b"1")
    argv = [*words, "--server", at.url]
    made = command.here / (words[-1].split("/")[-1] + (".tar" if "export" in words else ""))
    assert said_on_terminal([PROGRAM, *argv], cwd=command.here) == (0, f"cloche: {line}\n")
    if words[1] in ("get", "export"):
        made.unlink()
    done = command(*argv)
    assert (done.status, done.said) == (0, ""), "nobody looks"
    if words[1] in ("get", "export"):
        made.unlink()
    assert said_on_terminal([PROGRAM, *argv, "--json"], cwd=command.here) == (0, "")


@pytest.mark.parametrize("words", [
    ["session"], ["session", "what"], ["session", "show"], ["session", "ls", "x"], ["files"], ["files", "ls"],
    ["files", "get", "k"], ["files", "put", "k"], ["files", "rm", "k"], ["files", "what", "k"], ["cancel"],
    ["session", "ls", "--what"], ["session", "ls", "--server"], ["session", "ls", "-o", "x"], ["session", "import", "k"],
    ["session", "export"], ["session", "stop"], ["session", "rm", "k", "--policy", "kept"], ["token"],
    ["token", "add"], ["token", "add", "--tenant", "a b"], ["token", "add", "--tenant", "a", "--profiles", "none"], ["token", "add", "--tenant", "a", "--scope", "root"],
    ["token", "rm"], ["token", "what"], ["token", "ls", "x"], ["token", "ls", "--state", "/nonexistent"]])
def test_mistakes(command, words):
    done = command(*words)
    assert done.status == 2 and done.said.startswith("cloche: ") and not done.out
    assert done.said.count("\n") == 1


@pytest.mark.parametrize("name", ["session", "files", "cancel", "token", "up", "run"])
def test_help(command, name):
    done = command(name, "--help")
    assert done.status == 0 and done.out.startswith(b"Usage: cloche " + name.encode()) and not done.said
    assert command("help", name).out == done.out


def test_tokens_come_and_go(command):
    at = ["--state", command.state]
    done = command("token", "ls", *at)
    assert done.out == b"" and f"the token in the file {command.state}/token holds" in done.said
    assert command("token", "ls", *at, "--json").said == ""
    made = command("token", "add", *at, "--tenant", "a", "--profiles", "strict,roomy", "--json").json
    plain = command("token", "add", *at, "--tenant", "b", "--scope", "run,admin")
    assert re.fullmatch(rb"[a-z2-7]{52}\n", plain.out) and plain.out.decode().strip() not in plain.said
    file = command.state / "tokens"
    assert file.stat().st_mode & 0o777 == 0o600
    assert made["token"] not in file.read_text()
    file.write_text("# ours\n\n" + file.read_text())
    rows = command("token", "ls", *at, "--json").json["tokens"]
    assert [(row["tenant"], row["scope"], row["profiles"]) for row in rows] == [("a", "run", "strict,roomy"), ("b", "run,admin", "*")]
    assert command("token", "rm", *at, made["id"]).status == 0
    assert file.read_text().startswith("# ours\n\n")
    head, row = command("token", "ls", *at).out.decode().splitlines()
    assert head.split() == "ID CREATED SCOPE TENANT POLICY PROFILES".split()
    assert "holds too" in command("token", "ls", *at).said
    assert row.split()[0] == rows[1]["id"] and row.split()[2:] == ["run,admin", "b", "ephemeral", "*"]
    again = command("token", "rm", *at, made["id"])
    assert again.status == 2 and "no token" in again.said
    assert command("token", "rm", *at, "# ours").status == 2
    assert sorted(path.name for path in command.state.iterdir()) == ["token", "tokens"]
    (command.state / "token").unlink()
    command("token", "rm", *at, rows[1]["id"])
    assert "cloche token add" in command("token", "ls", *at).said


def test_a_broken_file_of_tokens_is_left_alone(command):
    (command.state / "tokens").write_text("nonsense\n")
    done = command("token", "add", "--state", command.state, "--tenant", "a")
    assert done.status == 125 and "line 1" in done.said
    assert (command.state / "tokens").read_text() == "nonsense\n"


def test_a_folder_that_others_may_write_is_refused(command):
    command.state.chmod(0o777)
    assert command("token", "add", "--state", command.state, "--tenant", "a").status == 2


def test_the_socket_of_the_state_directory_is_the_default(server, command):
    at = server(reply({"sessions": []}), unix=str(command.state / "supervisor.sock"))
    assert command("session", "ls", "--state", command.state).status == 0
    assert len(at.requests) == 1
    json.loads(command("session", "ls", "--state", command.state, "--json").out)
