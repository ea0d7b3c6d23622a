"""What the host offers on its loopback, by abstract names and by paths cannot be reached from a run."""
import os
import socket
from pathlib import Path

import pytest
from idea import PRELUDE
from runner import SECRET_FILE

pytestmark = pytest.mark.both


def refused_in(cloche, body):
    run = cloche.run(PRELUDE + body + "\nverdict()\n")
    assert run.last_line == "SAFE", run.explain()


@pytest.mark.parametrize("family, address", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_listener_on_the_hosts_loopback(cloche, family, address):
    with socket.socket(family) as listener:
        listener.bind((address, 0))
        listener.listen()
        listener.settimeout(0.1)
        port = listener.getsockname()[1]
        refused_in(cloche, f"fails('connect', lambda: socket.create_connection(('{address}', {port}), 2))")
        with pytest.raises(TimeoutError):
            listener.accept()


def test_an_abstract_socket_of_the_host(cloche):
    name = f"\0cloche-host-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        refused_in(cloche, f"fails('connect', lambda: socket.socket(socket.AF_UNIX).connect({name!r}))")


def test_a_world_writable_path_socket_of_the_host(cloche):
    path = Path(f"/tmp/cloche-host-{os.getpid()}.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o777)
        listener.listen()
        try:
            refused_in(cloche, f"fails('connect', lambda: socket.socket(socket.AF_UNIX).connect({str(path)!r}))")
        finally:
            path.unlink()


def test_files_of_the_host_by_every_spelling(cloche):
    shared = Path(f"/tmp/cloche-host-{os.getpid()}.txt")
    shared.write_text("of the host")
    try:
        names = [str(shared), str(SECRET_FILE), f"/mnt/data/../..{shared}", f"//{shared}", "/etc/shadow",
                 f"/dev/shm/../..{SECRET_FILE}", "/dev/fd/../../../../etc/shadow", str(cloche.folder)]
        refused_in(cloche, f"for name in {names!r}:\n    fails(name, lambda: os.stat(name))")
    finally:
        shared.unlink()


def test_processes_of_the_host(cloche):
    refused_in(cloche, f"fails('signal', lambda: os.kill({os.getpid()}, 0), errno.ESRCH)")


def test_system_v_segments_of_the_host(cloche):
    import ctypes
    libc = ctypes.CDLL(None)
    key = 0x10C0 + os.getpid()
    number = libc.shmget(key, 4096, 0o1666)
    assert number >= 0
    try:
        refused_in(cloche, f"if libc.shmget({key}, 0, 0) != -1:\n    escaped('the segment of the host')")
    finally:
        libc.shmctl(number, 0, None)


def test_posix_shared_memory_of_the_host(cloche):
    path = Path(f"/dev/shm/cloche-host-{os.getpid()}")
    path.write_text("of the host")
    path.chmod(0o666)
    try:
        refused_in(cloche, f"fails('open', lambda: open({str(path)!r}))")
    finally:
        path.unlink()


def test_the_callers_terminal(cloche):
    """With a terminal on all three descriptors of the program, the script still gets pipes and no terminal."""
    import pty
    import subprocess
    body = ("for fd in (0, 1, 2):\n    if os.isatty(fd):\n        escaped(f'{fd} is a terminal')\n"
            "fails('/dev/tty', lambda: os.open('/dev/tty', os.O_RDWR))\n"
            "refused('TIOCSTI', sc(16, 1, 0x5412, b'x'), EPERM)\nverdict()\n")
    mine, theirs = pty.openpty()
    try:
        argv = cloche.argv(PRELUDE + body, json_answer=False, out=False)
        child = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cloche.folder, env=cloche.environ(),
                                 start_new_session=True)
        assert child.wait(20) == 0
        said = os.read(mine, 65536).decode(errors="replace").strip().splitlines()
        assert "SAFE" in said, said
    finally:
        os.close(mine)
        os.close(theirs)
