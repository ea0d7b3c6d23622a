"""Files as answers: ranges, HEAD, memory, and a file that changes while it is sent."""
import os

import pytest
from wire import Answer, read_until

MIB = 1 << 20
RANGES = [  # header, size, status, first, length
    ("bytes=0-0", 10, 206, 0, 1),
    ("bytes=0-9", 10, 206, 0, 10),
    ("bytes=5-", 10, 206, 5, 5),
    ("bytes=5-100", 10, 206, 5, 5),
    ("bytes=-3", 10, 206, 7, 3),
    ("bytes=-30", 10, 206, 0, 10),
    ("bytes=9-9", 10, 206, 9, 1),
    ("bytes=10-", 10, 416, 0, 0),
    ("bytes=-0", 10, 416, 0, 0),
    ("bytes=0-", 0, 416, 0, 0),
    ("bytes=-1", 0, 200, 0, 0),
    ("bytes=3-2", 10, 200, 0, 10),
    ("bytes=0-1,3-4", 10, 200, 0, 10),
    ("lines=0-1", 10, 200, 0, 10),
    ("bytes=x", 10, 200, 0, 10),
    ("bytes=18446744073709551616-", 10, 416, 0, 0),
]


def make(server, name, size):
    data = os.urandom(size)
    (server.files / name).write_bytes(data)
    return data


@pytest.mark.parametrize("header, size, status, first, length", RANGES)
def test_ranges(server, header, size, status, first, length):
    data = make(server, "r", size)
    answer = server.get("/files/r", f"Range: {header}")
    assert answer.status == status
    if status == 416:
        assert answer.problem() == "range_not_satisfiable"
        assert answer.headers["content-range"] == f"bytes */{size}"
        return
    assert answer.body == data[first:first + length]
    assert answer.headers["accept-ranges"] == "bytes"
    if status == 206:
        assert answer.headers["content-range"] == f"bytes {first}-{first + length - 1}/{size}"
    else:
        assert "content-range" not in answer.headers


def test_condition_of_a_range_gives_the_whole(server):
    data = make(server, "c", 10)
    answer = server.get("/files/c", "Range: bytes=1-2", 'If-Range: "x"')
    assert (answer.status, answer.body) == (200, data)


@pytest.mark.parametrize("size", [0, 1, 65535, 65536, 65537, 300000])
def test_sizes_and_head(server, size):
    data = make(server, "s", size)
    got = server.get("/files/s")
    assert got.body == data and got.headers["content-length"] == str(size)
    head = server.get("/files/s", "Range: bytes=0-0", method="HEAD")
    drop = ("date", "x-request-id")
    assert head.status == 200 and head.body == b""
    assert {k: v for k, v in head.headers.items() if k not in drop} == \
        {k: v for k, v in got.headers.items() if k not in drop}


def test_head_of_other_answers(server):
    assert server.get("/ping", method="HEAD").headers["content-length"] == "5"
    assert server.get("/nothing", method="HEAD").status == 404
    assert server.get("/events/5", method="HEAD").headers["content-type"] == "text/event-stream"
    server.wait_for(lambda stats: stats["served"] == 1)


def test_what_is_no_regular_file_is_404(server):
    os.makedirs(server.files / "d", exist_ok=True)
    if not (server.files / "p").exists():
        os.mkfifo(server.files / "p")
    for name in ("d", "p", "none", "d/none"):
        assert server.get(f"/files/{name}").problem() == "not_found"


def test_hundred_mib_down_at_constant_memory(server):
    data = make(server, "big", MIB) * 100
    (server.files / "big").write_bytes(data)
    before = server.memory_kib("VmHWM")
    assert server.get("/files/big").body == data
    assert server.grown_kib(before, "VmHWM") < 2048


def test_file_that_shrinks_ends_the_connection_short(server):
    """libmicrohttpd's own file responses would spin here for ever."""
    path = server.files / "shrinking"
    path.write_bytes(b"x" * (64 * MIB))
    with server.connect() as s:
        s.sendall(b"GET /files/shrinking HTTP/1.1\r\nHost: a\r\n\r\n")
        data = read_until(s, b"\r\n\r\n")
        assert b"Content-Length: %d\r\n" % (64 * MIB) in data
        os.truncate(path, 1000)
        n = len(data)
        while chunk := s.recv(1 << 20):
            n += len(chunk)
        assert n < 64 * MIB
    server.wait_for(lambda stats: stats["served"] == 1)


def test_file_that_grows_is_sent_as_it_was(server):
    path = server.files / "growing"
    path.write_bytes(b"x" * (8 * MIB))
    with server.connect() as s:
        s.sendall(b"GET /files/growing HTTP/1.1\r\nHost: a\r\n\r\n")
        data = read_until(s, b"\r\n\r\n")
        with open(path, "ab") as f:
            f.write(b"y" * MIB)
        while chunk := s.recv(1 << 20):
            data += chunk
        assert Answer(data).body == b"x" * (8 * MIB)


def test_reader_that_stops_reading_is_cut(start):
    server = start(answer_ms=500, answer_rate=1 << 30)
    with open(server.files / "slow", "wb") as f:
        f.truncate(64 * MIB)
    with server.connect() as s:
        s.sendall(b"GET /files/slow HTTP/1.1\r\nHost: a\r\n\r\n")
        server.wait_for(lambda stats: stats["served"] == 2)
        server.wait_for(lambda stats: stats["served"] == 1)
