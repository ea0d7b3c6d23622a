"""Kept sessions over HTTP: what they tell, stop, export and import. What keeps them is in tests/call and tests/store."""
import contextlib
import http.client
import io
import os
import stat
import subprocess
import tarfile
import time

import pytest
from service import PROGRAM, Background, until

MAKE = """
import os
os.makedirs('in/folder'); os.mkdir('empty')
open('in/file', 'w').write('text')
os.chmod('in/file', 0o750); os.utime('in/file', ns=(5, 1_234_567_890_123_456_789))
os.link('in/file', 'in/z')
os.symlink('/etc/passwd', 'link')
open('n' * 200, 'wb').write(bytes(70000))
os.mkfifo('fifo')
os.chmod('empty', 0o711); os.utime('empty', ns=(6, 6))
"""
LOOK = """
import os
for top, folders, files in sorted(os.walk('.')):
    for name in sorted(folders + files):
        path = os.path.join(top, name)
        s = os.lstat(path)
        print(ascii(path), oct(s.st_mode), s.st_mtime_ns, s.st_nlink, os.path.islink(path) and os.readlink(path), s.st_size)
"""


def session(api, key):
    return api.get(f"/v1/sessions/{key}").json


def stop(api, key):
    return api.call("POST", f"/v1/sessions/{key}/stop")


def export(api, key, **more):
    return api.get(f"/v1/sessions/{key}/export", **more)


def load(api, key, data, query=""):
    return api.call("PUT", f"/v1/sessions/{key}/import{query}", data)


def test_what_a_kept_session_tells(api, key):
    assert api.file(key, "f", "PUT", b"12345", "?policy=kept").status == 201
    seen = session(api, key)
    assert (seen["policy"], seen["phase"], seen["files"], seen["bytes"]) == ("kept", "active", 1, 5)
    assert seen["expires_in_ms"] > seen["closes_in_ms"] > 1_000_000 and seen["disk_bytes"] > 5
    assert stop(api, key).status == 204
    seen = session(api, key)
    assert (seen["phase"], seen["bytes"], seen["closes_in_ms"], seen["opened_ms_ago"]) == ("stopped", 5, None, None)
    assert seen["expires_in_ms"] > 1_000_000
    assert [s["phase"] for s in api.get("/v1/sessions").json["sessions"] if s["session"] == key] == ["stopped"]
    assert stop(api, key).status == 204
    assert api.file(key, "f").body == b"12345"
    assert session(api, key)["phase"] == "active"
    assert api.answer(key, "1")["restored"] == {"reason": "asked"}


def test_a_token_whose_sessions_are_kept(service, key):
    made = subprocess.run([PROGRAM, "token", "add", "--state", service.state, "--tenant", "t", "--policy", "kept"],
                          capture_output=True, text=True, check=True).stdout.strip()
    api = service.api.with_token(made)
    until(lambda: api.get("/v1/info").status == 200)
    api.answer(key, "1")
    assert session(api, key)["policy"] == "kept"
    api.answer(key + "-e", "1", policy="ephemeral")
    assert session(api, key + "-e")["policy"] == "ephemeral"
    assert api.file(key + "-p", "f", "PUT", b"").status == 201
    assert session(api, key + "-p")["policy"] == "kept"
    for end in ("", "-e", "-p"):
        assert api.delete(f"/v1/sessions/{key}{end}").status == 204


def test_refusals_of_stop(api, key):
    assert stop(api, "nothing").code == "not_found"
    api.answer(key, "1")
    assert stop(api, key).json["field"] == "policy"
    assert session(api, key)["bytes"] is None


def test_a_session_with_a_run_is_not_stopped(api, key):
    run = Background(api.answer, key, "import time; open('f', 'w'); time.sleep(25)", policy="kept", run_id=f"busy-{key}")
    until(lambda: api.file(key, "f").status == 200)
    assert stop(api, key).status == 409
    assert api.call("POST", f"/v1/runs/busy-{key}/cancel").status == 202
    assert [f["path"] for f in run.result()["files"]] == ["f"]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_change_while_a_run_ends_is_stored(api, key, method):
    """A change that was answered between a run's last look at the home and its save, of what was seen before: that must
    not undo it. What a later save would mend again, a stop makes final. In a home of many files the look lasts."""
    many = "import os\nos.mkdir('many')\nfor i in range(1500): open(f'many/{i}', 'w').write('1')"
    assert api.run(key, many, policy="kept").status == 200
    for number in range(8):
        if method == "DELETE":
            assert api.file(key, "f", "PUT", b"1").status == 201
        run = Background(api.run, key, "true", language="bash")
        time.sleep(0.005 + number * 0.005)
        assert api.file(key, "f", method, b"1" if method == "PUT" else b"").status in (201, 204)
        assert run.result().status == 200
        assert stop(api, key).status == 204
        assert api.file(key, "f").status == (200 if method == "PUT" else 404), number
        if method == "PUT":
            assert api.file(key, "f", "DELETE").status == 204


def test_another_policy_is_422(api, key):
    api.answer(key, "1", policy="kept")
    assert api.run(key, "1", policy="ephemeral").json["field"] == "policy"
    assert api.file(key, "f", "PUT", b"", "?policy=ephemeral").json["field"] == "policy"
    assert api.file(key, "f", "PUT", b"", "?policy=" + "x" * 100).json["field"] == "policy"


@pytest.mark.parametrize("stopped", [False, True])
def test_a_session_goes_out_and_comes_in_again(api, key, stopped):
    api.answer(key, MAKE, policy="kept")
    before = api.answer(key, LOOK)["stdout"]["text"].replace("'./fifo'", "\n#").split("\n")
    if stopped:
        stop(api, key)
    out = export(api, key)
    assert out.type == "application/x-tar"
    with tarfile.open(fileobj=io.BytesIO(out.body)) as tar:
        assert tar.extractfile("in/file").read() == b"text"
        assert tar.getmember("link").linkname == "/etc/passwd" and tar.getmember("link").issym()
        assert tar.getmember("in/z").islnk() and tar.getmember("empty").isdir()
        assert stat.S_IMODE(tar.getmember("in/file").mode) == 0o750
    other = key + "-other"
    try:
        said = load(api, other, out.body)
        assert (said.status, said.json) == (201, {"skipped": 0})
        stop(api, other)
        after = api.answer(other, LOOK)["stdout"]["text"].split("\n")
        assert after == [line for line in before if line and not line.startswith("#")
                         and "0o10644" not in line] + [""]
        assert load(api, other, out.body).code == "session_busy"
    finally:
        api.delete(f"/v1/sessions/{other}")


def tar_of(*entries, form=tarfile.PAX_FORMAT):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as tar:
        for name, more in entries:
            info = tarfile.TarInfo(name)
            data = more.pop("data", b"")
            info.size = len(data)
            for field, value in more.items():
                setattr(info, field, value)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_the_kinds_of_tar(api, key, form):
    name = "folder/" * 12 + "n" * 60
    data = tar_of(("./a", {"data": b"one", "mode": 0o600}), (name, {"data": b"two"}), form=form)
    assert load(api, key, data, "?policy=ephemeral").status == 201
    assert api.file(key, "a").body == b"one" and api.file(key, name).body == b"two"
    assert session(api, key)["policy"] == "ephemeral"


@pytest.mark.parametrize("entries", [
    [("../out", {"data": b"x"})],
    [("/etc/out", {"data": b"x"})],
    [("in/../../out", {"data": b"x"})],
    [("link", {"type": tarfile.SYMTYPE, "linkname": "/tmp"}), ("link/out", {"data": b"x"})],
    [("link", {"type": tarfile.SYMTYPE, "linkname": "."}), ("link", {"type": tarfile.DIRTYPE})],
    [("same", {"type": tarfile.LNKTYPE, "linkname": "../../etc/passwd"})],
    [("same", {"type": tarfile.LNKTYPE, "linkname": "nothing"})],
    [("file", {"data": b"x"}), ("file/below", {"data": b"x"})],
    [("n" * 300, {"data": b"x"})],
])
def test_paths_that_lead_out_are_refused_and_leave_nothing(api, key, entries):
    said = load(api, key, tar_of(("first", {"data": b"1"}), *[(n, dict(m)) for n, m in entries]))
    assert (said.status, said.json["field"]) == (422, "path"), said
    assert api.get(f"/v1/sessions/{key}").status == 404


@pytest.mark.parametrize("data", [b"", b"no tar", os.urandom(2000), tar_of(("a", {"data": b"x" * 3000}))[:2000]])
def test_what_is_no_whole_tar(api, key, data):
    said = load(api, key, data)
    assert (said.status, said.json["field"]) == (422, "tar"), said
    assert api.get(f"/v1/sessions/{key}").status == 404


def test_devices_in_a_tar_are_passed_over(api, key):
    data = tar_of(("dev", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}), ("fifo", {"type": tarfile.FIFOTYPE}),
                  ("a", {"data": b"x"}))
    said = load(api, key, data)
    assert (said.status, said.json) == (201, {"skipped": 2})
    assert api.answer(key, "import os; print(os.listdir())")["stdout"]["text"] == "['a']\n"


class Half:
    """An import of which half has been sent."""

    def __init__(self, api, key, query=""):
        self.api = api
        self.data = tar_of(("first", {"data": b"1" * 70000}), ("second", {"data": b"2"}))
        self.connection = api.connect()
        self.connection.sendall(f"PUT /v1/sessions/{key}/import{query} HTTP/1.1\r\nHost: {api.host}\r\n"
                                f"Authorization: Bearer {api.token}\r\nContent-Length: {len(self.data)}\r\n\r\n".encode())
        self.connection.sendall(self.data[:50000])
        until(lambda: api.get(f"/v1/sessions/{key}").status == 200)

    def finish(self):
        """The rest; returns the status."""
        with contextlib.closing(self.connection) as connection:
            connection.sendall(self.data[50000:])
            answer = http.client.HTTPResponse(connection)
            answer.begin()
            answer.read()
            return answer.status


@pytest.mark.parametrize("policy", ["kept", "ephemeral"])
def test_nobody_gets_into_a_session_that_is_being_imported(api, key, policy):
    half = Half(api, key, f"?policy={policy}")
    assert api.file(key, "mine", "PUT", b"x").code == "session_busy"
    assert api.run(key, "1").code == "session_busy"
    assert load(api, key, tar_of(("a", {}))).code == "session_busy"
    assert api.file(key, "first").code == "not_found" and export(api, key).code == "not_found"
    assert half.finish() == 201
    assert api.file(key, "mine", "PUT", b"x").status == 201
    assert api.answer(key, "import os; print(sorted(os.listdir()))")["stdout"]["text"] == "['first', 'mine', 'second']\n"


def test_a_tenant_that_reads_no_archive_keeps_nobody_else_out(start):
    service = start()
    made = subprocess.run([PROGRAM, "token", "add", "--state", service.state, "--tenant", "t"],
                          capture_output=True, text=True, check=True).stdout.strip()
    mine, other = service.api, service.api.with_token(made)
    until(lambda: other.get("/v1/info").status == 200)
    for api in (mine, other):
        api.answer("big", "for i in range(3):\n f = open(str(i), 'wb'); f.truncate(99 << 20)")
    slow, response = mine.open("GET", "/v1/sessions/big/export")
    assert response.status == 200
    with contextlib.closing(slow), contextlib.closing(response):
        said = export(mine, "big")
        assert said.code == "server_busy" and "this tenant" in said.json["detail"]
        assert export(other, "big").status == 200
    until(lambda: export(mine, "big").status == 200)


def test_an_archive_that_does_not_fit(api, key):
    said = load(api, key, tar_of(("a", {"data": bytes(60 << 20)}), ("b", {"data": bytes(60 << 20)})))
    assert said.code == "home_full"
    assert api.get(f"/v1/sessions/{key}").status == 404


def test_holes_that_would_fill_the_memory(api, key):
    api.answer(key, "for i in range(8):\n f = open(str(i), 'wb'); f.truncate(99 << 20)")
    assert export(api, key).code == "too_large"


def test_folders_that_would_fill_the_memory(api, key):
    deep = "/".join(["f" * 200] * 19)
    said = load(api, key, tar_of(*[(f"{deep}/{i}", {"type": tarfile.DIRTYPE}) for i in range(600)]))
    assert (said.status, said.json["field"]) == (422, "path") and "one folder too many" in said.json["detail"]
    assert api.get(f"/v1/sessions/{key}").status == 404


def test_an_archive_that_would_lack_something_is_refused(api, key):
    api.answer(key, "import os\nfor _ in range(25):\n os.mkdir('d' * 200); os.chdir('d' * 200)\nopen('f', 'w')")
    said = export(api, key)
    assert said.code == "too_large" and "longer names" in said.json["detail"]
