"""Clients that are slow on purpose: what they hold ends with their session, and is bounded while it lasts."""
import contextlib
import os
import socket
import time

from service import until

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
    service = start("--session-max-s", "2")
    assert service.api.file("old", "big", "PUT", b"x" * BIG).status == 201
    with slow_get(service.api, "/v1/sessions/old/files/big") as reader:
        until(lambda: held_files(service, "big") == 1)
        until(lambda: held_files(service, "big") == 0)
        assert read_to_end(reader) < BIG
    assert service.api.get("/v1/sessions/old").status == 404


def test_a_download_at_an_ordinary_pace_keeps_its_session(start):
    service = start("--session-idle-s", "1")
    data = os.urandom(1 << 20) * 40
    assert service.api.file("k", "big", "PUT", data).status == 201
    connection, response = service.api.open("GET", "/v1/sessions/k/files/big")
    with contextlib.closing(connection):
        got = b""
        while piece := response.read(2 << 20):
            got += piece
            time.sleep(0.1)  # 2 s in all: twice the session's idle time
    assert got == data
    assert service.api.get("/v1/sessions/k").status == 200
    until(lambda: service.api.get("/v1/sessions/k").status == 404)
