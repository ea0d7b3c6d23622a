"""`cloche run --server` does what a run here does."""
import json
import os
import signal
import subprocess
import threading
import time

import pytest
from misbehaving import ANSWER, PROGRAM, TOKEN, answer, end, events, hang, reply, run_of

STARTED = ("started", {"run_id": "r", "session": "s", "session_state": "new"})


def routes(whole, files=None, before=(STARTED, ("stdout", {"text": "42\n"}))):
    """A supervisor of one run: PUT, the run, GET of files, DELETE."""
    files = files or {}

    def script(request):
        method, target = request.split(b" ")[:2]
        if method == b"POST" and target.endswith(b"/run"):
            return run_of(whole, *before)(request)
        if method == b"GET":
            name = target.rpartition(b"/files/")[2]
            if name in files:
                return reply(files[name], kind="application/octet-stream")
            return reply({"code": "not_found", "status": 404, "detail": "gone"}, "404 X", "application/problem+json")
        return reply(b"", "201 Created" if method == b"PUT" else "204 X", kind="text/plain")

    return script


def body_of(request):
    return json.loads(request.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize("whole, status", [
    (ANSWER, 0),
    (answer(end=end("exit", 3)), 3),
    (answer(end=end("signal", signal="SIGSEGV")), 139),
    (answer(end=end("signal", signal="signal 40")), 168),
    (answer(end=end("timeout")), 124),
    (answer(end=end("memory")), 137),
    (answer(end=end("cancelled")), 130),
])
@pytest.mark.parametrize("form", [["--json"], []])
def test_the_exit_status_tells_the_end(server, run, whole, status, form):
    done = run(server(routes(whole)), *form)
    assert done.status == status, done
    if form:
        assert done.json == whole and not done.said
    else:
        assert done.out == b"42\n"
        assert (whole["end"]["text"] in done.said) == (status != 0)


def test_what_is_asked_for(server, run):
    at = server(routes(ANSWER))
    done = run(at, "-l", "bash", "-t", "2.5", "-p", "roomy", "-e", "A=b=c", code=b"echo hi\r\n")
    request, close = at.requests
    assert request.startswith(b"POST /v1/sessions/run-") and close.startswith(b"DELETE /v1/sessions/run-")
    body = body_of(request)
    assert len(body.pop("run_id")) == 20
    assert body == {"language": "bash", "code": "echo hi\n", "profile": "roomy", "timeout_ms": 2500, "args": [],
                    "env": {"A": "b=c"}, "files": []}
    assert f"Authorization: Bearer {TOKEN}".encode() in request


def test_what_is_not_asked_for_is_the_sessions_or_the_servers(server, run):
    """A profile that nobody named was refused for a session of another one."""
    at = server(routes(ANSWER))
    assert run(at).status == 0
    assert not body_of(at.requests[0]).keys() & {"profile", "timeout_ms"}
    assert run(at, "-t", "100").status == 0  # more than strict allows, but not more than any profile
    assert body_of(at.requests[2])["timeout_ms"] == 100_000
    done = run(at, "-t", "121")
    assert done.status == 2 and "no profile allows more than 120 seconds" in done.said


def test_remedy_of_a_session_whose_profile_nobody_tells(server, run):
    done = run(server(routes(answer(end=end("memory")))))
    assert done.status == 137 and "--profile" not in done.said


def test_arguments_and_input(server, command, run):
    at = server(routes(ANSWER))
    (command.here / "x.py").write_text("1")
    (command.here / "input").write_text("grüße")
    done = command("run", "--server", at.url, "-i", "input", "x.py", "--", "a", "--b")
    assert done.status == 0, done
    body = body_of(at.requests[0])
    assert body["args"] == ["a", "--b"] and body["stdin"] == "grüße"
    (command.here / "input").write_bytes(b"\xff")
    done = command("run", "--server", at.url, "-i", "input", "x.py")
    assert done.status == 2 and "input is not UTF-8" in done.said


def test_files_go_in_and_come_out(server, command, run):
    (command.here / "a b.csv").write_bytes(b"\0" * 100_000)
    (command.here / "out").mkdir()
    (command.here / "out" / "made.txt").write_text("mine")
    files = [{"path": "made.txt", "size": 3, "mime": "text/plain", "change": "created"},
             {"path": "deep/x\ufffd", "path_b64": "ZGVlcC94/w==", "size": 1, "mime": None, "change": "modified"},
             {"path": "a b.csv", "size": 0, "mime": None, "change": "deleted"}]
    at = server(routes(answer(files=files), {b"made.txt": b"new", b"deep/x%FF": b"!"}))
    done = run(at, "-f", "a b.csv")
    assert done.status == 0, done
    put = at.requests[0]
    assert b"/files/a%20b.csv" in put.split(b"\r\n")[0] and put.endswith(b"\0" * 100_000)
    assert (command.here / "out" / "made.txt").read_text() == "mine"
    assert (command.here / "out" / "made (2).txt").read_text() == "new"
    assert (command.here / "out" / "deep" / os.fsdecode(b"x\xff")).read_text() == "!"
    assert "wrote out/made (2).txt" in done.said
    done = run(at, "--json")
    assert [file.get("saved") for file in done.json["files"]][2] is None
    assert done.json["files"][0]["saved"] == "out/made (3).txt"


def test_a_file_that_is_gone_or_cut_is_said(server, command, run):
    files = [{"path": "gone", "size": 3, "mime": None, "change": "created"}]
    done = run(server(routes(answer(files=files))))
    assert done.status == 125 and "gone: not saved" in done.said
    def cut(request):
        return reply(b"ab", length=5) if request.startswith(b"GET") else routes(answer(files=files))(request)
    done = run(server(cut))
    assert done.status == 125 and "cut" in done.said and not list(command.here.glob("out/*"))


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a//b", "a/./b"])
def test_a_path_that_leads_out_is_not_followed(server, command, run, path):
    files = [{"path": path, "size": 1, "mime": None, "change": "created"}]
    at = server(lambda r: reply(b"!", kind="a/b") if r.startswith(b"GET") else routes(answer(files=files))(r))
    done = run(at)
    assert done.status == 125 and "not saved" in done.said
    assert not (command.here.parent / "x").exists()


def test_a_session_that_was_named_stays(server, run):
    at = server(routes(ANSWER))
    assert run(at, "--session", "chat:1").status == 0
    assert [request.split(b" ")[:2] for request in at.requests] == [[b"POST", b"/v1/sessions/chat%3A1/run"]]


def test_the_policy_is_asked_of_the_upload_and_of_the_run(server, command, run):
    (command.here / "a").write_text("1")
    at = server(routes(ANSWER))
    assert run(at, "--session", "k", "--policy", "kept", "-f", "a").status == 0
    assert at.requests[0].split(b" ")[1] == b"/v1/sessions/k/files/a?policy=kept"
    assert body_of(at.requests[1])["policy"] == "kept"
    assert run(at, "--session", "k").status == 0 and "policy" not in body_of(at.requests[2])


@pytest.mark.parametrize("name, value, words, hint", [
    ("FileNotFoundError", "no", ["--session", "k"], "`cloche files ls k` lists what is there"),
    ("FileNotFoundError", "no", [], "the script sees none of your files"),
    ("OSError", "[Errno 101] Network is unreachable", [], "a jail has no network"),
    ("OSError", "[Errno 5] Input/output error", [], None),
])
def test_what_is_missing_there_is_hinted_at(server, run, name, value, words, hint):
    error = {"name": name, "value": value, "traceback": ""}
    done = run(server(routes(answer(outcome="error", end=end("exit", 1), error=error))), *words)
    last = done.said.splitlines()[-1]
    assert done.status == 1 and last.startswith(f"cloche: {hint}" if hint else "it ended"), done.said


def test_what_the_session_lost_is_said(server, run):
    lost = {"reason": "idle", "lost": ["x", "y\x1b", "files"]}
    done = run(server(routes(answer(reset=lost, session_state="reset"))), "--session", "k")
    assert done.status == 0 and r"the session began anew (idle); lost: x, y\x1b, files" + "\n" in done.said
    lost = {"reason": "memory", "lost": ["name_of_some_length"] * 200}
    said = run(server(routes(answer(reset=lost, session_state="reset"))), "--session", "k").said
    assert "name_of_some_length and " in said and said.count("name_of_some_length") < 100
    assert "anew" not in run(server(routes(ANSWER)), "--session", "k").said


def test_the_token_of_this_machine_stays_here(server, command):
    at = server(routes(ANSWER))
    port = at.url.rpartition(":")[2]
    done = command("run", "--server", f"http://localhost.:{port}", "--state", command.state, "-", stdin=b"1")
    for request in at.requests:
        assert b"Authorization" not in request
    (command.here / "t").write_text("other")
    done = command("run", "--server", at.url, "--token-file", "t", "-", stdin=b"1")
    assert done.status == 0 and b"Bearer other\r\n" in at.requests[-1]


def test_a_unix_socket(server, command, tmp_path):
    at = server(routes(ANSWER), unix=str(tmp_path / "s.sock"))
    assert command("run", "--server", at.url, "-", stdin=b"1").out == b"42\n"


def test_nul_and_long_output(server, run):
    text = "a\0b\n" * 100
    done = run(server(routes(answer(stdout={"text": text, "bytes": 400, "dropped": 0}),
                             before=(STARTED, ("stdout", {"text": text})))))
    assert done.status == 0 and done.out == text.encode()
    done = run(server(routes(answer(stdout={"text": "x", "bytes": 5000, "dropped": 4999}))))
    assert "3 of 5000 bytes were sent" in done.said


def test_events_without_chunks(server, run):
    assert run(server(events(STARTED, ("stdout", {"text": "hi"}), ("end", ANSWER), chunked=False))).out == b"hi"


@pytest.mark.parametrize("form", [["--json"], []])
def test_ctrl_c_cancels_by_the_runs_id(server, command, form):
    cancelled = threading.Event()

    def script(request):
        if request.split(b" ")[1].endswith(b"/cancel"):
            cancelled.set()
            return reply(b"", "202 Accepted", kind="text/plain")
        if not request.startswith(b"POST"):
            return reply(b"", "204 X", kind="text/plain")

        def parts():
            cancelled.wait(30)
            yield run_of(answer(end=end("cancelled", text="cancelled")))(request)
        return parts()

    at = server(script)
    child = subprocess.Popen([PROGRAM, "run", "--server", at.url, *form, "-"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=command.here)
    child.stdin.write(b"1")
    child.stdin.close()
    deadline = time.monotonic() + 10
    while not at.requests and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 130
    run_id = body_of(at.requests[0])["run_id"].encode()
    assert at.requests[1].startswith(b"POST /v1/runs/" + run_id + b"/cancel")


def test_ctrl_c_twice_gives_up(server, command):
    def script(request):
        if request.split(b" ")[1].endswith(b"/cancel"):
            return reply(b"", "202 Accepted", kind="text/plain")
        return hang(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n") if request.startswith(
            b"POST") else reply(b"", "204 X", kind="text/plain")

    at = server(script)
    child = subprocess.Popen([PROGRAM, "run", "--server", at.url, "-"], stdin=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, cwd=command.here)
    child.stdin.write(b"1")
    child.stdin.close()
    while not at.requests:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    assert child.wait(10) == 130


@pytest.mark.parametrize("words", [
    ["--server", "x"], ["--server", "ftp://a"], ["--server", "http://u:p@h"], ["--server", "unix:relative"],
    ["--server", "http://h", "--rootfs", "/"], ["--server", "http://h", "--unlimited-host"],
    ["--server", "http://h", "--policy", "kept"], ["--server", "http://h", "--session", "a", "--policy", "ever"],
    ["--server", "http://h", "--session", "a", "--state", "live"], ["--server", "http://h", "--live"],
    ["--session", "a"], ["--token-file", "/dev/null"], ["--server", "http://h", "--session", "a/b"],
    ["--server", "http://127.0.0.1:1", "--token-file", "/nonexistent"],
])
def test_mistakes_in_the_command_line(command, words):
    done = command("run", *words, "-", stdin=b"1")
    assert done.status == 2 and done.said.startswith("cloche: ") and not done.out
