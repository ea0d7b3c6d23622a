"""Many at once: places, the queue and its fairness, calls that meet in one session, cancel and close in mid-run."""
import collections
import json
import subprocess
import threading
import time

import pytest
from service import PROGRAM, Background, until


def token_add(service, *words):
    done = subprocess.run([PROGRAM, "token", "add", "--state", service.state, "--json", *words], capture_output=True,
                          check=True)
    return json.loads(done.stdout)["token"]


def gauge(api, name):
    for line in api.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise AssertionError(f"no {name}")


def running(api, key):
    """The run under way in a session, or None."""
    response = api.get(f"/v1/sessions/{key}")
    return response.json["run_id"] if response.status == 200 else None


def test_twelve_sessions_on_four_places(start):
    """Each runs, closes and comes again: all get through, never more than four are open, nothing is mixed up."""
    service = start("--queue-wait-s", "30")
    most, ended = [0], threading.Event()

    def watch():
        while not ended.is_set():
            most[0] = max(most[0], len(service.api.get("/v1/sessions").json["sessions"]))

    def one(number):
        for turn in range(3):
            answer = service.api.answer(f"k{number}", f"cat x 2>/dev/null; echo {number}.{turn} | tee x", language="bash")
            assert answer["stdout"]["text"] == f"{number}.{turn}\n" and answer["session_state"] in ("new", "reset")
            assert service.api.delete(f"/v1/sessions/k{number}").status == 204

    watcher = Background(watch)
    for call in [Background(one, number) for number in range(12)]:
        call.result()
    ended.set()
    watcher.result()
    assert 1 <= most[0] <= 4
    assert service.api.get("/v1/sessions").json["sessions"] == []


def test_twelve_at_once_without_patience(start):
    service = start("--queue-wait-s", "0")
    calls = [Background(service.api.run, f"k{number}", "sleep 1", language="bash") for number in range(12)]
    answers = [call.result() for call in calls]
    counts = collections.Counter(answer.status for answer in answers)
    assert counts == {200: 4, 429: 8}
    assert all(int(answer.header("Retry-After")) >= 1 for answer in answers if answer.status == 429)


def test_many_calls_at_once_in_one_session(api, key):
    calls = [Background(api.run, key, "mkdir mine && sleep 1 && rmdir mine", language="bash") for _ in range(10)]
    answers = [call.result() for call in calls]
    ran = [answer for answer in answers if answer.status == 200]
    assert ran and all(answer.json["outcome"] == "ok" for answer in ran)
    assert all(answer.code == "session_busy" for answer in answers if answer.status != 200)
    assert {answer.status for answer in answers} == {200, 409}


def test_B20_the_queue_tells_positions_and_is_bounded(start):
    service = start("--max-sessions", "1", "--queue-wait-s", "20", "--queue-max", "2")
    api = service.api
    api.answer("holder", "pass")
    first = Background(lambda: list(api.stream("first", "echo 1", language="bash")))
    until(lambda: gauge(api, "cloche_house_waiting") == 1)
    second = Background(lambda: list(api.stream("second", "echo 2", language="bash")))
    until(lambda: gauge(api, "cloche_house_waiting") == 2)
    began = time.monotonic()
    third = api.run("third", "pass")
    assert (third.status, third.code) == (429, "sandbox_busy") and time.monotonic() - began < 5
    assert api.delete("/v1/sessions/holder").status == 204
    events = first.result()
    assert (events[0].name, events[0].data["position"]) == ("queued", 1)
    assert events[-1].data["stdout"]["text"] == "1\n" and events[-1].data["usage"]["queue_ms"] > 0
    assert api.delete("/v1/sessions/first").status == 204
    events = second.result()
    assert (events[0].name, events[0].data["position"]) == ("queued", 2)
    assert events[-1].name == "end"


def test_B20_the_queue_is_fair_by_tenant(start):
    """Six calls of one tenant wait; one of another tenant that comes last is not seventh."""
    service = start("--max-sessions", "1", "--queue-wait-s", "60")
    api, other = service.api, service.api.with_token(token_add(service, "--tenant", "other"))
    until(lambda: other.get("/v1/info").status == 200)
    api.answer("holder", "pass")
    order, lock = [], threading.Lock()

    def call(who, door, key):
        assert door.run(key, "true", language="bash").status == 200
        with lock:
            order.append(who)
        assert door.delete(f"/v1/sessions/{key}").status == 204

    calls = []
    for number in range(6):
        calls.append(Background(call, "many", api, f"m{number}"))
        until(lambda: gauge(api, "cloche_house_waiting") == len(calls))
    calls.append(Background(call, "one", other, "o"))
    until(lambda: gauge(api, "cloche_house_waiting") == 7)
    api.delete("/v1/sessions/holder")
    for one in calls:
        one.result()
    assert order.index("one") <= 2, order


def test_a_waiter_that_goes_leaves_the_queue(start):
    service = start("--max-sessions", "1", "--queue-wait-s", "30", "--queue-max", "1")
    api = service.api
    api.answer("holder", "pass")
    body = b'{"language":"bash","code":"true"}'
    for accept in ("application/json", "text/event-stream"):
        with api.connect() as connection:
            connection.sendall(f"POST /v1/sessions/w/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.token}\r\n"
                               f"Accept: {accept}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
                               .encode() + body)
            until(lambda: gauge(api, "cloche_house_waiting") == 1)
        until(lambda: gauge(api, "cloche_house_waiting") == 0)
    assert api.get("/v1/sessions/w").status == 404


@pytest.mark.parametrize("way", ["cancel", "close"])
@pytest.mark.parametrize("form", ["json", "events"])
@pytest.mark.parametrize("code", ["import time;time.sleep(20)", "while 1: pass", "while 1: print('x'*1000)",
                                  "import os\nwhile 1:\n try: os.fork()\n except OSError: pass"],
                         ids=["sleep", "spin", "flood", "bomb"])
def test_B15_an_end_from_elsewhere(api, key, way, form, code):
    run_id = f"{key}-{way}-{form}"
    if form == "json":
        run = Background(lambda: api.run(key, code, run_id=run_id).json)
    else:
        run = Background(lambda: list(api.stream(key, code, run_id=run_id))[-1].data)
    until(lambda: running(api, key) == run_id)
    if way == "cancel":
        assert api.call("POST", f"/v1/runs/{run_id}/cancel").status == 202
    else:
        assert api.delete(f"/v1/sessions/{key}").status == 204
    answer = run.result()
    assert (answer["outcome"], answer["end"]["reason"]) == ("killed", "cancelled")
    if way == "cancel":
        assert api.answer(key, "print(1)")["session_state"] == "reused"
        assert api.call("POST", f"/v1/runs/{run_id}/cancel").status == 409


def test_files_while_a_run_is_under_way(api, key):
    api.file(key, "a", "PUT", b"1")
    run = Background(api.run, key, "import time\nwhile open('go').read() != 'go': time.sleep(.01)\n"
                                   "print(open('a').read())", files=[{"path": "go", "text": ""}])
    until(lambda: running(api, key))
    assert api.file(key, "a").body == b"1"
    assert api.get(f"/v1/sessions/{key}/files").status == 200
    status = api.file(key, "a", "PUT", b"2").status
    assert status in (204, 409)
    assert api.file(key, "go", "PUT", b"go").status == status
    if status == 409:
        api.call("POST", f"/v1/runs/{running(api, key)}/cancel")
        assert run.result().json["end"]["reason"] == "cancelled"
    else:
        assert run.result().json["stdout"]["text"] == "2\n"


def test_close_during_transfers(start):
    """A session that is closed while a file goes in and another comes out: each ends with a status, nothing hangs."""
    service = start()
    api = service.api
    for _ in range(5):
        api.file("k", "big", "PUT", b"x" * (20 << 20))
        connection, response = api.open("GET", "/v1/sessions/k/files/big")
        upload = Background(api.file, "k", "other", "PUT", b"y" * (60 << 20))
        response.read(1000)
        assert api.delete("/v1/sessions/k").status == 204
        connection.close()
        assert upload.result().status in (201, 204, 404, 409, 503)
        api.delete("/v1/sessions/k")
    until(lambda: gauge(api, "cloche_house_sessions") == 0)
