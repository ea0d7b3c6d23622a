"""`cloche up` on cgroup v2 and the stock kernel's Landlock: a run, a new jaild, a new supervisor, an end without rest."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time

import guest_cell as cell
from guest_table import guest_test

READY_S = 90


def ask(state, method, path, body=None):
    """One request over the unix socket: status and body, or None while nobody is there."""
    data = json.dumps(body).encode() if body else b""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n"
    head += "Content-Type: application/json\r\n\r\n" if body else "\r\n"
    try:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(cell.RUN_S)
            peer.connect(f"{state}/supervisor.sock")
            peer.sendall(head.encode() + data)
            answer = b"".join(iter(lambda: peer.recv(65536), b""))
    except ConnectionError:
        return None
    start, _, rest = answer.partition(b"\r\n\r\n")
    return (int(start.split()[1]), json.loads(rest)) if start else None


def run(state):
    status, answer = ask(state, "POST", "/v1/sessions/a/run", {"language": "bash", "code": "echo here"})
    assert status == 200 and answer["stdout"]["text"] == "here\n", (status, answer)
    return answer


def call(state, code, **fields):
    """A call of session b's live interpreter: its answer."""
    body = {"language": "python", "state": "live", "code": code, **fields}
    status, answer = ask(state, "POST", "/v1/sessions/b/run", body)
    assert status == 200, (status, answer)
    return answer


def frozen_leaves():
    return [folder for name in cell.cgroups() for folder, _, files in os.walk(name)
            if "cgroup.events" in files and "frozen 1" in cell.read(f"{folder}/cgroup.events")]


def cpu_us(leaf):
    """Time used, without the periods that the kernel goes on to count."""
    return next(line for line in cell.read(f"{leaf}/cpu.stat").splitlines() if line.startswith("usage_usec"))


def live(state):
    """Names stay, the cell stands still in between, a fresh run has its memory, and a loss is told."""
    spin = "import threading\nthreading.Thread(target=lambda: [0 for _ in iter(int, 1)], daemon=True).start()"
    assert call(state, f"x = 1; held = bytearray(100 << 20)\n{spin}")["session_state"] == "new"
    leaf, = frozen_leaves()
    before = cpu_us(leaf)
    status, answer = ask(state, "POST", "/v1/sessions/b/run", {
        "language": "bash", "code": "python3 -c 'print(len(bytearray(180 << 20)))'"})
    assert status == 200 and answer["stdout"]["text"] == f"{180 << 20}\n", answer
    assert cpu_us(leaf) == before
    answer = call(state, "print(x)")
    assert (answer["session_state"], answer["stdout"]["text"]) == ("reused", "1\n"), answer
    answer = call(state, "import time; time.sleep(60)", timeout_ms=2000)
    assert (answer["outcome"], answer["session_state"]) == ("timeout", "reused"), answer
    answer = call(state, "more = bytearray(400 << 20)")
    assert (answer["end"]["reason"], answer["reset"]["reason"]) == ("memory", "memory"), answer
    assert "x" in answer["reset"]["lost"], answer
    assert call(state, "1")["session_state"] == "reset"


def metric(state, name):
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(cell.RUN_S)
        peer.connect(f"{state}/supervisor.sock")
        peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        text = b"".join(iter(lambda: peer.recv(65536), b"")).decode()
    return int(next(line for line in text.splitlines() if line.startswith(name)).split()[-1])


def zygotes(state):
    """They are in a group of their own, whether they have loaded everything or not yet; one that is over its memory
    is replaced, alone, and runs go on meanwhile."""
    kills = 'cloche_zygote_memory_kills_total{kind="small"}'
    group, = (f"{name}/zygotes-small" for name in cell.cgroups())
    assert cell.wait_until(lambda: cell.read(group, "cgroup.procs"), READY_S)
    limit = cell.read(group, "memory.max")
    assert 1 << 27 < int(limit) < 1 << 30 and int(cell.read(group, "memory.swap.max")) == 0, limit
    jaild = next(pid for pid, name in cell.ours().items() if name == "cloche-jaild")
    assert "zygotes" not in cell.read(f"/proc/{jaild}/cgroup")
    assert metric(state, kills) == 0
    with open(f"{group}/memory.max", "w") as file:
        file.write(str(1 << 20))  # far below what one has: the kernel acts at once
    run(state)
    assert cell.wait_until(lambda: metric(state, kills) > 0 and cell.read(group, "memory.max") == limit, READY_S)
    run(state)
    assert cell.ours()[jaild] == "cloche-jaild"


def is_ready(state):
    found = ask(state, "GET", "/ready")
    return found is not None and found[0] == 200


def kill_child(up, program):
    """SIGKILL of a program that up started; what is told until it is ready again."""
    for pid, name in cell.ours().items():
        try:
            if name == program and cell.read(f"/proc/{pid}/stat").split()[3] == str(up.pid):
                os.kill(pid, signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended since it was listed


def sweep():
    for name in cell.cgroups():
        for folder, _, _ in os.walk(name, topdown=False):
            os.rmdir(folder)


def serve(uid):
    state = tempfile.mkdtemp(prefix="up")
    os.chown(state, uid, uid)
    os.chmod(state, 0o755)
    cell.scope_make(uid)
    said = tempfile.TemporaryFile("w+")
    up = subprocess.Popen(cell.command("up", "--no-assistant", "--state", state, "--listen", "none"), stderr=said,
                          stdout=subprocess.PIPE, text=True, preexec_fn=cell.entry(uid, cell.SCOPE))
    try:
        line = up.stdout.readline()
        said.seek(0)
        assert line == f"ready unix:{state}/supervisor.sock\n", (line, said.read()[-2000:])
        health = ask(state, "GET", "/health")[1]
        assert (health["backend"], health["protections"]) == ("cgroup v2", "full"), health
        run(state)
        live(state)
        zygotes(state)
        for program in ("cloche-jaild", "cloche-supervisor"):
            kill_child(up, program)
            time.sleep(0.5)
            assert cell.wait_until(lambda: is_ready(state), READY_S), program
            run(state)
    finally:
        began = time.monotonic()
        up.terminate()
        status = up.wait(timeout=30)
        took = time.monotonic() - began
        # The launcher was killed above, and a slow host may have `up` kill another one to be gone in time: what such
        # a launcher leaves is swept by the next start, which tests/leak/test_kill.py proves.
        sweep()
        cell.close()
    assert status == 0, status
    return f"ended in {took:.1f} s, {health}"


@guest_test
def up_as_root():
    return serve(0)


@guest_test
def up_rootless():
    return serve(cell.ADA)
