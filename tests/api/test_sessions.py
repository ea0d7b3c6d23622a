"""S1 to S10, S13 to S15: what a session is. Times are short here; the real ones run with CLOCHE_LONG=1."""
import time

import pytest
from service import Background, until


def test_S1_a_run_answers(api, key):
    answer = api.answer(key, "print(6*7)")
    assert answer["stdout"] == {"text": "42\n", "bytes": 3, "dropped": 0}
    assert (answer["session"], answer["session_state"], answer["outcome"]) == (key, "new", "ok")
    assert answer["end"]["reason"] == "exit" and answer["end"]["code"] == 0


def test_S2_a_file_comes_out(api, key):
    api.answer(key, "open('a.txt','wb').write(bytes(range(256)))")
    response = api.file(key, "a.txt")
    assert response.status == 200 and response.body == bytes(range(256))


# Goes on when the test says so, by a file.
WAIT = "import os, time\nopen('begun', 'w')\nwhile not os.path.exists('go'): time.sleep(.02)"


def names(api, key):
    page = api.get(f"/v1/sessions/{key}/files")
    return {row["path"] for row in page.json["files"]} if page.status == 200 else set()


def test_S3_a_closed_session_is_gone(service, api, key):
    api.answer(key, "open('a.txt','w').write('x')")
    assert api.delete(f"/v1/sessions/{key}").status == 204
    assert api.file(key, "a.txt").status == 404
    assert api.delete(f"/v1/sessions/{key}").status == 404
    assert api.answer(key, "import os;print(os.listdir())")["stdout"]["text"] == "[]\n"


def test_S4_health_does_not_wait_for_runs(api, key):
    run = Background(api.run, key, WAIT)
    until(lambda: "begun" in names(api, key))
    assert api.get("/health").status == 200 and run.is_alive()
    assert api.file(key, "go", "PUT", b"").status == 201
    assert run.result().status == 200


def test_S5_an_idle_session_closes(start):
    api = start("--session-idle-s", "5").api
    api.answer("k", "open('x','w')")
    time.sleep(0.3)
    began = time.monotonic()
    assert api.file("k", "x").status == 200  # which is a call, and begins the five seconds anew
    idle_ms = api.get("/v1/sessions/k").json["idle_ms"]
    assert idle_ms <= (time.monotonic() - began) * 1000 + 1
    until(lambda: api.get("/v1/sessions/k").status == 404)  # which is none
    assert api.file("k", "x").status == 404


@pytest.mark.long
def test_S5_an_idle_session_closes_after_a_minute(start):
    api = start().api
    api.answer("k", "open('x','w')")
    api.answer("other", "open('x','w')")
    time.sleep(55)
    assert api.file("k", "x").status == 200
    time.sleep(10)
    assert api.file("other", "x").status == 404


def test_S6_an_old_session_closes_though_it_is_used(start):
    api = start("--session-max-s", "4").api
    began = time.monotonic()
    api.answer("k", "open('x','w')")
    while api.file("k", "x").status == 200:
        assert time.monotonic() - began < 60
        time.sleep(0.1)
    assert time.monotonic() - began > 3.9


@pytest.mark.long
def test_S6_an_old_session_closes_after_five_minutes(start):
    api = start().api
    began = time.monotonic()
    api.answer("k", "open('x','w')")
    while api.file("k", "x").status == 200:
        assert time.monotonic() - began < 330
        time.sleep(30 if time.monotonic() - began < 260 else 1)
    assert time.monotonic() - began >= 300


def test_S7_a_run_under_way_at_the_end_finishes_first(start):
    api = start("--session-max-s", "3").api
    answer = api.answer("k", "import time;open('x','w');time.sleep(4);print(open('x').name)")
    assert answer["outcome"] == "ok" and answer["stdout"]["text"] == "x\n"
    later = api.answer("k", "import os;print(os.path.exists('x'))")
    assert later["stdout"]["text"] == "False\n" and later["session_state"] in ("new", "reset")


def test_S8_four_at_once_and_no_more(start):
    api = start("--queue-wait-s", "1").api
    for i in range(4):
        api.answer(f"k{i}", "pass")
    began = time.monotonic()
    fifth = api.run("k5", "pass")
    assert (fifth.status, fifth.code) == (429, "sandbox_busy")
    assert time.monotonic() - began > 0.9
    assert int(fifth.header("Retry-After")) >= 1
    assert all(word in fifth.json["advice"] for word in ("cloche up --max-sessions", "policy kept"))
    assert api.delete("/v1/sessions/k2").status == 204
    assert api.run("k5", "pass").status == 200


def test_S8_a_waiting_run_gets_the_place_that_becomes_free(start):
    api = start().api
    for i in range(4):
        api.answer(f"k{i}", "pass")
    fifth = Background(api.run, "k5", "print(5)")
    until(lambda: b"\ncloche_house_waiting 1\n" in api.get("/metrics").body)
    time.sleep(0.6)
    assert api.delete("/v1/sessions/k0").status == 204
    response = fifth.result()
    assert response.status == 200 and response.json["usage"]["queue_ms"] >= 500


def test_S9_files_stay_for_the_next_call(api, key):
    api.answer(key, "open('x.csv','w').write('1,2')")
    answer = api.answer(key, "print(open('x.csv').read())")
    assert answer["stdout"]["text"] == "1,2\n" and answer["session_state"] == "reused"


def test_S10_never_two_runs_in_one_home(api, key):
    first = Background(api.run, key, WAIT)
    until(lambda: "begun" in names(api, key))
    second = api.run(key, "pass")
    assert (second.status, second.code) == (409, "session_busy") and first.is_alive()
    assert api.file(key, "go", "PUT", b"").status == 201
    assert first.result().status == 200
    assert api.run(key, "pass").status == 200


def test_S13_no_hard_link_to_outside(api, key):
    answer = api.answer(key, "import os\ntry: os.link('/etc/passwd','h')\nexcept OSError as e: print(e.errno)")
    assert answer["stdout"]["text"] in ("1\n", "18\n")
    assert api.file(key, "h").status == 404


def test_S14_input_files_arrive_with_the_call(api, key):
    files = [{"path": "in/data.csv", "text": "é,1\n"}, {"path": "b", "base64": "AP8="}]
    answer = api.answer(key, "print(open('in/data.csv').read(),open('b','rb').read())", files=files)
    assert answer["stdout"]["text"] == "é,1\n b'\\x00\\xff'\n"
    assert answer["files"] == []  # it changed nothing


def test_S14_too_much_input_is_refused_clearly(api, key):
    response = api.run(key, "pass", files=[{"path": "x", "text": "x" * (21 * 10**6)}])
    assert (response.status, response.code) == (413, "too_large")
    response = api.run(key, "pass", files=[{"path": "x", "text": "x" * (8 * 1024 * 1024 + 1)}])
    assert (response.status, response.code) == (413, "too_large")
    response = api.run(key, "pass", files=[{"path": "x", "text": "x" * (8 * 1024 * 1024)}])
    assert response.status == 200


@pytest.mark.parametrize("target", [
    "..%2fx", "%2e%2e", "..", ".", "%2e", "x" * 129, "x" * 300, "", "a%00b", "a%20b", "%C3%A9", "a%2fb", "a%ff", "a+b",
    "a%", "a%zz", "a~b"])
def test_S15_a_key_is_checked(api, target):
    response = api.call("POST", f"/v1/sessions/{target}/run", {"language": "bash", "code": "true"})
    assert response.status in (400, 404, 422), response
    assert response.status != 404 or target in ("", "..", ".", "%2e", "%2e%2e")


@pytest.mark.parametrize("name", ["x", "x" * 128, "A.b_c:d-9", "...", "-", "v1", "run", ":"])
def test_S15_what_a_key_may_be(api, name):
    assert api.run(name, "true", language="bash").status == 200
    assert api.get(f"/v1/sessions/{name}").json["session"] == name
    assert api.delete(f"/v1/sessions/{name}").status == 204
