"""S17: the client module, call by call, through a small program; errors by their names."""
import json
import os
import subprocess
from pathlib import Path

import pytest
from misbehaving import ANSWER, answer, drip, end, events, hang, problem, reply

DRIVER = Path(os.environ.get("CLOCHE_CLIENT_DRIVER", Path(__file__).resolve().parents[2] / "build/tests/client/client-driver"))


def drive(url, verb, *words, token="t"):
    done = subprocess.run([DRIVER, url, token, verb, *words], capture_output=True, text=True, timeout=30, check=False)
    assert not done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("verb, target", [("health", b"/health"), ("ready", b"/ready"), ("info", b"/v1/info")])
def test_status_calls(server, verb, target):
    at = server(reply({"status": "ok"}))
    assert drive(at.url, verb) == ['{"status":"ok"}', "returned 0"]
    head = at.requests[0].split(b"\r\n")
    assert head[0] == b"GET " + target + b" HTTP/1.1" and b"Authorization: Bearer t" in head
    drive(at.url, verb, token="-")
    assert b"Authorization" not in at.requests[1]
    lines = drive(server(problem(503, "sandbox_unavailable", stage="canary")).url, verb)
    assert lines == ["told sandbox_unavailable: it is sandbox_unavailable", "returned EREMOTEIO"]


def test_head_of_a_file(server):
    at = server(reply(b"", kind="image/png", length=12345))
    assert drive(at.url, "head", "k", "a b/c") == ["12345 image/png", "returned 0"]
    assert at.requests[0].startswith(b"HEAD /v1/sessions/k/files/a%20b/c HTTP/1.1")
    assert drive(server(reply(b"", "404 X", "application/problem+json", length=80)).url, "head", "k", "x")[-1] == "returned EPROTO"


@pytest.mark.parametrize("script, name", [
    (lambda r: hang(), "ETIMEDOUT"),
    (lambda r: drip(reply({}), 0.3), "ETIMEDOUT"),
    (lambda r: hang(b"HTTP/1.1 200 OK\r\n"), "ETIMEDOUT"),
    (lambda r: b"", "ECONNRESET"),
    (lambda r: reply({}, length=99), "ECONNRESET"),
    (lambda r: reply(b"{"), "EPROTO"),
    (lambda r: reply({}, kind="text/plain"), "EPROTO"),
    (lambda r: reply({}, "302 X"), "EPROTO"),
    (lambda r: reply(b" " * (13 << 20)), "EMSGSIZE"),
    (lambda r: problem(429, "sandbox_busy"), "EREMOTEIO"),
])
def test_errors_by_name(server, script, name):
    assert drive(server(script).url, "info")[-1] == f"returned {name}"


def test_nobody_listens():
    assert drive("http://127.0.0.1:1", "info")[-1] == "returned ECONNREFUSED"


def test_a_full_backlog_is_given_up(server):
    at = server(b"", accept=False)
    at.listener.listen(0)
    import socket
    waiting = [socket.socket() for _ in range(4)]
    for one in waiting:
        one.setblocking(False)
        one.connect_ex(at.listener.getsockname())
    assert drive(at.url, "info")[-1] == "returned ETIMEDOUT"


def test_the_token_of_a_request_cannot_be_forged():
    assert drive("http://127.0.0.1:1", "info", token="a\r\nX: y")[0].startswith("told bad_request")


def test_keys_and_paths_that_name_nothing_are_not_sent(server):
    at = server(reply(ANSWER))
    for words in (("head", "", "x"), ("head", "..", "x"), ("head", "k", ".."), ("head", "k", "a//b"), ("run", ".", "1")):
        assert drive(at.url, *words)[-1] == "returned EINVAL"
    assert not at.requests


def test_inline_files_and_variables(server):
    at = server(reply(ANSWER))
    assert drive(at.url, "run", "k", "1") == ["ok exit 42", "returned 0"]
    body = json.loads(at.requests[0].partition(b"\r\n\r\n")[2])
    assert body["files"] == [{"path": "a/text", "text": "téxt"}, {"path": "bytes", "base64": "/wA="}]
    assert body["env"] == {"A": "b"} and "run_id" not in body and "profile" not in body and "stdin" not in body


def test_events_in_order(server):
    at = server(events(("queued", {"position": 2}), ("started", {"run_id": "r", "session_state": "reused"}),
                       ("news", {"of": "a later version"}), ("stderr", {"text": "e\n"}), ("stdout", {"text": "o\n"}),
                       ("end", answer(end=end("timeout"), outcome="timeout")), ("stdout", {"text": "late"})))
    assert drive(at.url, "stream", "k", "1") == ["queued 2", "started reused", "stderr e", "stdout o",
                                                 "timeout timeout 42", "returned 0"]


def test_an_onlooker_stops_it(server):
    at = server(events(("stdout", {"text": "stop\n"}), ("end", ANSWER)))
    lines = drive(at.url, "stream", "k", "1")
    assert lines[0] == "stdout stop" and lines[-1] == "returned ECANCELED"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_events_in_small_pieces(server, size):
    stream = events(("started", {"run_id": "r", "session_state": "new"}), ("stdout", {"text": "é" * 300 + "\n"}),
                    ("end", ANSWER), chunked=False)
    def pieces(request):
        return (stream[i:i + size] for i in range(0, len(stream), size))
    lines = drive(server(pieces).url, "stream", "k", "1")
    assert lines[1] == "stdout " + "é" * 300 and lines[-1] == "returned 0"
