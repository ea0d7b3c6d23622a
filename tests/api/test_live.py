"""State "live" over HTTP: names stay from call to call, and whoever loses them is told which."""
import os
import signal

import pytest
from service import Background, Service, make_pen, until


def live(api, key, code, **more):
    return api.answer(key, code, state="live", **more)


def live_at_last(api, key, code):
    """The same of a service that comes back: a connection to what has died is told as 503."""
    response = until(lambda: (found := api.run(key, code, state="live")).status != 503 and found, within=20)
    assert response.status == 200, response
    return response.json


def told(answer):
    reset = answer["reset"]
    return answer["session_state"], reset and reset["reason"], reset and reset["lost"]


def test_B1_names_stay(api, key):
    first = live(api, key, "x = 1")
    assert told(first) == ("new", None, None)
    second = live(api, key, "x += 1\nprint(x)")
    assert second["stdout"]["text"] == "2\n" and told(second) == ("reused", None, None)
    assert api.get(f"/v1/sessions/{key}").json["state"] == "live"
    assert api.answer(key, "print(x)")["stdout"]["text"] == "2\n", "the session's state needs no telling"


def test_B1_after_the_idle_limit_the_lost_names_are_told(start):
    api = start("--session-idle-s", "1").api
    live(api, "k", "x = 1\nimport json")
    until(lambda: api.get("/v1/sessions/k").status == 404)
    assert told(live(api, "k", "print('x' in globals())")) == ("reset", "idle", ["files", "x", "json"])
    assert told(live(api, "k", "1")) == ("reused", None, None)


def test_reset_on_request(api, key):
    live(api, key, "x = 1; y = 2")
    answer = live(api, key, "print('x' in globals())", reset=True)
    assert answer["stdout"]["text"] == "False\n" and told(answer) == ("reset", "requested", ["x", "y"])
    assert told(live(api, key, "1")) == ("reused", None, None)
    assert told(live(api, key + "-other", "1", reset=True)) == ("new", None, None)


@pytest.mark.parametrize("code, outcome, reason", [
    ("import signal; signal.signal(2, signal.SIG_IGN)\nwhile True: pass", "timeout", "timeout"),
    ("b = bytearray(400 << 20)", "killed", "memory"),
    ("import os; os._exit(3)", "error", "crash"),
    ("import ctypes; ctypes.string_at(0)", "killed", "crash")])
def test_loss_is_told_to_the_call_and_to_the_next(code, outcome, reason, api, key):
    live(api, key, "x = 1")
    answer = live(api, key, code, timeout_ms=3000 if reason == "timeout" else 20000)
    assert answer["outcome"] == outcome and told(answer) == ("reset", reason, ["x"])
    assert told(live(api, key, "1")) == ("reset", reason, ["x"])
    assert told(live(api, key, "1")) == ("reused", None, None)


def test_timeout_that_the_interpreter_survives(api, key):
    live(api, key, "x = 1")
    answer = live(api, key, "import time\nx = 2\ntime.sleep(60)", timeout_ms=3000)
    assert answer["outcome"] == "timeout" and told(answer) == ("reused", None, None)
    assert answer["error"]["name"] == "KeyboardInterrupt" and "<cell 2>" in answer["error"]["traceback"]
    assert live(api, key, "print(x)")["stdout"]["text"] == "2\n"


def test_cancel_that_the_interpreter_survives(api, key):
    live(api, key, "x = 1")
    run = Background(api.run, key, "import time\nopen('up', 'w')\ntime.sleep(60)", state="live", run_id=f"run-{key}")
    until(lambda: api.file(key, "up").status == 200)
    assert api.call("POST", f"/v1/runs/run-{key}/cancel").status == 202
    answer = run.result().json
    assert answer["outcome"] == "killed" and answer["end"]["reason"] == "cancelled"
    assert live(api, key, "print(x)")["stdout"]["text"] == "1\n"


def test_bash_runs_beside_it(api, key):
    live(api, key, "open('a', 'w').write('from python'); x = 1")
    answer = api.answer(key, "cat a", language="bash", state="live")
    assert answer["stdout"]["text"] == "from python" and told(answer) == ("reused", None, None)
    assert live(api, key, "print(x)")["stdout"]["text"] == "1\n"


def test_another_state_is_422(api, key):
    live(api, key, "1")
    response = api.run(key, "1", state="fresh")
    assert response.status == 422 and response.json["field"] == "state"
    api.answer(key + "-fresh", "1")
    response = api.run(key + "-fresh", "1", state="live")
    assert response.status == 422 and response.json["field"] == "state"
    assert api.run(key, "1", state="alive").status == 422


def test_reset_without_a_live_interpreter_is_422(api, key):
    for more in {"reset": True}, {"reset": True, "language": "bash", "state": "live"}, {"reset": "yes", "state": "live"}:
        response = api.run(key, "1", **more)
        assert response.status == 422 and response.json["field"] == "reset", more


def test_first_run_decides_after_an_upload(api, key):
    assert api.file(key, "a.txt", "PUT", b"text").status == 201
    assert live(api, key, "print(open('a.txt').read())")["stdout"]["text"] == "text\n"
    assert told(live(api, key, "1")) == ("reused", None, None)


def test_files_of_a_call(api, key):
    assert [file["path"] for file in live(api, key, "open('a', 'w').write('1')")["files"]] == ["a"]
    assert live(api, key, "1")["files"] == []
    assert [file["change"] for file in live(api, key, "open('a', 'w').write('2')")["files"]] == ["modified"]


def test_events_tell_the_state(api, key):
    live(api, key, "x = 1")
    events = list(api.stream(key, "print(x)", state="live"))
    assert [event.data["session_state"] for event in events if event.name == "started"] == ["reused"]
    assert "".join(event.data["text"] for event in events if event.name == "stdout") == "1\n"


def test_a_closed_session_forgets(api, key):
    live(api, key, "x = 1")
    assert api.delete(f"/v1/sessions/{key}").status == 204
    assert told(live(api, key, "print('x' in globals())")) == ("new", None, None)


def test_death_of_jaild_is_told(start):
    service = start()
    live(service.api, "k", "x = 1")
    victim = service.pids("cloche-jaild")[-1]
    os.kill(victim, signal.SIGKILL)
    until(lambda: service.pids("cloche-jaild") and victim not in service.pids("cloche-jaild"), within=20)
    service.wait_ready()
    answer = live_at_last(service.api, "k", "print('x' in globals())")
    assert told(answer) == ("reset", "restart", ["files", "x"])


def test_a_kept_session_keeps_files_and_tells_the_lost_names(start):
    service = start()
    live(service.api, "k", "open('a', 'w').write('1'); x = 1", policy="kept")
    assert service.api.call("POST", "/v1/sessions/k/stop").status == 204
    answer = live(service.api, "k", "print(open('a').read(), 'x' in globals())")
    assert answer["stdout"]["text"] == "1 False\n" and told(answer) == ("reset", "asked", ["x"])
    kill_supervisor(service)
    answer = live_at_last(service.api, "k", "print(open('a').read())")
    assert answer["stdout"]["text"] == "1\n" and told(answer) == ("reset", "restart", [])


def kill_supervisor(service):
    victim = service.supervisor()
    os.kill(victim, signal.SIGKILL)
    until(lambda: service.pids("cloche-supervisor") and victim not in service.pids("cloche-supervisor"), within=20)
    service.wait_ready()


def test_death_of_the_supervisor_is_told(start):
    """Its memory of keys outlives it; the names do not."""
    service = start()
    live(service.api, "k", "x = 1")
    live(service.api, "other", "x = 1")
    kill_supervisor(service)
    assert told(live_at_last(service.api, "k", "print('x' in globals())")) == ("reset", "restart", ["files"])
    assert service.api.file("other", "f", "PUT", b"1").status == 201
    assert told(live_at_last(service.api, "other", "1")) == ("reset", "restart", ["files"]), "an upload takes it from nobody"
    assert told(live(service.api, "other", "1")) == ("reused", None, None)
    assert told(live(service.api, "unheard-of", "1")) == ("new", None, None)


def test_without_a_v2_tree_live_is_refused_and_not_listed(programs, tmp_path):
    pen = make_pen("api")
    wrap = pen.wrap
    hide = ["unshare", "-m", "sh", "-c", 'umount -l -a -t cgroup2 && exec "$@"', "sh"]
    pen.wrap = lambda argv, before="": wrap([*hide, *argv], before)
    try:
        service = Service(pen, tmp_path)
        response = service.api.run("k", "1", state="live")
        assert response.status == 422 and response.json["field"] == "state", response
        assert service.api.get("/v1/info").json["states"] == ["fresh"]
        assert service.api.answer("k", "print(1)")["stdout"]["text"] == "1\n"
        service.stop()
    finally:
        pen.close()


def test_info_tells_the_states(api):
    assert api.get("/v1/info").json["states"] == ["fresh", "live"]
