"""Bytes that no library would send, against the real service: framing, paths, slow and idle clients.

tests/http has the whole matrix; here it is seen that the service is behind the same gate, and that a refused request has
done nothing.
"""
import contextlib
import json
import os
import resource
import time
from urllib.parse import quote_from_bytes

import pytest
from service import Background, Response, until

BODY = b'{"language":"bash","code":"echo it ran"}'
KIND = b"Content-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
IDLE = 1000
SLOW_WITHIN_S = 16

# After the request line, Host and Authorization: without the flaw each would be a run.
MALFORMED = {
    "two_lengths": KIND + LENGTH + LENGTH + b"\r\n" + BODY,
    "two_different_lengths": KIND + LENGTH + b"Content-Length: 2\r\n\r\n" + BODY,
    "length_and_chunked": KIND + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "chunked_twice": KIND + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "gzip_chunked": KIND + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + CHUNKS,
    "signed_length": KIND + b"Content-Length: +%d\r\n\r\n" % len(BODY) + BODY,
    "space_before_colon": KIND + LENGTH.replace(b":", b" :") + b"\r\n" + BODY,
    "folded_header": KIND + LENGTH + b"X: 1\r\n 2\r\n\r\n" + BODY,
    "bare_lf": KIND + LENGTH + b"X: 1\nY: 2\r\n\r\n" + BODY,
    "nul_in_a_value": KIND + LENGTH + b"X: a\0b\r\n\r\n" + BODY,
    "second_host": KIND + LENGTH + b"Host: 127.0.0.1\r\n\r\n" + BODY,
    "second_authorization": KIND + LENGTH + b"Authorization: Bearer x\r\n\r\n" + BODY,
    "bad_chunk_size": KIND + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + BODY + b"\r\n0\r\n\r\n",
}


def start_of(api, method, target):
    """Request line and the two headers that every request needs."""
    target = target.encode() if isinstance(target, str) else target
    lines = b"%s %s HTTP/1.1\r\nHost: %s:%d\r\nAuthorization: Bearer %s\r\n"
    return lines % (method.encode(), target, api.host.encode(), api.port, api.token.encode())


def parse(contract, method, target, answer):
    """An answer that came as bytes, checked as every other one."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
    response = Response(int(lines[0].split()[1]), headers, body)
    assert response.header("Content-Length") == str(len(body)), answer[:500]
    assert response.header("Connection") == "close"
    if response.body.startswith(b"<html>"):  # the library's own answer: SECURITY.md says so
        return response
    problems = contract.problems(method, target, response)
    assert not problems, problems
    return response


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_framing_runs_nothing(api, contract, key, name):
    target = f"/v1/sessions/{key}/run"
    response = parse(contract, "POST", target, api.raw(start_of(api, "POST", target) + MALFORMED[name]))
    assert response.status == 400
    assert name == "bad_chunk_size" or response.code == "bad_request"
    assert api.get(f"/v1/sessions/{key}").status == 404


def test_whole_framing_runs(api, contract, key):
    """The other side of the test above: the same requests without a flaw."""
    target = f"/v1/sessions/{key}/run"
    for rest in (KIND + LENGTH + b"\r\n" + BODY, KIND + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS):
        response = parse(contract, "POST", target, api.raw(start_of(api, "POST", target) + rest))
        assert response.status == 200 and response.json["stdout"]["text"] == "it ran\n"


def test_a_request_behind_a_request_is_not_read(api, key):
    api.file(key, "x", "PUT", b"1")
    hidden = start_of(api, "DELETE", f"/v1/sessions/{key}") + b"\r\n"
    target = f"/v1/sessions/{key}/run"
    for first in (start_of(api, "GET", "/health") + b"\r\n",
                  start_of(api, "GET", "/health") + b"Content-Length: %d\r\n\r\n" % len(hidden),
                  start_of(api, "POST", target) + KIND + LENGTH + b"\r\n" + BODY):
        assert api.raw(first + hidden).count(b"HTTP/1.1 ") == 1
        assert api.get(f"/v1/sessions/{key}").status == 200
    assert api.file(key, "x").body == b"1"


@pytest.mark.parametrize("path", [
    b"%2fetc%2fpasswd", b"a%2Fx", b"%2e%2e/x", b"a/%2e/x", b"a/.%2e/a/x", b"a//x", b"/a/x", b"a/x/", b"a/x%00", b"%00",
    b"a/%", b"a/%f", b"a/%zz", b"a/x%00.txt", b"..", b"a/../a/x", b"a/\xd1\x84", b"a/x#y", b"a\\..\\x", b"%252e%252e/x"])
def test_paths_lead_nowhere_else(api, contract, key, path):
    api.file(key, "a/x", "PUT", b"inner")
    for method, rest in (("GET", b""), ("DELETE", b""), ("PUT", b"Content-Length: 1\r\n")):
        if method == "PUT" and path in (b"a\\..\\x", b"%252e%252e/x"):
            continue  # odd but allowed names
        target = b"/v1/sessions/%s/files/%s" % (key.encode(), path)
        answer = api.raw(start_of(api, method, target) + rest + b"\r\n" + (b"z" if rest else b""))
        response = parse(contract, method, target.decode("latin-1"), answer)
        assert response.status in (400, 404), (method, response)
    assert api.file(key, "a/x").body == b"inner"
    assert [file["path"] for file in api.get(f"/v1/sessions/{key}/files").json["files"]] == ["a/x"]


def test_paths_of_any_bytes_and_any_length(api, key):
    base = f"/v1/sessions/{key}/files/"
    name = bytes(range(1, 256)).replace(b"/", b"")  # 254 bytes, no UTF-8 of any kind
    target = base + quote_from_bytes(name, safe="")
    assert api.call("PUT", target, b"odd").status == 201
    assert api.get(target).body == b"odd"
    long = "/".join(["d" * 254] * 16)  # 4,079 bytes
    assert api.call("PUT", base + long, b"deep").status == 201
    assert api.get(base + long).body == b"deep"
    for path, statuses in (("x" * 256, (400, 404, 414)), ("d/" * 2048 + "x", (414,)), ("x" * 8000, (414,))):
        for method in ("GET", "PUT", "DELETE"):
            assert api.call(method, base + path, b"1" if method == "PUT" else None).status in statuses, (method, path[:9])
    rows = api.get(f"/v1/sessions/{key}/files").json["files"]
    assert len(rows) == 2


@pytest.mark.parametrize("body", [
    b'{"language":"bash","code":"true","env":{"A":"1","A":"2"}}',
    b'{"language":"bash","code":"true","files":[{"path":"a","path":"b","text":""}]}',
    b'{"language":"bash","code":"true","c\\u006fde":"false"}',
    b'{"language":"bash","code":"true","args":' + b"[" * 40 + b"]" * 40 + b"}",
    b'{"language":"bash","code":"true","args":[' + b",".join([b'""'] * 10001) + b"]}",
    b'{"language":"bash","code":"true"} {}', b'{"language":"bash","code":"true",}', b"\xef\xbb\xbf" + BODY, b"NaN",
    b'{"language":"bash","code":"\\ud800"}', b'{"language":"bash","code":"\xc0\xaf"}', b"[" * (1 << 20), b'{"a":' * 30000,
    b'{"language":"bash","code":"true","timeout_ms":1e99}', b'{"language":"bash","code":"true","timeout_ms":1' + b"0" * 400 + b"}",
])
def test_twisted_json_is_refused(api, key, body):
    response = api.call("POST", f"/v1/sessions/{key}/run", body, {"Content-Type": "application/json"})
    assert response.status in (400, 413, 422), response
    assert len(response.body) < 4096
    assert api.get(f"/v1/sessions/{key}").status == 404


def drip(connection, start, rest, pause_s=0.5):
    """Sends start, then a byte of rest each pause, until the other side says or does something; seconds until then."""
    began = time.monotonic()
    with connection:
        connection.settimeout(pause_s)
        answer = b""
        with contextlib.suppress(ConnectionError):
            connection.sendall(start)
            for i in range(len(rest) + 60):
                try:
                    answer = connection.recv(65536)
                    break
                except TimeoutError:
                    connection.sendall(rest[i:i + 1])
        return time.monotonic() - began, answer


def test_slow_clients_are_cut_and_slow_nobody(service, api, key):
    """Heads and bodies that drip or stall, over TCP and the socket, all at once."""
    put = start_of(api, "PUT", f"/v1/sessions/{key}/files/slow") + b"Content-Length: 1000\r\n\r\n"
    run = start_of(api, "POST", f"/v1/sessions/{key}/run") + KIND + LENGTH + b"\r\n"
    head = start_of(api, "GET", "/v1/info")
    cases = {"head drips": (head, b"X: " + b"x" * 900), "head stalls": (head, b""), "upload drips": (put, b"x" * 900),
             "upload stalls": (put, b""), "call drips": (run, BODY), "call stalls": (run, b"")}
    clients = {(name, which): Background(drip, door.connect(), *case) for name, case in cases.items()
               for which, door in (("tcp", api), ("unix", service.unix))}
    calls = 0
    while any(client.is_alive() for client in clients.values()):
        assert api.answer("brisk", "echo", language="bash")["outcome"] == "ok"
        calls += 1
    assert calls > 2 and api.delete("/v1/sessions/brisk").status == 204
    for name, client in clients.items():
        took, answer = client.result()
        assert took < SLOW_WITHIN_S, (name, took)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 408 "), (name, answer)
    assert api.file(key, "slow").status == 404


def test_a_thousand_idle_connections(service, api, key):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], IDLE + 500), limits[1]))
    descriptors = f"/proc/{service.supervisor()}/fd"
    before, rss = len(os.listdir(descriptors)), service.rss_kib()
    idle = []
    try:
        for _ in range(IDLE):
            idle.append(api.connect())
        assert api.get("/health").status == 200
        assert api.answer(key, "print(6*7)")["stdout"]["text"] == "42\n"
        assert api.file(key, "x", "PUT", b"1").status == 201
        assert service.rss_kib() - rss < 16 * 1024
    finally:
        for connection in idle:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    until(lambda: len(os.listdir(descriptors)) <= before + 2)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("door", ["tcp", "unix"])
def test_a_reset_in_mid_run_ends_it(service, api, key, accept, door):
    """Also when the script prints all the time, so that the answer is being sent when the client goes."""
    body = json.dumps({"language": "python", "code": "while 1: print('x' * 1000)"}).encode()
    where = api if door == "tcp" else service.unix
    tenant = {} if door == "tcp" else {"headers": {"Authorization": f"Bearer {api.token}"}}
    connection = where.connect()
    connection.sendall(start_of(api, "POST", f"/v1/sessions/{key}/run") + KIND
                       + b"Accept: %s\r\nContent-Length: %d\r\n\r\n" % (accept.encode(), len(body)) + body)
    until(lambda: api.get(f"/v1/sessions/{key}").status == 200 and api.get(f"/v1/sessions/{key}").json["run_id"])
    connection.close()  # with data unread: a reset
    until(lambda: api.get(f"/v1/sessions/{key}").json["run_id"] is None)
    assert where.call("GET", f"/v1/sessions/{key}", **tenant).status == 200
    assert api.answer(key, "print(1)")["session_state"] == "reused"


def whole(api, method, target, body=b""):
    """A request in one piece, as it goes to a worker; all that comes back."""
    head = start_of(api, method, target) + (KIND if body else b"")
    return api.raw(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def test_short_answers_are_whole(api, key):
    """Those that no library writes: a length where one belongs, one head, the connection's end behind the body."""
    target = f"/v1/sessions/{key}"
    ran = whole(api, "POST", target + "/run", b'{"language": "bash", "code": "echo 1"}')
    head, _, body = ran.partition(b"\r\n\r\n")
    assert ran.startswith(b"HTTP/1.1 200 OK\r\n") and json.loads(body)["stdout"]["text"] == "1\n"
    assert f"Content-Length: {len(body)}\r\n".encode() in head + b"\r\n" and b"\r\nDate: " in head and b"\r\nConnection: close" in head
    assert whole(api, "PUT", target + "/files/x", b"1").startswith(b"HTTP/1.1 201 ")
    removed = whole(api, "DELETE", target + "/files/x")
    assert removed.startswith(b"HTTP/1.1 204 ") and removed.endswith(b"\r\n\r\n") and b"Content-Length" not in removed
    assert whole(api, "PUT", target + "/nothing", b"1").startswith(b"HTTP/1.1 404 ")
    assert whole(api, "POST", target, b"1").startswith(b"HTTP/1.1 405 ")
    assert whole(api, "POST", target + "/run", b"no json").startswith(b"HTTP/1.1 400 ")


def test_more_requests_at_once_than_workers(start):
    """The rest is the library's; and none of either keeps the service from its end."""
    service = start("--max-sessions", "12", "--queue-wait-s", "30")
    runs = [Background(whole, service.api, "POST", f"/v1/sessions/s{number}/run",
                       b'{"language": "bash", "code": "sleep 2; echo %d"}' % number) for number in range(12)]
    until(lambda: sum(bool(session["run_id"]) for session in service.api.get("/v1/sessions").json["sessions"]) >= 10, within=20)
    assert service.api.get("/health").status == 200
    assert service.api.file("s0", "x", "PUT", b"1").status == 201
    for number, run in enumerate(runs):
        assert json.loads(run.result().partition(b"\r\n\r\n")[2])["stdout"]["text"] == f"{number}\n"
    assert service.api.answer("s0", "echo again", language="bash")["stdout"]["text"] == "again\n"
