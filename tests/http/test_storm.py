"""Everything at once, with a fixed seed: good and broken requests, cut anywhere, by clients that leave at any time. The
server must answer afterwards, hold nothing, and end well; a sanitizer's build of it must have nothing to say."""
import os
import random
import socket
import threading
import time

CLIENTS = 24
SECONDS = 60 if os.environ.get("CLOCHE_LONG") == "1" else 4
REQUESTS = [
    b"GET /ping HTTP/1.1\r\nHost: a\r\n\r\n",
    b"HEAD /files/storm HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /files/storm HTTP/1.1\r\nHost: a\r\nRange: bytes=1000-\r\n\r\n",
    b"GET /events/2000 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /events/0 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /silent?a=50 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /silent-events?a=50 HTTP/1.0\r\n\r\n",
    b"GET /mute HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n" + b"x" * 9000,
    b"PUT /files/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + b"5\r\nhello\r\n" * 50 + b"0\r\n\r\n",
    b"PUT /small HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n" + b"x" * 100000,
    b"PUT /full HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9000\r\n\r\n" + b"x" * 9000,
]


def spoil(data, dice):
    """Changes, cuts or doubles bytes; often nothing."""
    way = dice.randrange(8)
    at = dice.randrange(len(data))
    if way == 0:
        return data[:at] + bytes([dice.randrange(256)]) + data[at + 1:]
    if way == 1:
        return data[:at]
    if way == 2:
        return data + data
    if way == 3:
        return data[:at] + data[at:at + 20] + data[at:]
    return data


def one_client(server, dice):
    s = server.connect(dice.randrange(2) == 0, 0.3)
    try:
        data = spoil(dice.choice(REQUESTS), dice)
        cut = dice.randrange(len(data) + 1)
        s.sendall(data[:cut])
        if dice.randrange(4) == 0:
            time.sleep(0.005)
        s.sendall(data[cut:])
        if dice.randrange(4) == 0:
            s.shutdown(socket.SHUT_WR)
        for _ in range(dice.randrange(6)):
            if not s.recv(1 << dice.randrange(1, 17)):
                break
    except OSError:
        pass
    s.close()


def test_storm(start):
    server = start(head_ms=200, body_ms=200, answer_ms=300, event_ms=200, linger_ms=100, comment_ms=20, served_max=32,
                   waiting_max=64)
    (server.files / "storm").write_bytes(b"x" * 300000)
    end = time.monotonic() + SECONDS

    def client(seed):
        dice = random.Random(seed)
        while time.monotonic() < end:
            one_client(server, dice)

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stats = server.wait_for(lambda stats: stats["served"] == 1 and stats["waiting"] == 0)
    assert stats["requests"] > 100 and stats["refused"] > 20
    deadline = time.monotonic() + 30  # those that linger go by and by
    while server.descriptors() >= 25:
        assert time.monotonic() < deadline
        time.sleep(0.02)
