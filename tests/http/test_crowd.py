"""Many connections: limits, and that nothing grows."""
import concurrent.futures
import resource
import time

import pytest
from wire import Answer, read_all

PING = b"GET /ping HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture(autouse=True)
def descriptors():
    """Both sides need as many descriptors as there are connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def crowd(server, n, data=b""):
    sockets = []
    for _ in range(n):
        s = server.connect()
        s.sendall(data)
        sockets.append(s)
    return sockets


def leave(sockets):
    for s in sockets:
        s.close()


def test_thousand_idle_connections(start):
    server = start(head_ms=60000)
    before = server.memory_kib()
    sockets = crowd(server, 500) + crowd(server, 500, b"GET /ping HT")
    assert server.stats()["waiting"] == 1000
    took = []
    for _ in range(50):
        begin = time.monotonic()
        assert server.get("/ping").body == b"pong\n"
        took.append(time.monotonic() - begin)
    assert max(took) < 1, took
    assert server.grown_kib(before) < 2048
    for s in sockets[500:]:  # those that waited are served when they go on
        s.sendall(b"TP/1.1\r\nHost: a\r\n\r\n")
        assert s.recv(4096).startswith(b"HTTP/1.1 200 ")
    leave(sockets)
    server.wait_for(lambda stats: stats["waiting"] == 0)


def test_idle_connections_are_closed(start):
    server = start(head_ms=500)
    sockets = crowd(server, 200)
    for s in sockets:
        assert s.recv(10) == b""
    leave(sockets)
    assert server.stats()["waiting"] == 0


def test_for_one_waiting_too_many_the_oldest_is_503(start):
    server = start(head_ms=60000, waiting_max=20)
    sockets = crowd(server, 1, b"G") + crowd(server, 20, b"G")
    answer = Answer(read_all(sockets[0]))
    assert answer.problem() == "server_busy" and answer.headers["retry-after"] == "1"
    sockets[1].sendall(b"ET /ping HTTP/1.1\r\nHost: a\r\n\r\n")
    assert sockets[1].recv(4096).startswith(b"HTTP/1.1 200 ")
    leave(sockets)
    server.wait_for(lambda stats: stats["waiting"] == 0)
    assert server.stats()["refused"] == 1


def test_thousands_that_send_one_byte_keep_nobody_out(start):
    """1,100 of them once meant 503 for everybody, until their heads were late."""
    server = start(head_ms=60000)
    sockets = crowd(server, 1100, b"G")
    for _ in range(20):
        assert server.get("/ping").body == b"pong\n"
    assert server.stats()["waiting"] <= 1024
    leave(sockets)
    server.wait_for(lambda stats: stats["waiting"] == 0)


def test_one_served_too_many_is_503(start):
    server = start(served_max=8)
    sockets = crowd(server, 8, b"GET /silent HTTP/1.1\r\nHost: a\r\n\r\n")
    deadline = time.monotonic() + 5
    while server.get("/ping").status != 503:
        assert time.monotonic() < deadline
    answer = server.get("/ping")
    assert answer.problem() == "server_busy" and answer.headers["retry-after"] == "1"
    leave(sockets[:1])
    while server.get("/ping").status != 200:
        assert time.monotonic() < deadline
    leave(sockets)


def test_as_many_as_are_allowed_at_once(start):
    server = start()
    sockets = crowd(server, 120, b"GET /silent?a=500 HTTP/1.1\r\nHost: a\r\n\r\n")
    for s in sockets:
        assert Answer(read_all(s)).status == 204
    leave(sockets)


def test_nothing_grows_over_many_requests(start):
    server = start()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        def round_of(n):
            for answer in pool.map(lambda _: server.say(PING), range(n)):
                assert answer.status == 200
        round_of(500)
        server.wait_for(lambda stats: stats["served"] == 1 and stats["waiting"] == 0)
        before, descriptors = server.memory_kib(), server.descriptors()
        round_of(3000)
        server.wait_for(lambda stats: stats["served"] == 1 and stats["waiting"] == 0)
    deadline = time.monotonic() + 30  # those that linger go by and by
    while server.descriptors() > descriptors + 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert server.grown_kib(before) < 1024


def test_lack_of_descriptors_passes(start):
    server = start(head_ms=60000)
    resource.prlimit(server.child.pid, resource.RLIMIT_NOFILE, (64, 8192))
    sockets = crowd(server, 100)
    time.sleep(0.5)
    leave(sockets)
    assert server.get("/ping").body == b"pong\n"
    resource.prlimit(server.child.pid, resource.RLIMIT_NOFILE, (8192, 8192))
    assert server.get("/ping").body == b"pong\n"
