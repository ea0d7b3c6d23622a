"""The network of a session: its runs use one namespace after the other, and none finds anything of the one before."""
import fcntl
import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from test_spares import SLEEP, spare_of

NS_GET_USERNS = 0xB701

# Whoever closes first would keep its port for a minute (TIME_WAIT); what nobody has read or accepted is in flight.
LEAVE = """
import array, os, socket, time
kept = []
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    server = socket.socket(family); server.bind((host, 5000)); server.listen(8)
    for number in range(6):
        client = socket.socket(family); client.bind((host, 6000 + number)); client.connect((host, 5000))
        if number < 4:
            peer, _ = server.accept()
            if number >= 2: peer.send(b"x" * 100000)
            (peer if number % 2 else client).close()
            kept.append(peer)
        kept.append(client)
    kept.append(server)
    client = socket.socket(family); client.bind((host, 7000)); client.setblocking(False)
    try: client.connect((host, 5001))
    except OSError: pass
    udp = socket.socket(family, socket.SOCK_DGRAM); udp.bind((host, 5000)); udp.sendto(b"old", (host, 5000))
    kept += [client, udp]
name = socket.socket(socket.AF_UNIX); name.bind("\\0name"); name.listen(8)
caller = socket.socket(socket.AF_UNIX); caller.connect("\\0name"); caller.send(b"old")
mail = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); mail.bind("\\0mail"); mail.sendto(b"old", "\\0mail")
# a listener that is held by nothing but messages in flight to each other
left, right = socket.socketpair()
for one, other in ((left, right), (right, left)):
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [other.fileno(), name.fileno()]))])
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
print("left")
os._exit(0)
"""

FIND = """
import os, socket
found = []
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    for port in (5000, 5001, 7000, *range(6000, 6006)):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            if kind == socket.SOCK_STREAM:
                with socket.socket(family, kind) as s:
                    s.settimeout(2)
                    try: s.connect((host, port)); found.append(f"{host} {port} answers")
                    except ConnectionRefusedError: pass
            s = socket.socket(family, kind)
            try: s.bind((host, port))
            except OSError as e: found.append(f"{host} {port} {kind}: {e}")
            if kind == socket.SOCK_DGRAM:
                s.setblocking(False)
                try: found.append(s.recv(100))
                except BlockingIOError: pass
for kind, name in ((socket.SOCK_STREAM, "\\0name"), (socket.SOCK_DGRAM, "\\0mail")):
    s = socket.socket(socket.AF_UNIX, kind)
    try: s.connect(name); found.append(f"{name!r} answers")
    except ConnectionRefusedError: pass
    s = socket.socket(socket.AF_UNIX, kind)
    try: s.bind(name)
    except OSError as e: found.append(f"{name!r}: {e}")
print(found)
"""

# Connections both ends of which drop all that comes: their own ends, and the other's, are never heard of.
DEAF = """
import os, socket
IP_MINTTL, TCP_LINGER2, TCP_USER_TIMEOUT, TCP_RTO_MIN_US = 21, 8, 18, 45
kept, server = [], socket.create_server(("127.0.0.1", 0))
for _ in range(20):
    one = socket.create_connection(server.getsockname())
    for s in (one, server.accept()[0]):
        for option, value in ((TCP_LINGER2, 120), (TCP_USER_TIMEOUT, 2**31 - 1), (TCP_RTO_MIN_US, 120 * 10**6)):
            try: s.setsockopt(socket.IPPROTO_TCP, option, value)
            except OSError: pass
        s.setsockopt(socket.IPPROTO_IP, IP_MINTTL, 255)
        s.setblocking(False)
        kept.append(s)
    try:
        while one.send(bytes(65536)): pass
    except BlockingIOError: pass
print("left")
os._exit(0)
"""


# One object of System V, which outlives its process, or two with a key and without.
LEAVE_IPC = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
IPC_CREAT = 0o1000
kind, key = "{kind}", {key}
made = {{"shm": lambda: libc.shmget(key, 4096, IPC_CREAT | 0o666), "sem": lambda: libc.semget(key, 1, IPC_CREAT | 0o666),
        "msg": lambda: libc.msgget(key, IPC_CREAT | 0o666), "none": lambda: 0}}[kind]()
assert made >= 0, os.strerror(ctypes.get_errno())
print("left")
"""

FIND_IPC = """
import ctypes
libc = ctypes.CDLL(None)
info = ctypes.create_string_buffer(256)
SHM_INFO, MSG_INFO, SEM_INFO = 14, 12, 19
print(libc.shmget(77, 0, 0), libc.semget(77, 0, 0), libc.msgget(77, 0),
      [libc.shmctl(0, SHM_INFO, info), int.from_bytes(info[:4], "little")], libc.semctl(0, 0, SEM_INFO, info),
      libc.msgctl(0, MSG_INFO, info))
"""
NO_IPC = "-1 -1 -1 [0, 0] 0 0\n"


def orphans():
    """Connections without a process, on the whole host."""
    return int(re.search(r"orphan (\d+)", Path("/proc/net/sockstat").read_text())[1])


def network_of(init):
    return os.readlink(f"/proc/{init}/ns/net")


def spaces_of(init):
    return {kind: os.readlink(f"/proc/{init}/ns/{kind}") for kind in ("net", "ipc")}


def owner_of(path):
    """The user namespace that a namespace belongs to."""
    with open(path) as namespace:
        fd = fcntl.ioctl(namespace, NS_GET_USERNS)
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)


def test_runs_share_one_and_leave_nothing_in_it(jaild):
    session = jaild.open()
    assert jaild.result(session, LEAVE)[1] == "left\n"
    network = network_of(spare_of(jaild))
    for _ in range(3):
        assert jaild.result(session, FIND)[1] == "[]\n"
        assert jaild.result(session, LEAVE)[1] == "left\n"
        assert network_of(spare_of(jaild)) == network


def test_run_that_comes_at_once_finds_nothing(jaild):
    """No spare is there yet, and the kernel has had no time."""
    session = jaild.open()
    for _ in range(5):
        assert jaild.result(session, LEAVE)[1] == "left\n"
        assert jaild.result(session, FIND)[1] == "[]\n"


@pytest.mark.parametrize("key", [77, 0])
@pytest.mark.parametrize("kind", ["shm", "sem", "msg"])
def test_objects_of_system_v_are_in_no_other_run(jaild, kind, key):
    """They outlive their processes. The next run is in other namespaces then; also the one that comes at once."""
    session = jaild.open()
    assert jaild.result(session, LEAVE_IPC.format(kind="none", key=key))[1] == "left\n"
    before = spaces_of(spare_of(jaild))
    assert jaild.result(session, LEAVE_IPC.format(kind="none", key=key))[1] == "left\n"
    init = spare_of(jaild)
    assert spaces_of(init) == before
    # held, so that nobody else gets their numbers
    held = [os.open(f"/proc/{init}/ns/{kind}", os.O_RDONLY) for kind in before]
    for _ in range(3):
        assert jaild.result(session, LEAVE_IPC.format(kind=kind, key=key))[1] == "left\n"
        assert jaild.result(session, FIND_IPC)[1] == NO_IPC
    now = spaces_of(spare_of(jaild))
    assert now["ipc"] != before["ipc"] and now["net"] != before["net"]
    for fd in held:
        os.close(fd)


def test_deaf_connections_do_not_outlive_their_run(jaild):
    """They would hold memory that is charged to nobody, for minutes; with TCP_USER_TIMEOUT for weeks."""
    session, before = jaild.open(), orphans()
    for _ in range(3):
        assert jaild.result(session, DEAF)[1] == "left\n"
    until = time.monotonic() + 60
    while orphans() > before + 10:  # the host has some of its own
        assert time.monotonic() < until
        time.sleep(0.1)


def test_it_keeps_nothing_of_connections(jaild):
    """Beyond what the other tests see: a table of the kernel that is one for all networks."""
    session = jaild.open()
    jaild.result(session, "print(1)")
    read = ["nsenter", "-n", "-t", str(spare_of(jaild)), "cat", "/proc/sys/net/ipv4/tcp_no_metrics_save"]
    assert subprocess.run(read, capture_output=True, check=True).stdout == b"1\n"


def test_no_root_of_a_cell_owns_it(jaild):
    session = jaild.open()
    jaild.result(session, "print(1)")
    init = spare_of(jaild)
    mine = os.readlink(f"/proc/{init}/ns/user")
    assert owner_of(f"/proc/{init}/ns/mnt") == mine
    for kind in ("net", "ipc"):
        assert owner_of(f"/proc/{init}/ns/{kind}") != mine
        assert owner_of(f"/proc/{init}/ns/{kind}") != os.readlink(f"/proc/{jaild.pid}/ns/user")


def test_sessions_have_their_own(jaild):
    networks = set()
    for number in range(4):
        run = jaild.run(jaild.open(f"s{number}"), SLEEP)
        assert run.line() == "up"
        networks |= {network_of(init) for init in jaild.inits()}
        assert len(networks) == number + 1
    assert os.readlink("/proc/self/ns/net") not in networks


def test_live_interpreter_shares_it_with_nobody(jaild):
    """It waits between its calls while fresh runs go on beside it."""
    session = jaild.open()
    assert jaild.result(session, LEAVE)[1] == "left\n"  # its cell is one that the session had ready
    call = jaild.live(session, "import socket; s = socket.create_server(('127.0.0.1', 5000))")
    assert call.ended()["code"] == 0
    call.close()
    kept = set(jaild.inits())
    for _ in range(2):
        assert jaild.result(session, FIND)[1] == "[]\n"
        run = jaild.run(session, SLEEP)
        assert run.line() == "up"
        networks = [network_of(init) for init in jaild.inits()]
        assert len(networks) == len(set(networks)) > len(kept & set(jaild.inits())) > 0
        jaild.cancel(run.started()["run"])
        run.ended()
        run.close()


@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_it_goes_with_a_run_that_had_to_be_stopped(jaild, how):
    """The one of a session at rest goes with its spare: tests/protocol/test_spares.py."""
    session = jaild.open()
    before = jaild.descriptors()
    run = jaild.run(session, SLEEP, wall_ms=300 if how == "timeout" else 0)
    assert run.line() == "up"
    assert len(jaild.descriptors()) > len(before)
    if how == "cancel":
        jaild.cancel(run.started()["run"])
    run.ended()
    run.close()
    assert jaild.descriptors_once(before) == before
    assert jaild.result(session, FIND)[1] == "[]\n"
