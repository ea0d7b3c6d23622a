"""Event streams, and clients that go away."""
import socket
import time

import pytest
from wire import read_all, read_until

EVENT = b"event: stdout\ndata: " + b"x" * 100 + b"\n\n"
END = b"event: end\ndata: one\ndata: two\ndata: three\n\n"


def ask(server, target, is_unix=False):
    s = server.connect(is_unix)
    s.sendall(b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % target)
    return s


def test_events_come_in_order(server):
    answer = server.get("/events/3")
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["connection"] == "close"
    assert answer.body == EVENT * 3 + END


def test_more_events_than_the_buffer_holds(server):
    before = server.memory_kib("VmHWM")
    assert server.get("/events/20000").body == EVENT * 20000 + END
    assert server.grown_kib(before, "VmHWM") < 2048


def test_stream_for_http_1_0_ends_with_the_connection(server):
    with server.connect() as s:
        s.sendall(b"GET /events/2 HTTP/1.0\r\n\r\n")
        head, _, body = read_all(s).partition(b"\r\n\r\n")
    assert b"ransfer" not in head and body == EVENT * 2 + END


def test_silence_has_comments(start):
    server = start(comment_ms=200)
    answer = server.get("/silent-events?a=2000")
    assert 3 <= answer.body.count(b":\n\n") <= 10 and answer.body.strip(b":\n") == b""


def test_first_bytes_come_at_once(server):
    """Long before the handler, which waits for a minute, says anything or ends."""
    with ask(server, b"/silent-events") as s:
        assert b"text/event-stream" in read_until(s, b"\r\n\r\n")


@pytest.mark.parametrize("is_unix", [False, True], ids=["tcp", "unix"])
@pytest.mark.parametrize("target", [b"/silent", b"/silent-events", b"/events/0"])
@pytest.mark.parametrize("way", ["close", "half", "reset"])
def test_client_that_leaves_is_noticed(server, target, way, is_unix):
    before = server.wait_for(lambda stats: stats["served"] == 1)["gone"]
    s = ask(server, target, is_unix)
    server.wait_for(lambda stats: stats["inside"] == 1)
    if target != b"/silent":
        read_until(s, b"\r\n\r\n")
    if way == "half" and target != b"/events/0":
        s.shutdown(socket.SHUT_WR)
    elif way == "reset" and not is_unix:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.close()
    else:
        s.close()
    server.wait_for(lambda stats: stats["gone"] == before + 1 and stats["served"] == 1, 5)
    s.close()


def test_client_that_leaves_with_bytes_unread_by_us_is_noticed(server):
    before = server.wait_for(lambda stats: stats["served"] == 1)["gone"]
    s = server.connect()
    s.sendall(b"GET /silent HTTP/1.1\r\nHost: a\r\n\r\n" + b"more that nobody reads" * 100)
    server.wait_for(lambda stats: stats["inside"] == 1)
    s.close()
    server.wait_for(lambda stats: stats["gone"] == before + 1, 5)


def test_client_that_takes_no_events_is_cut(start):
    server = start(event_ms=500)
    with ask(server, b"/events/0"):
        server.wait_for(lambda stats: stats["gone"] == 1 and stats["served"] == 1, 20)


def test_client_that_drips_a_long_event_is_cut(start):
    """It takes something within each event_ms, and would hold the event for as long as it likes."""
    server = start(event_ms=500, answer_rate=64 << 20)
    size, got = 32 << 20, 0
    with ask(server, b"/event/%d" % size, True) as s:
        while data := s.recv(100000):
            got += len(data)
            time.sleep(0.05)
    assert got < size
    server.wait_for(lambda stats: stats["gone"] == 1 and stats["served"] == 1)


def test_long_event_is_whole(server):
    answer = server.get("/event/3000000")
    assert answer.body == b"event: end\ndata: " + b"x" * 3000000 + b"\n\n"


def test_client_that_takes_no_end_is_cut(start):
    """Of streams that grow in steps of less than our buffer, one ends with its handler done and the rest in there, for
    a client that does not read. No thread stays for it."""
    server = start(event_ms=1500, answer_ms=500)
    sockets = [ask(server, b"/events/%d" % n, True) for n in range(400, 4400, 400)]
    server.wait_for(lambda stats: stats["served"] > 2)
    server.wait_for(lambda stats: stats["served"] == 1)
    for s in sockets:
        s.close()


def test_stop_ends_handlers_that_wait(start):
    server = start()
    sockets = [ask(server, target) for target in (b"/silent", b"/silent-events", b"/events/0") for _ in range(5)]
    sockets += [server.connect() for _ in range(20)]
    server.wait_for(lambda stats: stats["inside"] == 15)
    server.stop()  # in less than the minute that they would wait
    for s in sockets:
        s.close()
