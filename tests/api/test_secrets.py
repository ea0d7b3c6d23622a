"""Tokens, scopes, and what is never written down: in the jail, in the logs, in the audit log. B14 with a full disk."""
import hashlib
import contextlib
import json
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from service import PROGRAM, Background, until

CODE = "import os,sys;print(len(os.environ), sys.stdin.read(3), 'code-9f31')"


def token_add(service, *words):
    done = subprocess.run([PROGRAM, "token", "add", "--state", service.state, "--json", *words], capture_output=True,
                          check=True)
    return json.loads(done.stdout)


def requests_of(key):
    """(method, target, body) of every route that wants a token."""
    run = {"language": "bash", "code": "true"}
    yield from (("POST", f"/v1/sessions/{key}/run", run), ("POST", "/v1/runs/some-run/cancel", None),
                ("GET", "/v1/sessions", None), ("GET", f"/v1/sessions/{key}", None),
                ("DELETE", f"/v1/sessions/{key}", None), ("GET", f"/v1/sessions/{key}/files", None),
                ("GET", f"/v1/sessions/{key}/files/x", None), ("HEAD", f"/v1/sessions/{key}/files/x", None),
                ("PUT", f"/v1/sessions/{key}/files/x", b"1"), ("DELETE", f"/v1/sessions/{key}/files/x", None),
                ("GET", "/ready", None), ("GET", "/metrics", None), ("GET", "/v1/info", None))


@pytest.mark.parametrize("value", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic dXNlcjpwYXNz", "{token}", "bearer  {token}x",
                                   "Bearer {token} x", "Bearer {short}", "Bearer {upper}"])
def test_every_route_wants_a_token(api, key, value):
    words = {"token": api.token, "short": api.token[:-1], "upper": api.token.swapcase()}
    headers = {} if value is None else {"Authorization": value.format(**words)}
    stranger = api.with_token(None)
    for method, target, body in requests_of(key):
        response = stranger.call(method, target, body, headers)
        assert response.status == 401 and response.header("WWW-Authenticate"), (method, target, response)
    assert api.get(f"/v1/sessions/{key}").status == 404


def test_every_route_wants_our_own_name(api, key):
    """Against rebinding: a page of a name that leads to 127.0.0.1 gets nothing, token or not."""
    for method, target, body in (*requests_of(key), ("GET", "/health", None), ("GET", "/openapi.yaml", None)):
        assert api.call(method, target, body, {"Host": f"evil.example:{api.port}"}).status == 403, (method, target)


def test_scopes(service, api, key):
    """run is for the tenant's own sessions, admin looks at all and runs nothing."""
    runner = api.with_token(token_add(service, "--tenant", "t1", "--scope", "run")["token"])
    admin = api.with_token(token_add(service, "--tenant", "t2", "--scope", "admin")["token"])
    both = api.with_token(token_add(service, "--tenant", "t1", "--scope", "run,admin")["token"])
    until(lambda: both.get("/v1/info").status == 200)
    assert runner.answer(key, "print(1)")["outcome"] == "ok"
    assert runner.file(key, "x", "PUT", b"1").status == 201
    assert {row["tenant"] for row in runner.get("/v1/sessions").json["sessions"]} == {"t1"}
    for method, target, body in requests_of("other"):
        if "/run" in target and "runs" not in target or "/files" in target:
            assert admin.call(method, target, body).status == 403, (method, target)
    assert "t1" in {row["tenant"] for row in admin.get("/v1/sessions").json["sessions"]}
    assert both.delete(f"/v1/sessions/{key}").status == 204


def test_profiles_of_a_token(service, api, key):
    narrow = api.with_token(token_add(service, "--tenant", "t3", "--profiles", "strict")["token"])
    until(lambda: narrow.get("/v1/info").status == 200)
    assert {profile["name"] for profile in narrow.get("/v1/info").json["profiles"]} == {"strict"}
    assert narrow.run(key, "pass", profile="roomy").status == 403
    assert narrow.file(key, "x", "PUT", b"1", "?profile=roomy").status == 403
    assert narrow.get(f"/v1/sessions/{key}").status == 404
    assert api.run(key, "pass", profile="roomy").status == 200
    assert api.run(key, "pass", profile="strict").status == 422


def test_a_run_of_another_tenant_cannot_be_cancelled(service, api, key):
    other = api.with_token(token_add(service, "--tenant", "t4")["token"])
    until(lambda: other.get("/v1/info").status == 200)
    run = Background(api.run, key, "import time;time.sleep(2);print('whole')", run_id=f"{key}-own")
    until(lambda: api.get(f"/v1/sessions/{key}").status == 200 and api.get(f"/v1/sessions/{key}").json["run_id"])
    assert other.call("POST", f"/v1/runs/{key}-own/cancel").status == 404
    assert other.delete(f"/v1/sessions/{key}").status == 404
    assert run.result().json["stdout"]["text"] == "whole\n"


def test_one_key_of_two_tenants_is_two_sessions_in_every_call(start):
    """Kept, live, with a run under way: whatever the other one asks for by the same name is not there, or his own."""
    service = start()
    mine, other = (service.api.with_token(token_add(service, "--tenant", name)["token"]) for name in ("mine", "other"))
    until(lambda: mine.get("/v1/info").status == other.get("/v1/info").status == 200)
    more = {"state": "live", "policy": "kept"}
    assert mine.answer("k", "secret_name = 1; open('secret-file', 'w').write('1')", **more)["outcome"] == "ok"
    run = Background(mine.run, "k", "import time\nopen('up', 'w')\ntime.sleep(60)", run_id="secret-run", **more)
    until(lambda: mine.file("k", "up").status == 200)
    for method, target in (("GET", ""), ("GET", "/export"), ("GET", "/files"), ("GET", "/files/secret-file"),
                           ("DELETE", "/files/secret-file"), ("POST", "/stop"), ("DELETE", "")):
        assert other.call(method, f"/v1/sessions/k{target}").status == 404, (method, target)
    assert other.call("POST", "/v1/runs/secret-run/cancel").status == 404
    assert other.answer("k", "import os; print(os.listdir(), 'secret_name' in globals())", run_id="secret-run",
                        **more)["stdout"]["text"] == "[] False\n"
    assert [row["tenant"] for row in other.get("/v1/sessions").json["sessions"]] == ["other"]
    shown = [other.get(target).body for target in ("/v1/sessions", "/v1/sessions/k", "/metrics", "/v1/info")]
    assert not any(b"secret" in body for body in shown[:1] + shown[2:])
    assert other.delete("/v1/sessions/k").status == 204
    assert mine.call("POST", "/v1/runs/secret-run/cancel").status == 202
    assert run.result().json["end"]["reason"] == "cancelled"
    before, since = service.pids("cloche-jaild"), time.monotonic()
    os.kill(before[-1], signal.SIGKILL)
    service.wait_anew("cloche-jaild", before, since)
    assert other.answer("k", "1", **more)["reset"] is None
    answer = mine.answer("k", "print(open('secret-file').read())", **more)
    assert answer["stdout"]["text"] == "1\n" and "secret_name" in answer["reset"]["lost"]


def test_the_token_is_nowhere_but_in_its_file(service, api, key):
    answer = api.answer(key, "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null; ls -aR / 2>/dev/null | head -c 100000; "
                             "set", language="bash", profile="roomy", env={"MINE": "own"})
    shown = json.dumps(answer)
    assert api.token not in shown and "MINE=own" in shown and str(service.state) not in shown
    for pid in service.pen.processes():
        for name in ("cmdline", "environ"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
                assert api.token.encode() not in Path(f"/proc/{pid}/{name}").read_bytes(), (pid, name)
    api.with_token(api.token + "x").get("/v1/info")
    made = token_add(service, "--tenant", "t5")["token"]
    api.with_token(made).get("/v1/info")
    assert api.token not in service.logged() and made not in service.logged()
    for path in service.state.rglob("*"):
        about = path.lstat()
        if stat.S_ISREG(about.st_mode):
            assert made.encode() not in path.read_bytes(), path
            assert not about.st_mode & 0o007 and (path.name == "token") == (api.token.encode() in path.read_bytes()), path
    assert stat.S_IMODE((service.state / "token").stat().st_mode) == 0o600


def audit_of(service):
    return [json.loads(line) for line in (service.state / "audit.log").read_text().splitlines()]


def test_B14_each_act_is_one_line_without_its_content(service, api, key):
    answer = api.answer(key, CODE, run_id=f"{key}-audit", stdin="stdin-77aa", env={"NAME_OK": "env-55bb"}, args=["arg-33cc"],
                        files=[{"path": "in.txt", "text": "file-11dd"}])
    assert answer["outcome"] == "ok"
    api.file(key, "up.txt", "PUT", b"put-22ee")
    api.file(key, "up.txt", "DELETE")
    api.run(key, "pass", run_id=f"{key}-two")
    api.delete(f"/v1/sessions/{key}")
    text = (service.state / "audit.log").read_text()
    for word in ("code-9f31", "stdin-77aa", "env-55bb", "arg-33cc", "file-11dd", "put-22ee", api.token):
        assert word not in text and word not in service.logged(), word
    mine = [line for line in audit_of(service) if line.get("session") == key]
    assert [line["event"] for line in mine] == ["run", "put", "remove", "run", "session_close"], mine
    first = mine[0]
    assert first["code_sha256"] == hashlib.sha256(CODE.encode()).hexdigest() and first["tenant"] == "default"
    assert all(line["time"].endswith("Z") and line["request"] and line["peer"] for line in mine)
    assert stat.S_IMODE((service.state / "audit.log").stat().st_mode) & 0o077 == 0


def test_B14_a_key_or_name_cannot_forge_a_line(service, api, key):
    name = 'x"}\n{"event":"forged","session":"y'
    api.file(key, name, "PUT", b"1")
    api.answer(key, "pass", files=[{"path": name, "text": "2"}])
    assert "forged" not in {line["event"] for line in audit_of(service)}


@pytest.fixture
def small_disk(programs, tmp_path):
    """A file system of 1 MiB: mounted before the pen looks at the mounts, gone after it has looked again."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def lost_lines(api):
    return next(int(line.split()[1]) for line in api.get("/metrics").body.decode().splitlines()
                if line.startswith("cloche_audit_failed_total "))


def test_B14_a_full_disk_is_told_and_passes(start, small_disk):
    service = start(state=small_disk)
    api = service.api
    api.answer("k", "print(0)", run_id="before")
    filler = small_disk / "filler"
    with open(filler, "wb") as file, pytest.raises(OSError, match="No space"):
        while True:
            os.write(file.fileno(), b"x" * 4096)
    for number in range(200):  # what is left of the log's last page is used up first
        api.file("k", f"f{number}", "PUT", b"")
        if lost_lines(api):
            break
    assert lost_lines(api) >= 1
    assert api.answer("k", "print(1)", run_id="lost")["stdout"]["text"] == "1\n"
    assert api.get("/health").status == 200 and api.get("/ready").status == 200
    assert service.logged().count("audit log not written") == 1  # not once a line: the log's disk may be the same
    filler.unlink()
    api.answer("k", "print(2)", run_id="after")
    lines = (small_disk / "audit.log").read_text().splitlines()
    whole = []
    for line in lines:
        try:
            whole.append(json.loads(line).get("run_id"))
        except ValueError:
            pass  # the one that was torn
    assert len(whole) >= len(lines) - 1 and "before" in whole and "after" in whole and "lost" not in whole
    assert "audit log is written again" in service.logged()


def test_a_disk_that_is_full_at_a_restart(start, small_disk):
    """The supervisor is killed while nothing can be written: it comes back all the same."""
    import signal
    service = start(state=small_disk)
    with open(small_disk / "filler", "wb") as file, pytest.raises(OSError, match="No space"):
        while True:
            os.write(file.fileno(), b"x" * 4096)
    os.kill(service.supervisor(), signal.SIGKILL)
    service.wait_ready()
    assert service.api.answer("k", "print(1)")["stdout"]["text"] == "1\n"
