"""S16, S19, S20, S18: bounds on requests and output, and what a dead process leaves."""
import contextlib
import json
import os
import signal
import socket
import time

import pytest
from service import Background, until


def head_of(api, more, method="POST", target="/v1/sessions/k/run"):
    return (f"{method} {target} HTTP/1.1\r\nHost: {api.host}:{api.port}\r\nAuthorization: Bearer {api.token}\r\n"
            f"{more}\r\n").encode()


def test_S16_a_huge_body_is_refused_with_flat_memory(service, api):
    before = service.rss_kib()
    head = head_of(api, f"Content-Type: application/json\r\nContent-Length: {200 << 20}\r\n")
    with api.connect() as connection:
        connection.sendall(head)
        with contextlib.suppress(ConnectionError):
            for _ in range(200):
                connection.sendall(b"x" * (1 << 20))
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = connection.recv(65536)
    assert not answer or answer.startswith(b"HTTP/1.1 413 ")
    assert api.raw(head).startswith(b"HTTP/1.1 413 ")
    assert service.rss_kib() - before < 16 * 1024


def test_S16_long_heads_and_addresses(api):
    assert api.raw(head_of(api, "X: " + "x" * 17000 + "\r\n")).startswith(b"HTTP/1.1 431 ")
    assert api.raw(head_of(api, "", target="/" + "x" * 14000)).startswith(b"HTTP/1.1 414 ")


@pytest.mark.parametrize("pause_s", [0.5])
def test_S16_a_dripped_head_is_closed(api, pause_s):
    head = head_of(api, "X: " + "x" * 1000 + "\r\n")
    began = time.monotonic()
    with api.connect() as connection:
        connection.settimeout(pause_s)
        for i in range(len(head)):
            try:
                connection.sendall(head[i:i + 1])
                if connection.recv(65536).startswith(b"HTTP/1.1 408 "):
                    break
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
    assert 5 < time.monotonic() - began < 15


def test_S16_a_dripped_body_is_closed(api):
    began = time.monotonic()
    with api.connect() as connection:
        connection.sendall(head_of(api, "Content-Type: application/json\r\nContent-Length: 1000\r\n"))
        connection.settimeout(0.5)
        for _ in range(60):
            try:
                connection.sendall(b" ")
                assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
    assert 5 < time.monotonic() - began < 20


def test_S16_deep_wide_and_double_json(api, key):
    target = f"/v1/sessions/{key}/run"
    kind = {"Content-Type": "application/json"}
    for body, statuses in [
        (b"[" * 100 + b"]" * 100, (400, 413)), (b"[" + b"1," * 20000 + b"1]", (400, 413)),
        (b'{"language":"bash","language":"bash","code":""}', (400,)), (b"", (400,)), (b"\xff", (400,)),
        (b'{"language":"bash","code":"a\\u0000"}', (400, 422)), (b"[]", (400,)), (b'{"language":"bash"', (400,)),
        (b'{"language":"bash","code":1}', (422,)), (b'{"language":"ruby","code":""}', (422,)), (b"{}", (422,)),
        (b'{"language":"bash","code":"","cod":""}', (422,)), (b'{"language":"bash","code":"","timeout_ms":0}', (422,)),
        (b'{"language":"bash","code":"","timeout_ms":30001}', (422,)),
        (b'{"language":"bash","code":"","policy":"other"}', (422,)),
        (b'{"language":"bash","code":"","state":"alive"}', (422,)),
        (b'{"language":"bash","code":"","run_id":"a b"}', (422,)),
        (b'{"language":"bash","code":"","profile":"huge"}', (422,)),
    ]:
        response = api.call("POST", target, body, kind)
        assert response.status in statuses, (body[:60], response)
        if response.status == 422:
            assert response.code == "invalid_field" and response.json["field"]
    response = api.call("POST", target, b"{}", {"Content-Type": "text/plain"})
    assert response.status == 415 and "Content-Type: application/json" in response.json["advice"]


def test_S16_values_at_and_over_their_bounds(api, key):
    assert api.run(key, "#" * (256 * 1024), language="bash").status == 200
    assert api.run(key, "#" * (256 * 1024 + 1), language="bash").status == 413
    assert api.run(key, "wc -c", language="bash", stdin="x" * (1 << 20)).json["stdout"]["text"].strip() == str(1 << 20)
    assert api.run(key, "wc -c", language="bash", stdin="x" * ((1 << 20) + 1)).status == 413
    assert api.run(key, 'echo $#', language="bash", args=["x"] * 64).json["stdout"]["text"] == "64\n"
    assert api.run(key, 'echo $#', language="bash", args=["x"] * 65).status == 422


def test_S19_endless_output_costs_no_memory(service, api, key):
    run = Background(api.run, key, 'while 1: print("x"*10**6)', timeout_ms=4000)
    time.sleep(3)
    assert service.rss_kib() < 100 * 1024
    answer = run.result().json
    assert answer["outcome"] == "timeout"
    assert answer["stdout"]["dropped"] > 0 and len(answer["stdout"]["text"]) < 2 << 20
    assert "left out" in answer["stdout"]["text"]


def test_S20_output_that_is_no_text_is_carried(api, key):
    answer = api.answer(key, r'import sys;sys.stdout.buffer.write(b"a\xffb\x00\xc3")')
    assert answer["stdout"]["text"] == "a\ufffdb\0\ufffd" and answer["stdout"]["bytes"] == 5


def test_S18_a_killed_supervisor_leaves_nothing(start):
    service = start()
    first = service.supervisor()
    streaming = Background(lambda: list(service.api.stream("k", "import time;print(1,flush=True);time.sleep(20)")))
    until(lambda: service.api.get("/v1/sessions").json["sessions"] and service.pids("cloche-init"))
    before = service.pen.processes()
    os.kill(first, signal.SIGKILL)
    with pytest.raises(Exception):  # noqa: B017, PT011: cut somewhere
        events = streaming.result()
        assert events[-1].name == "end"
    service.wait_ready()
    assert service.supervisor() != first
    assert service.api.get("/v1/sessions/k").status == 404
    answer = service.api.answer("k", "import os;print(os.listdir())")
    assert answer["stdout"]["text"] == "[]\n"
    service.api.delete("/v1/sessions/k")
    assert before & service.pen.processes() == {service.main()}  # all but `cloche up` itself are new


@pytest.mark.parametrize("name", ["cloche-supervisor", "cloche-jaild"])
def test_S18_what_died_comes_back(start, name):
    service = start()
    service.api.answer("k", "open('x','w')")
    before, since = service.pids(name), time.monotonic()
    for pid in before:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    service.wait_anew(name, before, since)
    answer = service.api.answer("k", "print(1)")
    assert answer["stdout"]["text"] == "1\n" and answer["session_state"] in ("new", "reset")


def test_S18_a_terminated_service_answers_what_runs(start):
    service = start()
    run = Background(service.api.run, "k", "import time;open('up','w');time.sleep(0.3);print('done')")
    long = Background(service.api.run, "l", "import time;open('up','w');time.sleep(25)")
    until(lambda: service.api.file("l", "up").status == 200)
    until(lambda: service.api.file("k", "up").status == 200)
    service.stop()
    assert run.result().json["stdout"]["text"] == "done\n"
    assert long.result().json["end"]["reason"] == "cancelled"


def test_a_client_that_goes_away_ends_its_run(service, api, key):
    body = json.dumps({"language": "python", "code": "import time;time.sleep(20)"}).encode()
    for accept in ("application/json", "text/event-stream"):
        with api.connect() as connection:
            connection.sendall(head_of(api, f"Content-Type: application/json\r\nAccept: {accept}\r\n"
                                            f"Content-Length: {len(body)}\r\n", target=f"/v1/sessions/{key}/run") + body)
            until(lambda: api.get(f"/v1/sessions/{key}").status == 200 and api.get(f"/v1/sessions/{key}").json["run_id"])
            connection.shutdown(socket.SHUT_RDWR)
        until(lambda: api.get(f"/v1/sessions/{key}").json["run_id"] is None)
