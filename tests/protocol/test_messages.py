"""What is no message ends its connection, and the first connection's end is jaild's; what is one but means nothing is
refused.
"""
import contextlib
import errno
import fcntl
import os
import random
import resource
import socket
import struct

import pytest
import tables
import wire
from wire import Type

BODIES = {
    Type.STATUS: b"",
    Type.SESSION_OPEN: wire.open_body("key", tables.profile("strict")),
    Type.SESSION_CLOSE: bytes(8),
    Type.RUN: bytes(24),
    Type.RUN_CANCEL: bytes(8),
    Type.FILE_OPEN: wire.file_body(1, "a"),
    Type.FILE_CREATE: wire.file_body(1, "a"),
    Type.FILE_COMMIT: bytes(24),
    Type.FILE_ABORT: bytes(8),
    Type.FILE_REMOVE: wire.file_body(1, "a"),
    Type.LIST: bytes(32),
    Type.ATTACH: b"",
    Type.SPARES: wire.spares_body(1, tables.profile("strict")),
    Type.MAKE: wire.make_body(1, wire.MAKE_FOLDER, "a"),
    Type.LIVE: bytes(24),
    Type.RUN_LOOK: bytes(8),
}
DESCRIPTORS = {kind: {Type.RUN: 5, Type.LIVE: 5, Type.ATTACH: 1}.get(kind, 0) for kind in BODIES}
ANSWERS = [kind for kind in Type if kind not in BODIES]
each_request = pytest.mark.parametrize("kind", BODIES, ids=[kind.name for kind in BODIES])


def is_hung_up_on(client, data, fds=()):
    """True if jaild answers nothing but closes the connection."""
    client.send_bytes(data, fds)
    return client.ends() == []


def nulls(n):
    return [os.open("/dev/null", os.O_RDONLY) for _ in range(n)]


def send_refused(shared, data, n_fds):
    """A bad message over a connection of its own: that one is closed, nothing else happens."""
    fds = nulls(n_fds)
    before = shared.descriptors()
    with shared.attach() as client:
        assert is_hung_up_on(client, data, fds), "jaild has taken it"
    for fd in fds:
        os.close(fd)
    assert shared.status()["cells"] == 0
    assert shared.descriptors() == before


def test_table_of_requests_is_whole():
    """Types up to the first answer are requests: a new one needs a row here."""
    assert sorted(BODIES) == list(range(1, Type.FAILED))


@pytest.mark.parametrize("number", [0, max(Type) + 1, 255, 256, 0x0101, 0xFFFF])
def test_unknown_type(number, shared):
    for body in (b"", bytes(8), bytes(16)):
        send_refused(shared, struct.pack("<HHI", number, wire.VERSION, 1) + body, 0)


@pytest.mark.parametrize("kind", ANSWERS, ids=[kind.name for kind in ANSWERS])
def test_answer_sent_as_request(kind, shared):
    size = struct.calcsize(wire._FIELDS[kind][0])
    has_fd = kind in (Type.FILE_IS, Type.UPLOAD_IS, Type.LISTING_IS)
    send_refused(shared, wire.header(kind, 1) + bytes(size), int(has_fd))


@each_request
def test_wrong_size(kind, shared):
    body, n_fds = BODIES[kind], DESCRIPTORS[kind]
    whole = wire.header(kind, 1) + body
    for data in {whole + b"\0", whole + bytes(8), whole[:-1], whole[:8] + b"\0", whole[:4], whole[:1]} - {whole}:
        send_refused(shared, data, n_fds)


@each_request
def test_wrong_version(kind, shared):
    for version in (0, wire.VERSION + 1, 0xFFFF):
        send_refused(shared, wire.header(kind, 1, version) + BODIES[kind], DESCRIPTORS[kind])


@each_request
def test_wrong_number_of_descriptors(kind, shared):
    may_be_less = {4} if kind == Type.LIVE else set()  # without its stdin
    for n in {0, 1, 3, 4, 5, 6, 8, 9, 64, 253} - {DESCRIPTORS[kind]} - may_be_less:
        send_refused(shared, wire.header(kind, 1) + BODIES[kind], n)


def test_empty_message(shared):
    send_refused(shared, b"", 0)


def test_largest_message(shared):
    send_refused(shared, wire.header(Type.STATUS, 1) + bytes(64 * 1024), 0)


@pytest.mark.parametrize("at", range(7))
def test_reserved_byte_of_session_open(at, shared):
    reserved = bytes(1 if i == at else 0 for i in range(7))
    body = wire.open_body("key", tables.profile("strict"), reserved)
    send_refused(shared, wire.header(Type.SESSION_OPEN, 1) + body, 0)


@pytest.mark.parametrize("kind", [Type.FILE_OPEN, Type.FILE_CREATE, Type.FILE_REMOVE], ids=lambda kind: kind.name)
def test_reserved_bytes_of_files(kind, shared):
    for changes in ({"reserved": 1}, {"reserved": 1 << 31}, {"padding": b"\1" + bytes(6)},
                    {"padding": bytes(6) + b"\1"}):
        send_refused(shared, wire.header(kind, 1) + wire.file_body(1, "a", **changes), 0)


def test_reserved_field_of_spares(shared):
    body = wire.spares_body(1, tables.profile("strict"), reserved=1)
    send_refused(shared, wire.header(Type.SPARES, 1) + body, 0)


def test_reserved_field_of_list(shared):
    send_refused(shared, wire.header(Type.LIST, 1) + struct.pack("<QII16x", 1, 0, 1), 0)


@pytest.mark.parametrize("kind", [Type.FILE_OPEN, Type.FILE_CREATE, Type.FILE_REMOVE], ids=lambda kind: kind.name)
@pytest.mark.parametrize("path", [b"a\0b", b"\0a", b"a" + bytes(4095) + b"b", b"a" * 4097], ids=[
    "NUL inside", "NUL first", "byte at the end", "no NUL"])
def test_path_that_is_no_string(kind, path, shared):
    send_refused(shared, wire.header(kind, 1) + wire.file_body(1, path), 0)


@pytest.mark.parametrize("key", ["a\0b", "\0a", "a" * 129], ids=["NUL inside", "NUL first", "no NUL"])
def test_key_that_is_no_string(key, shared):
    send_refused(shared, wire.header(Type.SESSION_OPEN, 1) + wire.open_body(key, tables.profile("strict")), 0)


@pytest.mark.parametrize("key", ["", "a b", "a/b", "..", "a\nb", "ключ", "a;b", " "], ids=ascii)
def test_bad_key(key, client, refused):
    with refused(errno.ERANGE):
        client.open(key)


def test_longest_key(client):
    client.close(client.open("k" * 128))


def test_key_in_use(client, session, refused):
    other = client.open("same")
    with refused(errno.EEXIST):
        client.open("same")
    client.close(other)
    client.close(client.open("same"))


@pytest.mark.parametrize("name", tables.limits())
def test_limit_out_of_range(name, client, refused):
    least, most = tables.limits()[name]
    for value in {least - 1, most + 1, 2**64 - 1, 2**63} - {-1}:
        with refused(errno.ERANGE):
            client.open("key", **{name: value})


@pytest.mark.parametrize("which", [0, 1], ids=["least", "most"])
def test_limits_at_the_ends_of_their_ranges(which, client):
    limits = {name: ends[which] for name, ends in tables.limits().items()}
    client.close(client.open("key", **limits))


def test_runs_with_the_largest_limits(client):
    """No sum of the largest limits overflows on the way into the cell."""
    limits = {name: most for name, (_, most) in tables.limits().items()}
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # the host's own limit, which no cell can pass
    session = client.open("key", **{**limits, "open_files": min(hard, limits["open_files"])})
    _, text = client.result(session, "print(6 * 7)")
    client.close(session)
    assert text == "42\n"


SESSION_CALLS = {
    Type.SESSION_CLOSE: struct.pack("<Q", 999),
    Type.FILE_OPEN: wire.file_body(999, "a"),
    Type.FILE_CREATE: wire.file_body(999, "a"),
    Type.FILE_REMOVE: wire.file_body(999, "a"),
    Type.LIST: struct.pack("<QII16x", 999, 0, 0),
}


@pytest.mark.parametrize("kind", SESSION_CALLS, ids=[kind.name for kind in SESSION_CALLS])
def test_unknown_session(kind, client, refused):
    with refused(errno.ENOENT):
        client.call(kind, SESSION_CALLS[kind], Type.DONE)


def test_run_in_unknown_session(client, refused):
    with refused(errno.ENOENT):
        client.run(999, "print(1)").started()


@pytest.mark.parametrize("kind", [Type.FILE_COMMIT, Type.FILE_ABORT], ids=lambda kind: kind.name)
def test_unknown_upload(kind, client, refused):
    for number in (0, 999, 2**64 - 1):
        with refused(errno.ESRCH):
            client.call(kind, struct.pack("<Q", number) + BODIES[kind][8:], Type.DONE)


def test_cancel_of_unknown_run(client, session, refused):
    for number in (0, session, 999, 2**64 - 1):
        with refused(errno.ESRCH):
            client.cancel(number)


def test_each_answer_has_its_number(client):
    numbers = [1, 2, 0xFFFFFFFF, 0, 77, 77]
    for number in numbers:
        client.send(Type.STATUS, seq=number)
    assert [client.receive().seq for _ in numbers] == numbers


def test_attach_of_what_is_no_seqpacket_socket(client, shared, refused):
    stream, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    before = shared.descriptors()
    with stream, other, udp, open("/dev/null") as null:
        for fd in (stream.fileno(), udp.fileno(), null.fileno()):
            with refused(errno.ENOTSOCK):
                client.answer(client.send(Type.ATTACH, fds=[fd]), Type.DONE)
    assert shared.descriptors() == before


def test_garbage(shared):
    """Random bytes, and messages with a few random bytes in them."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for _ in range(150):
        kind = chance.choice(list(BODIES))
        data = bytearray(wire.header(kind, 1) + BODIES[kind])
        if chance.random() < 0.3:
            data = bytearray(chance.randbytes(chance.randrange(1, 300)))
        for _ in range(chance.randrange(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        fds = nulls(DESCRIPTORS[kind] if chance.random() < 0.8 else chance.randrange(9))
        with shared.attach() as client:
            client.send_bytes(bytes(data), fds)
            client.socket.shutdown(socket.SHUT_WR)
            for message in client.ends():  # an answer is fine, if it was a message after all
                for fd in message.fds:
                    os.close(fd)
                if message.kind == Type.SESSION_IS:
                    shared.close(message["session"])
        for fd in fds:
            os.close(fd)
    assert shared.status()["sessions"] == 0


@pytest.mark.parametrize("data", [b"", b"x", wire.header(0, 1), wire.header(Type.STATUS, 1) + b"x", bytes(100_000)],
                         ids=["empty", "short", "no type", "too long", "huge"])
def test_bad_message_over_the_first_connection_ends_jaild(data, jaild):
    session = jaild.open()
    run = jaild.run(session, "import time\nprint('up', flush=True)\ntime.sleep(30)")
    run.started()
    assert run.line() == "up"
    jaild.send_bytes(data)
    assert not [said for said in jaild.ends() if said.kind != Type.RUN_ENDED]
    jaild.launcher.wait(10)


def test_a_log_that_nobody_reads_stops_nothing(jaild):
    """jaild waited for room in its log's pipe, and every session with it."""
    pipe = os.open(f"/proc/{jaild.launcher.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
    assert not fcntl.fcntl(jaild.launcher.stderr, fcntl.F_GETFL) & os.O_NONBLOCK
    for size in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(pipe, bytes(size))
    for _ in range(3):
        with jaild.attach() as other:
            assert is_hung_up_on(other, b"x")
    assert jaild.result(jaild.open("one"), "print(1)")[1] == "1\n"
    os.close(pipe)
