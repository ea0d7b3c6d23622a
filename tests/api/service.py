"""A service of the test's own: `cloche up` in a pen, a client that checks every response, and what is left at the end."""
import atexit
import contextlib
import dataclasses
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

from contract import Contract
from pen import Pen, load

ROOT = Path(__file__).resolve().parents[2]


def program():
    """The command that is tested. With CLOCHE_SUPERVISOR it stands beside that supervisor, such as one of a sanitizer's
    build, and the other programs as they are: jaild and init live in ways that a sanitizer does not know."""
    chosen = Path(os.environ.get("CLOCHE_BIN", ROOT / "build" / "cloche"))
    supervisor = os.environ.get("CLOCHE_SUPERVISOR")
    if not supervisor:
        return chosen
    folder = Path(tempfile.mkdtemp(prefix="cloche-api-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o755)
    for file in (chosen, chosen.parent / "cloche-jaild", chosen.parent / "cloche-init", ROOT / supervisor):
        shutil.copy2(file, folder)
    return folder / chosen.name


PROGRAM = program()
SANITIZED = PROGRAM.exists() and bool(re.search(rb"__[at]san_", (PROGRAM.parent / "cloche-supervisor").read_bytes()))
READY = re.compile(rb"ready http://(127\.0\.0\.1):(\d+)\n\Z")
READY_WITHIN_S = 20
END_WITHIN_S = 5.0
CONTRACT = Contract()


@dataclasses.dataclass
class Response:
    status: int
    headers: list
    body: bytes

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def type(self):
        return (self.header("Content-Type") or "").partition(";")[0].strip().lower()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """Of a problem."""
        return self.json["code"]


@dataclasses.dataclass
class Event:
    name: str
    data: dict
    at: float  # monotonic


class Api:
    """Calls of one service with one token (None: without); each response is checked against the contract."""

    def __init__(self, host, port, token, unix=None):
        self.host, self.port, self.token, self.unix = host, port, token, unix

    def with_token(self, token):
        return Api(self.host, self.port, token, self.unix)

    def connect(self, timeout=60):
        """A plain connection, for what no HTTP library would send."""
        if self.unix:
            made = socket.socket(socket.AF_UNIX)
            made.settimeout(timeout)
            made.connect(str(self.unix))
            return made
        return socket.create_connection((self.host, self.port), timeout)

    def _connection(self, timeout):
        made = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        if self.unix:
            made.sock = self.connect(timeout)
        return made

    def open(self, method, target, body=None, headers=None, timeout=60):
        """Sends a request. Returns (connection, http.client's response): the body is still to be read."""
        sent = dict(headers or {})
        if self.token is not None and not any(name.lower() == "authorization" for name in sent):
            sent["Authorization"] = f"Bearer {self.token}"
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = self._connection(timeout)
        connection.request(method, target, body=body, headers=sent)
        return connection, connection.getresponse()

    def call(self, method, target, body=None, headers=None, timeout=60):
        connection, response = self.open(method, target, body, headers, timeout)
        with contextlib.closing(connection):
            whole = Response(response.status, response.getheaders(), response.read())
        problems = CONTRACT.problems(method, target, whole)
        assert not problems, "\n".join(problems) + f"\n{whole}"
        return whole

    def get(self, target, **more):
        return self.call("GET", target, **more)

    def delete(self, target, **more):
        return self.call("DELETE", target, **more)

    def run(self, key, code, language="python", timeout=60, **fields):
        body = {"language": language, "code": code, **fields}
        return self.call("POST", f"/v1/sessions/{quote(key, safe='')}/run", body, timeout=timeout)

    def answer(self, key, code, **fields):
        """The answer of a run that ended."""
        response = self.run(key, code, **fields)
        assert response.status == 200, response
        return response.json

    def stream(self, key, code, language="python", timeout=60, **fields):
        """The events of a run as they come; each one's data is checked."""
        body = {"language": language, "code": code, **fields}
        connection, response = self.open("POST", f"/v1/sessions/{quote(key, safe='')}/run", body,
                                         {"Accept": "text/event-stream"}, timeout)
        with contextlib.closing(connection):
            assert response.status == 200, (response.status, response.read())
            assert response.getheader("Content-Type").startswith("text/event-stream")
            yield from read_events(response)

    def file(self, key, path, method="GET", body=None, query="", **more):
        return self.call(method, f"/v1/sessions/{quote(key, safe='')}/files/{quote(path)}{query}", body, **more)

    def raw(self, data, timeout=20, half_close=False):
        """Sends bytes as they are; returns all that comes back."""
        with self.connect(timeout) as connection:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
            parts = []
            with contextlib.suppress(ConnectionResetError):
                while part := connection.recv(65536):
                    parts.append(part)
        return b"".join(parts)


def read_events(response):
    name, data = "message", []
    for line in response:
        line = line.rstrip(b"\r\n").decode()
        if not line:
            if data:
                yield Event(name, json.loads("\n".join(data)), time.monotonic())
            name, data = "message", []
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))


class Service:
    """`cloche up` with options, started and ready. Everything of it lives in the pen."""

    def __init__(self, pen, folder, *options, state=None, stderr=None):
        self.pen = pen
        self.state = Path(state or tempfile.mkdtemp(prefix="state-", dir=folder))
        self.log = folder / f"log-{time.monotonic_ns()}"
        words = [PROGRAM, "up", "--no-assistant", "--state", self.state, "--listen", "127.0.0.1:0", *options]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(pen.wrap(words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=stderr or log, start_new_session=True)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.said = b""
        self._await_ready()
        self.api = Api(self.host, self.port, (self.state / "token").read_text().strip())
        self.unix = Api("localhost", 0, None, self.state / "supervisor.sock")

    def _await_ready(self):
        deadline = time.monotonic() + READY_WITHIN_S * load()
        while not self.said.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or self.process.poll() is not None:
                raise AssertionError(f"not ready: {self.said!r}\n{self.logged()}")
            if select.select([self.process.stdout], [], [], min(left, 0.2))[0]:
                self.said += self.process.stdout.read() or b""
        match = READY.match(self.said)
        assert match, self.said
        self.host, self.port = match[1].decode(), int(match[2])

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    def logged(self):
        return self.log.read_text(errors="replace")

    def pids(self, name):
        """Processes of the pen with this command name ("cloche-jaild", "cloche-supervi")."""
        found = []
        for pid in sorted(self.pen.processes()):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text().strip() == name[:15]:
                    found.append(pid)
        return found

    def main(self):
        """The pid of `cloche up` itself."""
        return self.pids("cloche")[0]

    def supervisor(self):
        """The supervisor's pid."""
        return self.pids("cloche-supervisor")[0]

    def rss_kib(self, pid=None):
        """Its memory; 0 with a sanitizer, which has much of its own."""
        if SANITIZED:
            return 0
        text = Path(f"/proc/{pid or self.supervisor()}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1])

    def wait_anew(self, name, before, since):
        """After a kill: until none of the processes of the name is one that was there before, and a run has worked since."""
        until(lambda: self.pids(name) and not set(before) & set(self.pids(name)), within=30)
        self.wait_ready(since=since)

    def wait_ready(self, within=30, since=float("-inf")):
        """After one of its processes died: until /ready says so again, of a run that ended since; by time.monotonic()."""
        deadline = time.monotonic() + within * load()
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException):
                said = self.api.get("/ready", timeout=5)
                if said.status == 200 and (said.json["canary_ms_ago"] + 1) / 1000 < time.monotonic() - since:
                    return
            time.sleep(0.1)
        raise AssertionError("not ready again\n" + self.logged()[-4000:])

    def stop(self, number=signal.SIGTERM, within=END_WITHIN_S):
        """Ends it; returns the seconds that it took. Nothing may be left."""
        if self.process.poll() is None:
            began = time.monotonic()
            self.process.send_signal(number)
            try:
                self.process.wait(within * load())
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"did not end within {within} s\n{self.logged()[-4000:]}") from None
            took = time.monotonic() - began
        else:
            took = 0.0
        if self.process.stdout.closed:  # by an earlier stop
            return took
        more = self.process.stdout.read() or b""
        self.process.stdout.close()
        assert self.said + more == self.said, f"more than one line on standard output: {more!r}"
        assert not (self.state / "supervisor.sock").exists(), "the socket is left"
        assert "Sanitizer" not in self.logged(), self.logged()[-20000:]
        left = self.pen.empties()
        assert not left, "left behind:\n" + "\n".join(left) + "\n" + self.logged()[-4000:]
        return took

    def kill(self):
        for pid in self.pen.processes():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(10)


class Background(threading.Thread):
    """Calls something in another thread; result() gives or raises what came of it."""

    def __init__(self, call, *args, **named):
        super().__init__(daemon=True)
        self.call, self.args, self.named, self.value, self.error = call, args, named, None, None
        self.start()

    def run(self):
        try:
            self.value = self.call(*self.args, **self.named)
        except BaseException as error:  # noqa: BLE001: handed on to result()
            self.error = error

    def result(self, timeout=90):
        self.join(timeout)
        assert not self.is_alive(), "still under way"
        if self.error:
            raise self.error
        return self.value


def until(condition, within=10):
    """Waits until condition() is true; returns its value."""
    deadline = time.monotonic() + within * load()
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.01)
    return value


def make_pen(name):
    return Pen(f"{name}-{os.getpid()}-{time.monotonic_ns()}")
