"""S17, E5: whatever is no answer of a supervisor is told, with its cause, soon, and is exit status 125."""
import json
import os
import pty
import socket
import subprocess
import threading

import pytest
from misbehaving import ANSWER, PROGRAM, answer, drip, end, events, hang, problem, reply, run_of, self_signed

PROBLEMS = [(401, "unauthorized"), (403, "forbidden"), (409, "session_busy"), (413, "too_large"),
            (422, "invalid_field"), (429, "sandbox_busy"), (500, "internal"), (503, "sandbox_unavailable"),
            (507, "home_full")]

# name: (script, word of the complaint)
WRONG = {
    "malformed_json": (lambda r: reply(b'{"run_id":'), "JSON"),
    "json_of_another_kind": (lambda r: reply([1]), "no JSON object"),
    "members_missing": (lambda r: reply({"run_id": "r"}), "missing or malformed"),
    "unknown_end": (lambda r: reply(answer(end=end("boredom"))), "missing or malformed"),
    "not_utf8": (lambda r: reply(b'{"a":"\xff"}'), "UTF-8"),
    "deep_json": (lambda r: reply(b"[" * 100 + b"]" * 100), "levels"),
    "wrong_type": (lambda r: reply(b"<html>", kind="text/html"), "none of a cloche supervisor"),
    "error_page": (lambda r: reply(b"<html>", "502 Bad Gateway", "text/html"), "502"),
    "problem_without_code": (lambda r: reply({}, "500 X", "application/problem+json"), "500"),
    "redirect": (lambda r: reply(b"", "302 Found", headers="Location: http://127.0.0.1:1/\r\n"), "elsewhere"),
    "longer_than_it_is": (lambda r: reply(ANSWER, length=100000), "cut"),
    "shorter_than_it_is": (lambda r: reply(ANSWER, length=50), "JSON"),
    "nothing": (lambda r: b"", "cut"),
    "half_a_head": (lambda r: b"HTTP/1.1 200 OK\r\nContent-Ty", "cut"),
    "no_http": (lambda r: b"220 mail.example ESMTP\r\n", "no HTTP"),
    "endless_head": (lambda r: iter([b"HTTP/1.1 200 OK\r\n"] + [b"X: " + b"x" * 1000 + b"\r\n"] * 1000), "too large"),
    "long_header": (lambda r: b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n", "header of the answer is too long"),
    "a_part": (lambda r: reply({}, "206 Partial Content", headers="Content-Range: bytes 0-1/9\r\n"), "a part, which nobody"),
    "packed": (lambda r: reply({}, headers="Content-Encoding: gzip\r\n"), "packed, which nobody"),
    "huge_by_its_word": (lambda r: reply(b"{", length=1 << 40), "too large"),
    "huge_error_page": (lambda r: reply(b"x" * (1 << 20), "500 X", "text/html"), "none of a cloche supervisor"),
    "no_end_to_be_told": (lambda r: reply(ANSWER, length=-1), "cut"),
}


def chunked(body):
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    yield b"%x\r\n" % len(body) + body


def endless(request):
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    while True:
        yield b"10000\r\n" + b" " * 65536 + b"\r\n"


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_answer(server, run, name):
    script, word = WRONG[name]
    at = server(script)
    done = run(at, "--json")
    assert done.status == 125, done
    assert done.json["code"] == "sandbox_unavailable"
    assert word in done.json["detail"] and at.url in done.json["detail"]
    assert done.took_s < 10


def test_a_chunked_body_that_is_cut(server, run):
    done = run(server(lambda r: chunked(b'{"run_id":"r"')), "--json")
    assert done.status == 125 and "cut" in done.said


def test_an_endless_body_stops_at_its_bound(server, run):
    done = run(server(endless), "--json", timeout=60)
    assert done.status == 125 and "too large" in done.said


@pytest.mark.parametrize("status, code", PROBLEMS)
@pytest.mark.parametrize("form", [["--json"], []])
def test_a_refusal_is_told_as_it_was(server, run, status, code, form):
    done = run(server(problem(status, code, field="code", stage="mount")), *form)
    assert done.status == 125
    assert f"cloche: code: it is {code}\n" in done.said
    assert ("--token-file" in done.said) == (status == 401)
    if status not in (401, 429):
        assert "cloche: wait\n" in done.said, "the server's own advice"
    if form:
        assert (done.json["code"], done.json["status"]) == (code, status)
        assert (done.json["field"], done.json["stage"], done.json["advice"]) == ("code", "mount", "wait")
    if status == 429:
        assert "try again after 7 s" in done.said and done.said.count("cloche: wait\n") == 1


def test_advice_that_repeats_what_is_wrong_is_left_out(server, run):
    for advice in ("Mend the field code: it is invalid_field.", "Mend the field code as detail says."):
        done = run(server(problem(422, "invalid_field", field="code", advice=advice)))
        assert done.said.count("it is invalid_field") == 1 and "Mend" not in done.said


def test_a_refusal_cannot_move_the_cursor(server, run):
    done = run(server(problem(500, "internal", detail="\x1b[2J\nforged")))
    assert "\x1b" not in done.said and "?[2J?forged" in done.said


def test_a_type_cannot_move_the_cursor(server, run):
    done = run(server(reply(b"", "500 X", "te\x1b[2Jxt/\x07html")))
    assert done.status == 125 and "\x1b" not in done.said and "\x07" not in done.said and "500" in done.said


@pytest.mark.parametrize("form", [["--json"], []])
def test_nobody_listens(run, form):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    done = run(f"http://127.0.0.1:{port}", *form)
    assert done.status == 125 and "refused" in done.said and "cloche up" in done.said
    assert done.took_s < 3


def test_no_socket_there(run, tmp_path):
    done = run(f"unix:{tmp_path}/no.sock")
    assert done.status == 125 and "cannot be reached" in done.said


def test_no_such_host(run):
    done = run("http://no-such-host.invalid")
    assert done.status == 125 and "cannot be reached" in done.said


def test_nobody_trusts_the_certificate(server, run, tmp_path):
    at = server(run_of(ANSWER), tls=self_signed(tmp_path))
    done = run(at)
    assert done.status == 125 and "no secure connection" in done.said
    assert not any(at.requests)


def test_no_tls_there(server, run):
    done = run(server(run_of(ANSWER)).url.replace("http://", "https://"))
    assert done.status == 125 and "no secure connection" in done.said


def test_a_server_that_says_nothing_is_given_up(server, command):
    done = command("session", "ls", "--server", server(lambda r: hang()).url)
    assert done.status == 125 and "takes too long" in done.said
    assert 9 < done.took_s < 14


def test_a_drip_is_given_up(server, command):
    done = command("session", "ls", "--server", server(lambda r: drip(reply({"sessions": []}), 1)).url)
    assert done.status == 125 and "takes too long" in done.said
    assert 9 < done.took_s < 14


@pytest.mark.parametrize("stream, word", [
    (events(("started", {"run_id": "r", "session_state": "new"})), "ended before the run did"),
    (events(), "ended before the run did"),
    (events(("started", {})), "lacks a member"),
    (events(("stdout", {"text": 7})), "lacks a member"),
    (events(("end", {})), "missing or malformed"),
    (events(("error", {})), "lacks a member"),
    (events(("stdout", {"text": "x"}))[:-5], "cut"),
    (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\n\n", "no JSON"),
    (reply(ANSWER), "none of a cloche supervisor"),
])
def test_events_that_are_wrong(server, run, stream, word):
    done = run(server(stream))
    assert done.status == 125 and word in done.said, done


def test_an_error_event_is_a_refusal(server, run):
    body = {"code": "sandbox_busy", "status": 429, "detail": "all full", "advice": "a"}
    done = run(server(events(("queued", {"position": 1}), ("error", body))))
    assert done.status == 125 and "all full" in done.said


def test_a_terminal_shows_that_it_waits_and_then_only_the_refusal(server, command):
    shown, ours = threading.Event(), pty.openpty()

    def script(request):
        body = {"code": "sandbox_busy", "status": 429, "detail": "all full", "advice": "a"}
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
        yield b'event: queued\ndata: {"position": 1}\n\n'
        assert shown.wait(60)
        yield b"event: error\ndata: " + json.dumps(body).encode() + b"\n\n"

    with subprocess.Popen([PROGRAM, "run", "--server", server(script).url, "--state", command.state, "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, stderr=ours[1]) as child:
        child.stdin.close()
        os.close(ours[1])
        text = b""
        while b"all full" not in text:
            text += os.read(ours[0], 4096)
            if b"\x1b[Kwaiting, 1 s" in text:
                shown.set()
    os.close(ours[0])
    assert child.returncode == 125 and b"running" not in text
    assert text.partition(b"all full")[0].endswith(b"\r\x1b[Kcloche: ")


def test_an_event_over_its_bound(server, run):
    def script(request):
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        for _ in range(300):
            yield b"x" * 65536
    done = run(server(script))
    assert done.status == 125 and "too large" in done.said
