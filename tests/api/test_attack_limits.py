"""Attacks on what a session may hold, on what the log says of it, and on who reads what a server says."""
import contextlib
import json
import socket
import subprocess
import threading

from service import PROGRAM, Background, until

LONG = "/".join(["\x01" * 240] * 15)  # with a name behind it nearly 4,096 bytes; each is six in JSON


def audited(service):
    return [json.loads(line) for line in (service.state / "audit.log").read_text().splitlines()]


def test_a_slow_upload_does_not_outlive_its_session(start):
    """It alone is under way: nobody else's end wakes the house."""
    service = start("--session-max-s", "2", "--session-idle-s", "2", "--max-sessions", "1")
    head = (f"PUT /v1/sessions/hold/files/a HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.api.token}\r\n"
            "Content-Length: 90000000\r\n\r\n")
    ended = threading.Event()

    def drip():
        with service.api.connect() as connection, contextlib.suppress(OSError):
            connection.sendall(head.encode())
            while not ended.wait(0.1):
                connection.sendall(b"x" * 4096)

    dripping = Background(drip)
    try:
        until(lambda: service.api.get("/v1/sessions/hold").status == 200)
        until(lambda: b"cloche_house_sessions 0\n" in service.api.get("/metrics").body, within=8)
        assert service.api.answer("other", "true", language="bash")["outcome"] == "ok"
    finally:
        ended.set()
        dripping.result()


def test_long_names_do_not_keep_a_run_out_of_the_audit_log(service, api, key):
    files = [{"path": f"{LONG}/{i:04}{chr(1) * 200}", "text": "x"} for i in range(200)]
    size = (service.state / "audit.log").stat().st_size
    answer = api.answer(key, "find . -type f -exec sh -c 'echo b >> \"$1\"' - {} \\;", language="bash", files=files)
    assert answer["files_truncated"] and 50 < len(answer["files"]) < 200
    line = audited(service)[-1]
    assert line["run_id"] == answer["run_id"]
    assert line["files_in_count"] == 200 and line["files_out_count"] == len(answer["files"])
    assert 0 < len(line["files_in"]) < 200 and 0 < len(line["files_out"]) < line["files_out_count"]
    assert (service.state / "audit.log").stat().st_size - size < 1 << 20


def test_a_refused_name_does_not_swell_the_audit_log(service, api, key):
    size = (service.state / "audit.log").stat().st_size
    assert api.run(key, "true", language="bash", files=[{"path": "\x01" * 1_900_000, "text": ""}]).status == 422
    assert (service.state / "audit.log").stat().st_size - size < 1 << 20


@contextlib.contextmanager
def answering(body):
    """A server that says the same to everybody; gives its URL."""
    data = json.dumps(body).encode()
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(data) + data
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    with listener.accept()[0] as connection:
                        connection.recv(65536)
                        connection.sendall(whole)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def command(tmp_path, url, *words):
    token = tmp_path / "token"
    token.write_text("a" * 52)
    return subprocess.run([PROGRAM, *words, "--server", url, "--token-file", token], stdin=subprocess.DEVNULL, capture_output=True,
                          cwd=tmp_path, timeout=60)


def test_no_member_of_a_list_moves_the_cursor(programs, tmp_path):
    evil = "\x1b]0;x\x07\x1b[2J\u009b31m\u202e\r\n"
    row = {"path": evil, "size": 1, "mime": evil, "mtime": evil}
    with answering({"files": [row], "next": None, "truncated": False}) as url:
        done = command(tmp_path, url, "files", "ls", "k")
    assert done.returncode == 0
    assert not {b for b in done.stdout + done.stderr if b < 32 or b > 126} - {10}


def test_a_list_that_never_ends_is_refused(programs, tmp_path):
    row = {"path": "a", "size": 1, "mime": "text/plain", "mtime": None}
    with answering({"files": [row], "next": "a", "truncated": False}) as url:
        done = command(tmp_path, url, "files", "ls", "k")
    assert done.returncode == 125 and b"malformed" in done.stderr
