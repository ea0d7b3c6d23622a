"""Bodies: read whole, streamed, refused before, during and after."""
import select
import socket
import threading
import time

import pytest
from wire import Answer, read_all, read_until

JSON = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
PUT = b"PUT /files/x HTTP/1.1\r\nHost: a\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
MIB = 1 << 20


def sized(head, body):
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_json_comes_whole(server):
    assert server.say(sized(JSON, b'{"a":1}')).body == b'{"a":1}'
    body = b"x" * 65536
    assert server.say(sized(JSON, body)).body == body
    assert server.say(JSON + CHUNKED + b"3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\nTrailer: x\r\n\r\n").body == b'{"a":1}'
    extended = server.say(JSON + CHUNKED + b"3;name=value\r\n{\"a\r\n4\r\n\":1}\r\n0\r\n\r\n")
    assert extended.body == b'{"a":1}' or extended.status == 400, "libmicrohttpd 1.0 takes no extension"
    assert server.say(JSON + b"\r\n").body == b""


@pytest.mark.parametrize("after", [0, 0.05])
def test_json_comes_with_its_head_or_after_it(server, after):
    """The two ways of a body: the gate has seen all of it, or the library brings it. The bound between them is what the
    gate looks at, 16 KiB + 1 with the head."""
    for size in (1, 16384 - 120, *range(16384 - 100, 16384 - 60), 16384, 40000):
        body = bytes([65 + size % 26]) * size
        head = JSON + b"Content-Length: %d\r\n\r\n" % size
        with server.connect() as s:
            if not after:
                s.sendall(head + body + b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            else:
                s.sendall(head + body[:size // 2])
                time.sleep(after if size < 100 else 0.005)
                s.sendall(body[size // 2:])
            answer = Answer(read_all(s))
        assert (answer.status, answer.body) == (200, body), size


def test_json_that_came_with_an_expectation(server):
    head = JSON + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    assert server.say(head + b"{}").body.endswith(b"{}")


@pytest.mark.parametrize("kind", [b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data",
                                  b"application/jsonx", b"application/json; charset=latin-1", b"text/json", b""])
def test_only_json_is_taken_for_json(server, kind):
    head = JSON.replace(b"application/json", kind)
    assert server.say(sized(head, b"{}")).problem() == "unsupported_media_type"
    assert server.say(sized(JSON.partition(b"Content-Type")[0], b"{}")).problem() == "unsupported_media_type"


@pytest.mark.parametrize("kind", [b"Application/JSON", b"application/json;charset=UTF-8", b"application/json ; charset=utf-8"])
def test_ways_to_write_json(server, kind):
    assert server.say(sized(JSON.replace(b"application/json", kind), b"{}")).status == 200


def test_refused_before_the_body(server):
    """401 comes before 413 and before 415, and without 100-continue."""
    head = b"POST /locked HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n"
    answer = server.say(head)
    assert answer.problem() == "unauthorized" and answer.headers["www-authenticate"] == "Bearer"


def test_expectation_is_met_when_the_body_is_wanted(server):
    with server.connect() as s:
        s.sendall(PUT + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
        assert Answer(read_until(s, b"\r\n\r\n")).status == 100
        s.sendall(b"hello")
        answer = Answer(read_all(s))
        assert (answer.status, answer.body) == (201, b"5\n")


def test_too_large_by_its_length(server):
    head = b"PUT /small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 65537\r\n\r\n"
    assert server.say(head).problem() == "too_large"
    assert server.say(JSON + b"Content-Length: 65537\r\n\r\n").problem() == "too_large"
    assert server.say(PUT + b"Content-Length: 9223372036854775807\r\n\r\n").problem() == "too_large"


def test_too_large_by_its_bytes(server):
    body = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    small = b"PUT /small HTTP/1.1\r\nHost: a\r\n"
    assert server.say(small + CHUNKED + body + b"0\r\n\r\n").body == b"65536\n"
    assert server.say(small + CHUNKED + body + b"1\r\nx\r\n0\r\n\r\n").problem() == "too_large"
    assert server.say(JSON + CHUNKED + body + b"1\r\nx\r\n0\r\n\r\n").problem() == "too_large"


@pytest.mark.parametrize("path", [b"/small", b"/full", b"/files/x"])
@pytest.mark.parametrize("is_unix", [False, True], ids=["tcp", "unix"])
def test_client_that_sends_first_and_reads_later_gets_its_refusal(server, path, is_unix):
    """200 MiB are sent blindly; the answer is not lost in a reset, and memory is flat (S16)."""
    before = server.memory_kib("VmHWM")
    block = b"x" * MIB
    with server.connect(is_unix) as s:
        s.sendall(b"PUT %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (path, 200 * MIB))
        for _ in range(200):
            s.sendall(block)
        answer = Answer(read_all(s))
    assert answer.status == {b"/small": 413, b"/full": 507, b"/files/x": 201}[path]
    assert server.grown_kib(before, "VmHWM") < 2048


def test_answer_in_the_middle_of_a_body(server):
    with server.connect() as s:
        s.sendall(b"PUT /full HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx")
        answer = Answer(read_all(s))
    assert answer.problem() == "home_full" and "date" in answer.headers


@pytest.mark.parametrize("body", [b"zz\r\n", b"-1\r\nx", b"0x1\r\nx\r\n0\r\n\r\n", b"\r\n\r\n", b"1\r\nxx\r\n0\r\n\r\n",
                                  b"g\r\n", b" 1\r\nx\r\n0\r\n\r\n", b"1 \r\nx\r\n0\r\n\r\n"])
def test_malformed_chunks_are_400(server, body):
    """libmicrohttpd answers these itself, in HTML; the handler sees a cut body."""
    answer = server.say(PUT + CHUNKED + body)
    assert answer.status == 400 and answer.headers["connection"] == "close"


def test_lenience_of_the_library_is_harmless(server):
    """It takes a bare LF in the framing of chunks. The same bytes could be read as a second request by nobody: there
    is none after the first."""
    before = server.stats()
    hidden = b"GET /ping HTTP/1.1\r\nHost: a\r\n\r\n"
    answer = server.say(PUT + CHUNKED + b"1\nx\n0\n\n" + hidden)
    assert (answer.status, answer.body) == (201, b"1\n")
    assert server.stats()["requests"] == before["requests"] + 2


def test_overlong_chunk_size_is_refused(server):
    assert server.say(PUT + CHUNKED + b"fffffffffffffffff\r\nx").status in (400, 413)
    with server.connect() as s:
        s.sendall(PUT + CHUNKED + b"ffffffffffffffff\r\nx")
        s.shutdown(socket.SHUT_WR)
        assert b" 201 " not in read_all(s)


def test_cut_body_is_not_taken_for_whole(server):
    for head in (b"Content-Length: 10\r\n\r\nabc", CHUNKED + b"5\r\nabc", CHUNKED + b"3\r\nabc\r\n"):
        with server.connect() as s:
            s.sendall(PUT + head)
            s.shutdown(socket.SHUT_WR)
            assert b" 201 " not in read_all(s)
    server.wait_for(lambda stats: stats["served"] == 1)


@pytest.mark.parametrize("way", ["length", "chunked"])
def test_stalled_body_is_408(start, way):
    server = start(body_ms=700)
    framing = CHUNKED + b"64\r\nabc" if way == "chunked" else b"Content-Length: 100\r\n\r\nabc"
    for head in (PUT, JSON):
        with server.connect() as s:
            s.sendall(head + framing)
            assert Answer(read_all(s)).problem() == "request_timeout"
    server.wait_for(lambda stats: stats["served"] == 1)


def test_dripping_body_is_408(start):
    """Each byte is in time, all together are too slow."""
    server = start(body_ms=1000)
    with server.connect() as s:
        s.sendall(PUT + b"Content-Length: 1000\r\n\r\n")
        try:
            for _ in range(990):  # in some 20 s
                s.sendall(b"x")
                time.sleep(0.02)
        except OSError:
            pass
        assert b" 408 " in s.recv(4096)


def test_body_in_tiny_pieces(server):
    body = b"".join(b"1\r\nx\r\n" for _ in range(3000)) + b"0\r\n\r\n"
    assert server.say(PUT + CHUNKED + body).body == b"3000\n"


def test_body_of_a_route_without_one_is_ignored(server):
    head = b"GET /ping HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n"
    assert server.say(head).body == b"pong\n"
    assert server.say(head + b"x" * 100000).body == b"pong\n"


def test_uploads_at_once(server):
    sums = []

    def upload():
        with server.connect() as s:
            s.sendall(PUT + b"Content-Length: %d\r\n\r\n" % (8 * MIB))
            for _ in range(64):
                s.sendall(b"x" * (MIB // 8))
            sums.append(Answer(read_all(s)).body)

    threads = [threading.Thread(target=upload) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == [b"%d\n" % (8 * MIB)] * 16


def test_hundred_mib_up_at_constant_memory(server):
    assert server.say(sized(PUT, b"x" * MIB)).status == 201
    before = server.memory_kib("VmHWM")
    with server.connect() as s:
        s.sendall(PUT + b"Content-Length: %d\r\n\r\n" % (100 * MIB))
        for _ in range(100):
            s.sendall(b"x" * MIB)
        assert Answer(read_all(s)).body == b"%d\n" % (100 * MIB)
    assert server.grown_kib(before, "VmHWM") < 2048


def test_bodies_in_memory_are_bounded_together(start):
    """Two half-sent bodies hold all that there is for bodies; a third is told to come back, and later is served."""
    server = start(bodies_max_bytes=100000)
    head = JSON + b"Content-Length: 60000\r\n\r\n"
    for _ in range(100):
        with server.connect() as first, server.connect() as second:
            for s in (first, second):
                s.sendall(head + b"x" * 50000)
            answer = server.say(sized(JSON, b"{}"))
            while answer.status == 200 and not select.select([first, second], [], [], 0)[0]:
                answer = server.say(sized(JSON, b"{}"))
        server.wait_for(lambda stats: stats["served"] == 1)
        if answer.status != 200:
            break  # else the third had what one of the two then lacked
    assert answer.problem() == "server_busy" and answer.headers["retry-after"] == "1"
    assert answer.json()["advice"].startswith("Send fewer at once")
    assert server.say(sized(JSON, b"x" * 60000)).status == 200
