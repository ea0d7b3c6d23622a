"""Raw HTTP over sockets: what a test says is what is sent, and an answer is checked while it is read."""
import json
import os
import socket
import subprocess
import time


class Answer:
    """One response, whole: status, headers (lower case) and body; `rest` is what came after it."""

    def __init__(self, data, is_head=False):
        head, end, rest = data.partition(b"\r\n\r\n")
        assert end, f"no whole head in {data!r}"
        lines = head.decode().split("\r\n")
        version, status, _ = lines[0].split(" ", 2)
        assert version == "HTTP/1.1"
        self.status = int(status)
        self.headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(": ")
            assert colon and name.lower() not in self.headers, line
            self.headers[name.lower()] = value
        if self.status == 100:
            self.body, self.rest = b"", rest
            return
        self.body, self.rest = self.take_body(rest, is_head)

    def take_body(self, rest, is_head):
        if is_head or self.status == 204:
            return b"", rest
        if self.headers.get("transfer-encoding") == "chunked":
            return dechunk(rest)
        length = int(self.headers["content-length"])
        assert len(rest) >= length, f"{len(rest)} bytes of {length}"
        return rest[:length], rest[length:]

    def json(self):
        return json.loads(self.body)

    def problem(self):
        """The code of a problem, which agrees with the status."""
        assert self.headers["content-type"] == "application/problem+json"
        assert len(self.headers["x-request-id"]) == 20
        problem = self.json()
        assert problem["status"] == self.status
        assert problem["detail"] and problem["advice"] and problem["title"]
        return problem["code"]


def dechunk(data):
    body = b""
    while True:
        size, end, data = data.partition(b"\r\n")
        assert end, "no whole chunk"
        n = int(size, 16)
        assert data[n:n + 2] == b"\r\n", "chunk without an end"
        body, data = body + data[:n], data[n + 2:]
        if n == 0:
            return body, data


class Server:
    """The test server as a child; `address` is its TCP address, `unix` its socket."""

    def __init__(self, program, folder, **limits):
        (folder / "files").mkdir(exist_ok=True)
        (folder / "socket").unlink(missing_ok=True)
        self.folder = folder
        self.files = folder / "files"
        self.unix = str(folder / "socket")
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                [program, folder, *(f"{name}={value}" for name, value in limits.items())],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )
        self.address = ("127.0.0.1", int(self.child.stdout.readline()))

    def stop(self, timeout_s=30):
        """Ends it as its owner would; it must free all it has (and a sanitizer must be content)."""
        self.child.stdin.close()
        status = self.child.wait(timeout_s)
        log = self.log.read_text(errors="replace")
        assert status == 0 and "ThreadSanitizer" not in log and "AddressSanitizer" not in log, log[-4000:]

    def connect(self, is_unix=False, timeout_s=20):
        s = socket.socket(socket.AF_UNIX if is_unix else socket.AF_INET)
        s.settimeout(timeout_s)
        s.connect(self.unix if is_unix else self.address)
        return s

    def say(self, data, is_unix=False, is_head=False):
        """Sends data on a connection of its own; the answer, after which the server has closed."""
        with self.connect(is_unix) as s:
            s.sendall(data)
            answer = Answer(read_all(s), is_head)
        assert answer.rest == b"", answer.rest
        return answer

    def get(self, target, *headers, method="GET", is_unix=False):
        lines = "".join(f"{header}\r\n" for header in headers)
        head = f"{method} {target} HTTP/1.1\r\nHost: a\r\n{lines}\r\n"
        return self.say(head.encode("latin-1"), is_unix, method == "HEAD")

    def stats(self):
        return self.get("/stats").json()

    def wait_for(self, is_so, timeout_s=30):
        """Waits until is_so(stats); the stats then."""
        deadline = time.monotonic() + timeout_s
        while not is_so(stats := self.stats()):
            assert time.monotonic() < deadline, stats
            time.sleep(0.02)
        return stats

    def memory_kib(self, what="VmRSS"):
        for line in open(f"/proc/{self.child.pid}/status", encoding="ascii"):
            if line.startswith(f"{what}:"):
                return int(line.split()[1])
        raise AssertionError(what)

    def grown_kib(self, before_kib, what="VmRSS"):
        """How much more memory it has than before; 0 for a sanitizer's build, whose memory is its own affair."""
        maps = open(f"/proc/{self.child.pid}/maps", encoding="utf-8").read()
        return 0 if "san.so" in maps else self.memory_kib(what) - before_kib

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))


def read_all(s):
    """Everything until the server closes."""
    data = []
    while chunk := s.recv(1 << 16):
        data.append(chunk)
    return b"".join(data)


def read_until(s, mark):
    """Reads until mark is there; b"" at the end of the connection keeps what came."""
    data = b""
    while mark not in data and (chunk := s.recv(1 << 16)):
        data += chunk
    return data
