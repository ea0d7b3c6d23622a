"""The rest of the routes: who may, cancel, events, status, the contract itself."""
import json
import re
import subprocess
import time
from pathlib import Path

import pytest
from service import PROGRAM, Background, until

READS = ["/ready", "/metrics", "/v1/info", "/v1/sessions", "/v1/sessions/k", "/v1/sessions/k/files", "/v1/sessions/k/files/x"]


def test_the_contract_is_written(contract, api):
    assert len(contract.paths) >= 10
    assert api.get("/openapi.yaml").body == contract_text()


def contract_text():
    from contract import FILE
    return FILE.read_bytes()


@pytest.mark.parametrize("target", READS)
@pytest.mark.parametrize("token", [None, "wrong", "x" * 52])
def test_nothing_without_a_token(api, target, token):
    response = api.with_token(token).get(target)
    assert (response.status, response.code) == (401, "unauthorized")
    assert response.header("WWW-Authenticate")
    if token is None:
        assert "no token was sent" in response.json["detail"] and "Bearer" in response.json["advice"]
    else:
        assert "none of this server's" in response.json["detail"] and "cloche token add" in response.json["advice"]
        assert token not in response.body.decode()


def test_another_scheme_is_told_from_a_wrong_token(api):
    response = api.with_token(None).get("/v1/info", headers={"Authorization": "Basic YTpi"})
    assert response.status == 401 and "not of the form Bearer TOKEN" in response.json["detail"]


def test_open_without_a_token(api):
    stranger = api.with_token(None)
    assert stranger.get("/health").json == {"status": "ok"}
    assert stranger.get("/openapi.yaml").status == 200
    assert api.get("/health").json["protections"] == "full"


def test_refused_before_the_body_is_read(api):
    head = (f"POST /v1/sessions/k/run HTTP/1.1\r\nHost: {api.host}:{api.port}\r\nContent-Type: application/json\r\n"
            "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n").encode()
    assert api.raw(head).startswith(b"HTTP/1.1 401 ")


def test_no_browser_gets_in(api):
    request = f"GET /v1/info HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer {api.token}\r\n\r\n".encode()
    assert api.raw(request).split()[1] in (b"400", b"403", b"421")
    response = api.get("/v1/info", headers={"Origin": "http://evil.example"})
    assert response.header("Access-Control-Allow-Origin") is None


def test_the_unix_socket_knows_root(service):
    assert service.unix.get("/v1/info").status == 200
    assert service.unix.answer("u", "print(1)")["stdout"]["text"] == "1\n"
    assert service.unix.delete("/v1/sessions/u").status == 204


def test_the_unix_socket_refuses_others(service):
    code = ("import os,socket,sys;os.setgid(65534);os.setuid(65534);s=socket.socket(socket.AF_UNIX);"
            f"s.connect({str(service.state / 'supervisor.sock')!r});s.sendall(b'GET /v1/info HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n');"
            "print(s.recv(99))")
    done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False)
    assert "403" in done.stdout or "PermissionError" in done.stderr


# The script writes over the time that it began, in its own report (src/wire/report.h).
FORGE = """
import sys, time
report = next(f for f in sys.meta_path if getattr(f, "__name__", "") == "find_figures").__globals__["memory"]
if hasattr(report, "fd"):  # a live call's is not mapped
    import mmap
    report = mmap.mmap(report.fd, 1 << 20)
assert report[:5] == b"\\7\\x08\\0\\0\\0" and int.from_bytes(report[5:13], "little") < time.monotonic_ns()
report[5:13] = (%d).to_bytes(8, "little")
"""


@pytest.mark.parametrize("begun, whole", [(2**64 - 1, True), (1_000_000, False), (0, None)], ids=["future", "past", "nothing"])
@pytest.mark.parametrize("fields", [{}, {"env": {"COLD": "1"}}, {"state": "live"}], ids=["fresh", "executed", "live"])
def test_a_start_that_is_forged_is_within_its_run(api, key, begun, whole, fields):
    for _ in range(2):  # the second one finds the cell, or the interpreter, of the first
        usage = api.answer(key, FORGE % begun, **fields)["usage"]
        assert (usage["start_ms"] >= usage["wall_ms"]) if whole else 0 <= usage["start_ms"] < 60_000
        assert usage["start_ms"] == 0 or whole is not False


def token_add(service, *words):
    done = subprocess.run([PROGRAM, "token", "add", "--state", service.state, "--json", *words], capture_output=True,
                          check=True)
    return json.loads(done.stdout)


def test_tenants_do_not_see_each_other(service, api, key):
    made = token_add(service, "--tenant", "other", "--profiles", "strict")
    other = api.with_token(made["token"])
    until(lambda: other.get("/v1/info").status == 200)
    api.answer(key, "open('x','w').write('mine')")
    assert other.get(f"/v1/sessions/{key}").status == 404
    assert other.file(key, "x").status == 404
    assert other.delete(f"/v1/sessions/{key}").status == 404
    assert key not in [row["session"] for row in other.get("/v1/sessions").json["sessions"]]
    assert other.answer(key, "import os;print(os.listdir())")["stdout"]["text"] == "[]\n"
    rows = [row for row in api.get("/v1/sessions").json["sessions"] if row["session"] == key]
    assert sorted(row["tenant"] for row in rows) == ["default", "other"]
    assert other.run(key, "pass", profile="roomy").status in (403, 422)
    assert other.delete(f"/v1/sessions/{key}").status == 204
    subprocess.run([PROGRAM, "token", "rm", "--state", service.state, made["id"]], check=True)
    until(lambda: other.get("/v1/info").status == 401)


def test_cancel(api, key):
    run = Background(api.run, key, "import time;time.sleep(20)", run_id="mine-1")
    until(lambda: api.get(f"/v1/sessions/{key}").status == 200)
    until(lambda: api.get(f"/v1/sessions/{key}").json["run_id"] == "mine-1")
    assert api.call("POST", "/v1/runs/mine-1/cancel").status == 202
    answer = run.result().json
    assert answer["run_id"] == "mine-1"
    assert (answer["outcome"], answer["end"]["reason"]) == ("killed", "cancelled")
    finished = api.call("POST", "/v1/runs/mine-1/cancel")
    assert (finished.status, finished.code) == (409, "run_finished")
    assert api.call("POST", "/v1/runs/nobodys/cancel").status == 404


def test_delete_ends_a_run(api, key):
    run = Background(api.run, key, "import time;time.sleep(20)")
    until(lambda: api.get(f"/v1/sessions/{key}").status == 200 and api.get(f"/v1/sessions/{key}").json["run_id"])
    assert api.delete(f"/v1/sessions/{key}").status == 204
    response = run.result()
    assert response.status == 200 and response.json["end"]["reason"] == "cancelled"


def test_B3_results_are_in_the_answer_and_events(api, key):
    """A picture of the last value is a file of the session."""
    code = "class A:\n  def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n'\n  def __repr__(self): return 'A'\nA()"
    events = list(api.stream(key, code))
    results = [event.data for event in events if event.name == "result"]
    assert results == [{"mime": "image/png", "path": "result-1.png", "main": True}, {"mime": "text/plain", "text": "A", "main": True}]
    assert events[-1].data["results"] == results
    names = [event.name for event in events]
    assert names.index("result") < names.index("file") < names.index("end")
    assert api.answer(key, "6*7")["results"] == [{"mime": "text/plain", "text": "42", "main": True}]
    assert api.answer(key, "echo 42", language="bash")["results"] == []


def test_events_come_as_they_happen(api, key):
    """The first line comes while the script waits for what we say when it is there."""
    code = ("import os, time\nprint('a',flush=True)\nwhile not os.path.exists('go'): time.sleep(.01)\nos.remove('go')\n"
            "print('é')\nwith open('f','w') as f: f.write('x')")
    events = []
    for event in api.stream(key, code):
        if event.name == "stdout" and not any(before.name == "stdout" for before in events):
            assert api.file(key, "go", "PUT", b"").status == 201
        events.append(event)
    names = [event.name for event in events]
    assert (names[0], names[-2:], set(names[1:-2])) == ("started", ["file", "end"], {"stdout"})
    output = events[1:-2]
    assert "".join(event.data["text"] for event in output) == "a\né\n"
    assert events[-2].data["path"] == "f" and events[-2].data["change"] == "created"
    assert events[-1].data["stdout"]["text"] == "a\né\n"
    assert events[0].data["run_id"] == events[-1].data["run_id"]


def test_a_refusal_is_no_stream(api, key):
    run = Background(api.run, key, "import time;time.sleep(25)")
    until(lambda: api.get(f"/v1/sessions/{key}").status == 200 and api.get(f"/v1/sessions/{key}").json["run_id"])
    response = api.call("POST", f"/v1/sessions/{key}/run", {"language": "bash", "code": ""},
                        {"Accept": "text/event-stream"})
    assert (response.status, response.code) == (409, "session_busy")
    assert api.delete(f"/v1/sessions/{key}").status == 204
    run.result()


@pytest.mark.parametrize("code, outcome, reason", [
    ("undefined_name", "error", "exit"), ("import os;os.kill(os.getpid(),9)", "killed", "signal"),
    ("while 1: pass", "timeout", "timeout"),
    ("b=bytearray(400*10**6);b[::4096]=b'x'*len(b[::4096])", "killed", "memory")])
def test_E1_E2_E3_ends(api, key, code, outcome, reason):
    answer = api.answer(key, code, timeout_ms=3000)
    assert (answer["outcome"], answer["end"]["reason"]) == (outcome, reason)
    if reason == "exit":
        assert answer["error"]["name"] == "NameError" and "NameError" in answer["stderr"]["text"]


def test_ready_line_comes_with_a_spare_and_the_small_interpreter(start):
    """Decision 29: whoever has read "ready URL" finds both; the data interpreter's state is told."""
    service = start()
    info = service.api.get("/v1/info").json
    assert info["warm"]["small"]["state"] == "serving" and info["spares"] == {"wanted": 1, "ready": 1}
    assert info["warm"]["data"]["state"] in ("loading", "serving")


def test_B20_ready_and_metrics(api, key):
    assert api.get("/ready").json["status"] == "ready"
    api.answer(key, "pass")
    text = api.get("/metrics").body.decode()
    names = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line and not line.startswith("#")}
    assert names and all(name.startswith("cloche_") for name in names)
    for name in names:
        assert f"# HELP {name} " in text and f"# TYPE {name} " in text


def test_the_page_of_metrics_has_those_that_are_served(api):
    served = dict(re.findall(r"^# HELP (\S+) (.*)$", api.get("/metrics").body.decode(), re.MULTILINE))
    page = (Path(__file__).resolve().parents[2] / "docs/metrics.md").read_text()
    assert dict(re.findall(r"^\| `(\w+)` \|[^|]*\| (.*) \|$", page, re.MULTILINE)) == served


def test_info_tells_the_limits(api):
    info = api.get("/v1/info").json
    assert info["limits"]["code_bytes"] == 256 * 1024 and info["limits"]["max_sessions"] == 4
    assert info["fonts"] is None and info["image"] is None  # this machine's /usr
    assert {profile["name"] for profile in info["profiles"]} == {"strict", "roomy"}


def spare_counts(api):
    """The figures of /metrics about spare sessions, by the end of their names."""
    lines = [line.split() for line in api.get("/metrics").body.decode().splitlines()]
    return {words[0].removeprefix("cloche_jail_spares_"): int(words[1])
            for words in lines if words[0].startswith("cloche_jail_spares")}


def test_new_session_takes_a_spare_one(api, key):
    deadline = time.monotonic() + 20
    while api.get("/v1/info").json["spares"] != {"wanted": 1, "ready": 1} and time.monotonic() < deadline:
        time.sleep(0.05)
    before = spare_counts(api)
    assert before["wanted"] == 1 and before["cloche_jail_spares"] == 1
    assert api.answer(key, "print(1)")["outcome"] == "ok"
    assert spare_counts(api)["taken_total"] > before["taken_total"]


def test_B14_the_log_has_the_codes_hash_and_never_the_code(service, api, key):
    import hashlib
    code = "print('a secret that nobody may read')"
    run_id = api.answer(key, code, run_id=f"audit-{time.monotonic_ns()}")["run_id"]
    lines = [json.loads(line) for line in (service.state / "audit.log").read_text().splitlines()]
    line = next(line for line in lines if line.get("run_id") == run_id)
    assert line["code_sha256"] == hashlib.sha256(code.encode()).hexdigest() and line["code_bytes"] == len(code)
    for text in ((service.state / "audit.log").read_text(), service.logged()):
        assert "nobody may read" not in text and api.token not in text


def test_unknown_routes_and_methods(api):
    response = api.get("/nothing")
    assert response.status == 404 and "/openapi.yaml" in response.json["advice"]
    response = api.call("PATCH", "/v1/sessions/k")
    assert response.status == 405 and "DELETE" in response.header("Allow") and "DELETE" in response.json["detail"]


def test_advice_is_of_the_case(api, key):
    api.answer(key, "1", policy="ephemeral")
    says = {
        "a run": (api.call("POST", "/v1/runs/nobodys/cancel"), 404, "the run's id"),
        "a session": (api.get(f"/v1/sessions/{key}-not"), 404, "lists the sessions"),
        "a file": (api.file(key, "nothing"), 404, "lists a session's files"),
        "a value": (api.run(key, "1", policy="for ever"), 422, "Mend the field policy as detail says."),
        "a kind": (api.run(key, "1", stdin=7), 422, "Mend the field stdin as detail says."),
        "a name": (api.run(key, "1", colour="red"), 422, "Mend the field's name, or leave colour out."),
        "none": (api.call("POST", f"/v1/sessions/{key}/run", {"code": "1"}), 422, "Add the field language."),
        "in the query": (api.file(key, "f", query="?colour=red"), 422, "Mend the field's name, or leave colour out."),
        "in a list": (api.run(key, "1", files=[{"path": "/x", "text": ""}]), 422, "Mend the field files[0].path as detail says."),
        "a stop": (api.call("POST", f"/v1/sessions/{key}/stop"), 422, "cloche session rm"),
    }
    for what, (response, status, advice) in says.items():
        assert response.status == status and advice in response.json["advice"], (what, response.json)
        assert response.json["detail"] not in response.json["advice"], "once is enough"


def test_a_second_up_on_one_folder_is_refused(service):
    done = subprocess.run([PROGRAM, "up", "--no-assistant", "--state", service.state, "--listen", "127.0.0.1:0"],
                          capture_output=True, timeout=20, check=False)
    assert done.returncode == 125 and not done.stdout and b"another" in done.stderr
