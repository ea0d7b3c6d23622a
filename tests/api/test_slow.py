"""Clients that are slow on purpose: what they hold ends with their session, and is bounded while it lasts."""
import contextlib
import http.client
import json
import os
import re
import select
import socket
import time
from urllib.parse import quote

import pytest
from service import read_events, until
from test_crowd import token_add

BIG = 60 << 20


def held_files(service, name):
    """How many descriptors of the supervisor are files of this name."""
    folder = f"/proc/{service.supervisor()}/fd"
    found = 0
    for fd in os.listdir(folder):
        with contextlib.suppress(OSError):
            found += os.path.basename(os.readlink(f"{folder}/{fd}")).startswith(name)
    return found


def slow_get(api, target):
    """A request whose answer nobody reads: little of it fits into the sockets."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(30)
    connection.connect((api.host, api.port))
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.token}\r\n\r\n".encode())
    return connection


LOUD = """
import sys
for _ in range(1000):
    for out in (sys.stdout, sys.stderr):
        out.write("\\x01" * 1000)
open("done", "w")
"""  # twelve MiB as JSON


def test_a_client_that_does_not_read_its_events_holds_no_run_up(api, key):
    """The script waited for it, and after a while the run was ended as if the client had gone."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(60)
    connection.connect((api.host, api.port))
    body = json.dumps({"language": "python", "code": LOUD, "timeout_ms": 20000})
    connection.sendall(f"POST /v1/sessions/{key}/run HTTP/1.1\r\nHost: localhost\r\n"
                       f"Authorization: Bearer {api.token}\r\nContent-Type: application/json\r\n"
                       f"Accept: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    until(lambda: api.file(key, "done").status == 200, within=20)
    response = http.client.HTTPResponse(connection)
    response.begin()
    events = list(read_events(response))
    connection.close()
    told = {name: "".join(event.data["text"] for event in events if event.name == name) for name in ("stdout", "stderr")}
    assert all("bytes left out ...\n" in text and text.startswith("\x01") for text in told.values())
    for text in told.values():
        gaps = [int(n) for n in re.findall(r"\.\.\. (\d+) bytes left out", text)]
        assert sum(gaps) + text.count("\x01") == 1_000_000
    assert events[-1].name == "end" and events[-1].data["outcome"] == "ok"
    assert events[-1].data["stdout"]["bytes"] == 1_000_000


def begin_put(api, target, size):
    connection = api.connect(30)
    connection.sendall(f"PUT {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.token}\r\n"
                       f"Content-Length: {size}\r\n\r\n".encode())
    return connection


def read_to_end(connection):
    """Bytes until the server is gone."""
    count = 0
    with contextlib.suppress(ConnectionError):
        while data := connection.recv(1 << 20):
            count += len(data)
    return count


def test_the_pages_of_a_closed_session_are_not_kept_by_its_downloads(service, api):
    """They were, for as long as somebody read a byte now and then: tmpfs of sessions that nobody counts."""
    readers = []
    for number in range(3):
        assert api.file(f"pin{number}", "big", "PUT", b"x" * BIG).status == 201
        readers += [slow_get(api, f"/v1/sessions/pin{number}/files/big") for _ in range(3)]
    until(lambda: held_files(service, "big") == 9)
    for number in range(3):
        assert api.delete(f"/v1/sessions/pin{number}").status == 204
    assert held_files(service, "big") == 0
    for reader in readers:
        assert read_to_end(reader) < BIG
        reader.close()


def test_an_upload_that_is_stuck_ends_with_its_session(service, api):
    with begin_put(api, "/v1/sessions/stuck/files/never", BIG) as upload:
        upload.sendall(b"x" * (20 << 20))
        until(lambda: held_files(service, "#") == 1)  # it has no name yet
        assert api.delete("/v1/sessions/stuck").status == 204
        read_to_end(upload)
    assert held_files(service, "#") == 0
    assert api.get("/v1/sessions/stuck").status == 404


def test_a_download_ends_at_its_sessions_greatest_age(start):
    service = start("--session-max-s", "5")
    assert service.api.file("old", "big", "PUT", b"x" * (BIG // 4)).status == 201
    with slow_get(service.api, "/v1/sessions/old/files/big") as reader:
        until(lambda: held_files(service, "big") == 1)
        until(lambda: held_files(service, "big") == 0)
        assert read_to_end(reader) < BIG // 4
    assert service.api.get("/v1/sessions/old").status == 404


def test_a_download_at_an_ordinary_pace_keeps_its_session(start):
    """Asked while far more is left than the sockets hold: once the rest lies there, the server is done and the idle time begins."""
    service = start("--session-idle-s", "3")
    data = os.urandom(1 << 20) * (BIG >> 20)
    assert service.api.file("k", "big", "PUT", data).status == 201
    connection, response = service.api.open("GET", "/v1/sessions/k/files/big")
    with contextlib.closing(connection):
        got = bytearray()
        for _ in range(20):
            got += response.read(1 << 20)
            time.sleep(0.2)  # 4 s in all: more than the session's idle time
        assert service.api.get("/v1/sessions/k").status == 200
        got += response.read()
    assert got == data
    until(lambda: service.api.get("/v1/sessions/k").status == 404)


def begin_run(api, key, size=1000):
    """A request that is let in and whose body does not come: it is refused after 10 s."""
    connection = api.connect(30)
    connection.sendall(f"POST /v1/sessions/{key}/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.token}\r\n"
                       f"Content-Type: application/json\r\nContent-Length: {size}\r\nExpect: 100-continue\r\n\r\n".encode())
    assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
    return connection


def served(api):
    for line in api.get("/metrics").body.decode().splitlines():
        if line.startswith("cloche_http_served "):
            return int(line.split()[1])
    raise AssertionError("no such metric")


@pytest.fixture(scope="module")
def tenants(service):
    made = [service.api.with_token(token_add(service, "--tenant", f"tenant{i}", "--scope", "run")) for i in range(5)]
    until(lambda: all(one.get("/v1/sessions").status == 200 for one in made))
    return made


def test_one_tenant_does_not_get_all_requests(service, api, tenants):
    greedy, other = tenants[:2]
    with contextlib.ExitStack() as stack:
        for _ in range(32):
            stack.enter_context(begin_run(greedy, "k"))
        for refused in (greedy.run("k", "pass"), greedy.file("k", "x", "PUT", b"x"), greedy.get("/v1/sessions/k/files")):
            assert (refused.status, refused.code) == (429, "sandbox_busy")
            assert int(refused.header("Retry-After")) >= 1
        assert greedy.get("/v1/sessions").status == 200  # it can look and end what it has
        assert greedy.call("POST", "/v1/runs/none/cancel").status == 404
        assert other.answer("k", "print(1)")["stdout"]["text"] == "1\n"
        assert other.delete("/v1/sessions/k").status == 204
        assert api.with_token(None).get("/health").status == 200
    until(lambda: served(api) == 1)
    assert greedy.answer("k", "print(1)")["outcome"] == "ok"
    assert greedy.delete("/v1/sessions/k").status == 204


def test_all_tenants_together_leave_a_way_in(service, api, tenants):
    with contextlib.ExitStack() as stack:
        for tenant in tenants[:4]:
            for _ in range(28):
                stack.enter_context(begin_run(tenant, "k"))
        refused = tenants[4].run("k", "pass")
        assert (refused.status, refused.code) == (503, "server_busy") and refused.header("Retry-After")
        assert tenants[4].get("/v1/sessions").status == 200
        assert api.with_token(None).get("/health").status == 200
        assert api.get("/ready").status == 200
        assert api.get("/v1/sessions").status == 200
    until(lambda: served(api) == 1)


def test_a_log_that_nobody_reads_stops_nothing(start):
    """Neither `up` nor the supervisor waits for room in a pipe that is full: lines are dropped, and that is said."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(theirs, b"x" * 4096)
    os.set_blocking(theirs, True)
    try:
        service = start("--log-level", "debug", stderr=theirs)
        assert service.api.answer("k", "print(1)")["stdout"]["text"] == "1\n"
        os.set_blocking(ours, False)
        with contextlib.suppress(BlockingIOError):
            while os.read(ours, 1 << 16):
                pass
        service.api.answer("k", "print(1)")
        assert b"lines dropped" in os.read(ours, 1 << 16)
        assert service.stop() < 30
    finally:
        os.close(ours)
        os.close(theirs)


def test_large_bodies_of_one_tenant_leave_memory_to_others(service, api, tenants):
    greedy, other = tenants[:2]
    body = json.dumps({"language": "bash", "code": "true", "stdin": "x" * 1000}).encode()
    size, piece = 12 << 20, 65536
    for _ in range(20):  # who still sends two seconds after it was refused has lost the answer
        with contextlib.ExitStack() as stack:
            senders = [stack.enter_context(begin_run(greedy, "k", size)) for _ in range(3)]
            answer = b""
            with contextlib.suppress(ConnectionError):
                for _ in range(piece, size, piece):  # the last bytes never come
                    if select.select(senders, [], [], 0)[0]:
                        break
                    for sender in senders:
                        sender.sendall(b" " * piece)
                answer = select.select(senders, [], [], 60)[0][0].recv(65536)
            response = other.call("POST", "/v1/sessions/k/run", body + b" " * (8 << 20), {"Content-Type": "application/json"})
            assert response.status == 200
        if answer:
            break
    assert answer.startswith(b"HTTP/1.1 429 ")
    assert other.delete("/v1/sessions/k").status == 204
    until(lambda: served(api) == 1)


LONG_NAMES = """
import os, sys
folder = "/".join([sys.argv[1] * 200] * int(sys.argv[2]))
os.makedirs(folder)
os.chdir(folder)
for i in range(1000):
    open(f"{i:0100}", "w").close()
"""


def pages(api, key):
    """All pages of a list: their sizes as JSON, and the paths."""
    sizes, paths, after = [], [], ""
    while True:
        page = api.get(f"/v1/sessions/{key}/files?after={quote(after, safe='')}")
        assert page.status == 200
        sizes.append(len(page.body))
        paths += [row["path"] for row in page.json["files"]]
        after = page.json["next"]
        if after is None:
            return sizes, paths


@pytest.mark.parametrize("letter, depth", [("n", 19), ("\x01", 12)], ids=["plain", "escaped"])
def test_long_names_make_short_pages_and_nothing_is_lost(api, key, letter, depth):
    answer = api.answer(key, LONG_NAMES, args=[letter, str(depth)])
    assert answer["files_truncated"] and 10 < len(answer["files"]) < 110
    assert sum(len(row["path"].encode()) for row in answer["files"]) <= 256 << 10
    sizes, paths = pages(api, key)
    assert len(set(paths)) == len(paths) == 1000 and paths == sorted(paths)
    assert max(sizes) < 8 << 20 and len(sizes) >= 3


def test_answers_that_nobody_reads_are_bounded_together(service, api, tenants):
    """30 readers of long lists once held 700 MiB of the supervisor's memory."""
    greedy, other = tenants[:2]
    greedy.answer("long", LONG_NAMES, args=["\x01", "19"])  # six bytes each in JSON
    before, most = service.rss_kib(), 0
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(slow_get(greedy, "/v1/sessions/long/files"))
        until(lambda: served(api) < 8)  # the rest was refused: their memory is not to be had
        refused = greedy.get("/v1/sessions/long/files")
        assert refused.status == 429 and refused.header("Retry-After")
        assert other.answer("k", "print('\\0' * 100000)")["stdout"]["bytes"] == 100001
        most = service.rss_kib()
    assert most - before < 64 << 10
    until(lambda: served(api) == 1)
    assert greedy.get("/v1/sessions/long/files").status == 200
    for tenant, key in ((greedy, "long"), (other, "k")):
        assert tenant.delete(f"/v1/sessions/{key}").status == 204
