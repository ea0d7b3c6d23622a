"""A server that answers every request in one chosen wrong way, or rightly from a script, over TCP, TLS or a unix socket."""
import contextlib
import json
import os
import socket
import ssl
import subprocess
import threading
import time
from pathlib import Path

PROGRAM = Path(os.environ.get("CLOCHE_BIN", Path(__file__).resolve().parents[2] / "build" / "cloche"))
TOKEN = "the-token-of-the-tests"

ANSWER = {
    "run_id": "r", "session": "s", "session_state": "new", "language": "python", "outcome": "ok",
    "end": {"reason": "exit", "code": 0, "signal": None, "text": "ran 0.1 s and exited with status 0"},
    "stdout": {"text": "42\n", "bytes": 3, "dropped": 0}, "stderr": {"text": "", "bytes": 0, "dropped": 0},
    "error": None, "reset": None, "advice": [], "results": [], "files": [], "files_truncated": False,
    "usage": {"queue_ms": 0, "start_ms": 1, "wall_ms": 100, "cpu_ms": 50, "memory_peak_bytes": 1 << 20,
              "memory_peak_kind": "cgroup"},
    "egress": {"denied": []}, "protections": "full",
}


def answer(**changes):
    return {**ANSWER, **changes}


def end(reason, code=None, signal=None, text="it ended"):
    return {"reason": reason, "code": code, "signal": signal, "text": text}


def reply(body=b"", status="200 OK", kind="application/json", length=None, headers=""):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    length = len(body) if length is None else length
    size = f"Content-Length: {length}\r\n" if length >= 0 else ""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{size}{headers}Connection: close\r\n\r\n".encode() + body


def problem(status, code, **members):
    body = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": f"it is {code}",
            "advice": "wait", **members}
    headers = "Retry-After: 7\r\n" if status == 429 else ""
    return reply(body, f"{status} X", "application/problem+json", headers=headers)


def events(*pairs, chunked=True):
    """An event stream of (name, value) pairs."""
    text = b"".join(f"event: {name}\ndata: {json.dumps(value)}\n\n".encode() for name, value in pairs)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
    if not chunked:
        return head + b"\r\n" + text
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n" % len(text) + text + b"\r\n0\r\n\r\n"


def run_of(whole, *before):
    """Answers a run in the form that was asked for."""
    def answer_it(request):
        return events(*before, ("end", whole)) if b"text/event-stream" in request else reply(whole)
    return answer_it


class Server:
    """script: bytes to send for every request, or a function (request -> bytes, or an iterator of bytes)."""

    def __init__(self, script, unix=None, tls=None, accept=True):
        self.script = script
        self.requests = []
        self.stop = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        self.listener.bind(unix or ("127.0.0.1", 0))
        self.listener.listen(64)
        port = 0 if unix else self.listener.getsockname()[1]
        self.url = f"unix:{unix}" if unix else f"{'https' if tls else 'http'}://127.0.0.1:{port}"
        self.tls = tls
        if accept:
            threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _read(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return data
            data += part
            if data.startswith(b"\x16"):  # a TLS hello where none is spoken
                return data
        head, _, body = data.partition(b"\r\n\r\n")
        lines = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
        length = int(lines.get(b"content-length", b"0"))
        if b"100-continue" in lines.get(b"expect", b""):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(body) < length:
            part = connection.recv(65536)
            if not part:
                break
            body += part
        return head + b"\r\n\r\n" + body

    def _serve(self, connection):
        with contextlib.suppress(OSError), connection:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            request = self._read(connection)
            self.requests.append(request)
            what = self.script(request) if callable(self.script) else self.script
            for part in [what] if isinstance(what, bytes) else what:
                connection.sendall(part)
                if self.stop.is_set():
                    return

    def close(self):
        self.stop.set()
        self.listener.close()


def drip(data, pause_s, stop_after_s=60):
    """data byte by byte."""
    began = time.monotonic()
    for i in range(len(data)):
        if time.monotonic() - began > stop_after_s:
            return
        yield data[i:i + 1]
        time.sleep(pause_s)


def hang(after=b""):
    """after, then nothing more until the client gives up."""
    yield after
    time.sleep(60)


def self_signed(folder):
    """A TLS context whose certificate nobody trusts."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
         "1", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
