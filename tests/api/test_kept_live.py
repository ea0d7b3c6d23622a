"""Sessions that are kept and live: files are as durable as in any kept session, names are told when they are lost."""
import contextlib
import http.client
import io
import os
import signal
import tarfile
import threading

import pytest
from service import Background, until


def live(api, key, code, **more):
    return api.answer(key, code, state="live", policy="kept", **more)


def at_last(api, key, code):
    """The same of a service that comes back."""
    response = until(lambda: (found := api.run(key, code, state="live", policy="kept")).status != 503 and found, within=20)
    assert response.status == 200, response
    return response.json


def told(answer):
    reset = answer["reset"]
    return answer["session_state"], reset and reset["reason"], reset and reset["lost"]


def out(answer):
    return answer["stdout"]["text"]


def stop(api, key):
    response = api.call("POST", f"/v1/sessions/{key}/stop")
    assert response.status == 204, response


def kill(service, *names):
    """SIGKILL, and until all is served again."""
    for name in names:
        victims = service.pids(name)
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        until(lambda: (now := service.pids(name)) and not set(now) & set(victims), within=20)  # noqa: B023
    service.wait_ready()


def test_a_stop_keeps_files_and_tells_the_names(api, key):
    live(api, key, "open('f', 'w').write('1'); x = 1; import json\ndef work(): pass")
    stop(api, key)
    answer = live(api, key, "print(open('f').read(), 'x' in globals())")
    assert out(answer) == "1 False\n" and told(answer) == ("reset", "asked", ["x", "json", "work"])
    assert answer["restored"] == {"reason": "asked"}
    assert told(live(api, key, "1")) == ("reused", None, None)


@pytest.mark.parametrize("names", [("cloche-supervisor",), ("cloche-jaild",), ("cloche-supervisor", "cloche-jaild")])
def test_each_answer_is_durable(start, names):
    service = start()
    for turn in range(3):
        live(service.api, "k", f"x = {turn}\nopen('f', 'a').write('{turn}')")
    kill(service, *names)
    answer = at_last(service.api, "k", "print(open('f').read(), 'x' in globals())")
    assert out(answer) == "012 False\n" and told(answer)[:2] == ("reset", "restart")
    assert told(answer)[2] == (["x"] if names == ("cloche-jaild",) else []), "only the supervisor knows them"


def test_writes_through_a_mapping_that_stays_open_are_kept(api, key):
    """They change no time of the file, and no descriptor is opened or closed in the call that writes."""
    live(api, key, "import mmap\nopen('f', 'wb').write(bytes(100000))\nf = open('f', 'r+b')\nm = mmap.mmap(f.fileno(), 0)")
    for value in (b"one", b"two"):
        answer = live(api, key, f"m[50000:50003] = {value!r}")
        assert [(f["path"], f["change"]) for f in answer["files"]] == [("f", "modified")]
    stop(api, key)
    assert out(live(api, key, "print(open('f', 'rb').read()[50000:50003])")) == "b'two'\n"


def test_a_thread_writes_while_calls_go_on_and_not_in_between(api, key):
    live(api, key, """
import os, threading, time
def work():
    n = 0
    while True:
        n += 1
        with open('new', 'w') as f: f.write(str(n))
        os.replace('new', 'n')
        time.sleep(0.001)
def text(): return open('n').read() if os.path.exists('n') else ''
threading.Thread(target=work, daemon=True).start()
""")
    goes_on = "then = text()\nwhile text() == then: time.sleep(0.01)"
    live(api, key, goes_on)
    seen = api.file(key, "n").body
    assert api.file(key, "n").body == seen, "it stands still"
    live(api, key, goes_on)
    last = api.file(key, "n").body
    assert last != seen
    stop(api, key)
    assert api.file(key, "n").body == last


def test_an_idle_one_makes_room_and_is_told(start):
    api = start("--max-sessions", "1").api
    live(api, "a", "x = 1; open('f', 'w').write('1')")
    assert out(api.answer("b", "print(1)")) == "1\n"
    assert api.get("/v1/sessions/a").json["phase"] == "stopped"
    assert api.delete("/v1/sessions/b").status == 204
    answer = live(api, "a", "print(open('f').read(), 'x' in globals())")
    assert out(answer) == "1 False\n" and told(answer) == ("reset", "room", ["x"])


def test_a_busy_one_is_neither_stopped_nor_evicted(start):
    api = start("--max-sessions", "1", "--queue-wait-s", "1").api
    live(api, "a", "x = 1")
    run = Background(live, api, "a", "import os, time\nwhile not os.path.exists('go'): time.sleep(.02)\nx += 1")
    until(lambda: api.get("/v1/sessions/a").json["run_id"])
    assert api.call("POST", "/v1/sessions/a/stop").code == "session_busy"
    assert api.run("b", "1").code == "sandbox_busy"
    assert api.file("a", "go", "PUT", b"").status == 201
    assert told(run.result()) == ("reused", None, None)
    assert out(live(api, "a", "print(x)")) == "2\n"


def test_idleness_stops_it(start):
    api = start("--kept-idle-s", "1").api
    live(api, "k", "x = 1; open('f', 'w')")
    until(lambda: api.get("/v1/sessions/k").json["phase"] == "stopped")
    answer = live(api, "k", "import os; print(os.listdir())")
    assert out(answer) == "['f']\n" and told(answer) == ("reset", "idle", ["x"])


def test_a_stopped_one_goes_on_live_unasked(api, key):
    """It went on as a fresh one, and the loss was told nobody."""
    live(api, key, "x = 1; open('f', 'w').write('1')")
    stop(api, key)
    assert api.get(f"/v1/sessions/{key}").json["state"] == "live"
    assert api.answer(key, "echo 1", language="bash")["stdout"]["text"] == "1\n"
    answer = api.answer(key, "x = 2; print(open('f').read())")
    assert out(answer) == "1\n" and told(answer) == ("reset", "asked", ["x"])
    assert out(api.answer(key, "print(x)")) == "2\n"
    stop(api, key)
    assert api.file(key, "g", "PUT", b"1").status == 201, "saved before its first run"
    stop(api, key)
    assert out(api.answer(key, "y = 1; print(2)")) == "2\n"
    assert out(api.answer(key, "print(y)")) == "1\n"
    stop(api, key)
    answer = api.answer(key, "print('y' in globals())", state="fresh")  # asked for something else
    assert out(answer) == "False\n" and api.get(f"/v1/sessions/{key}").json["state"] == "fresh"


def test_a_restart_of_all_leaves_it_live(start):
    service = start()
    live(service.api, "k", "x = 1; open('f', 'w').write('1')")
    kill(service, "cloche-supervisor", "cloche-jaild")
    answer = until(lambda: (found := service.api.run("k", "x = 3")).status != 503 and found, within=20).json
    assert told(answer)[:2] == ("reset", "restart")
    assert out(service.api.answer("k", "print(x)")) == "3\n"


def test_an_idle_ephemeral_one_goes_on_live_unasked(start):
    api = start("--session-idle-s", "1").api
    assert out(api.answer("k", "x = 1", state="live")) == ""
    until(lambda: api.get("/v1/sessions/k").status == 404)
    answer = api.answer("k", "x = 2")
    assert told(answer)[:2] == ("reset", "idle") and "x" in told(answer)[2]
    assert out(api.answer("k", "print(x)")) == "2\n"


def test_an_export_leaves_the_frozen_interpreter_alone(api, key):
    live(api, key, "x = 1; open('f', 'w').write('text'); g = open('g', 'w'); _ = g.write('not flushed')")
    response = api.get(f"/v1/sessions/{key}/export")
    with tarfile.open(fileobj=io.BytesIO(response.body)) as tar:
        assert tar.extractfile("f").read() == b"text" and tar.getmember("g").size == 0
    answer = live(api, key, "g.flush(); print(x)")
    assert out(answer) == "1\n" and told(answer) == ("reused", None, None)
    assert api.file(key, "g").body == b"not flushed"


def test_an_import_into_one_that_is_there_is_refused(api, key):
    live(api, key, "x = 1; open('f', 'w').write('mine')")
    data = api.get(f"/v1/sessions/{key}/export").body
    refused = api.call("PUT", f"/v1/sessions/{key}/import", data)
    assert refused.code == "session_busy" and "there already" in refused.json["detail"]
    assert refused.json["advice"].startswith("Close it first") and "another key" in refused.json["advice"]
    stop(api, key)
    assert api.call("PUT", f"/v1/sessions/{key}/import", data).code == "session_busy", "a stopped one is there too"
    answer = live(api, key, "print(open('f').read())")
    assert out(answer) == "mine\n" and told(answer)[2] == ["x"]


@pytest.mark.parametrize("query", ["", "?policy=kept", "?policy=ephemeral"])
@pytest.mark.parametrize("policy", ["kept", "ephemeral"])
def test_an_import_is_refused_whatever_the_policy_of_the_session(api, key, policy, query):
    api.answer(key, "open('f', 'w').write('mine')", policy=policy)
    refused = api.call("PUT", f"/v1/sessions/{key}/import{query}", api.get(f"/v1/sessions/{key}/export").body)
    assert (refused.status, refused.code) == (409, "session_busy") and "there already" in refused.json["detail"]
    assert api.call("PUT", f"/v1/sessions/{key}/import?policy=ever", b"").status == 422
    assert api.answer(key, "print(open('f').read())")["stdout"]["text"] == "mine\n"


def test_an_imported_one_can_be_live(api, key):
    live(api, key, "open('f', 'w').write('from there')")
    data = api.get(f"/v1/sessions/{key}/export").body
    other = key + "-other"
    assert api.call("PUT", f"/v1/sessions/{other}/import", data).status == 201
    answer = live(api, other, "x = open('f').read(); print(x)")
    assert out(answer) == "from there\n" and told(answer) == ("new", None, None)
    assert api.delete(f"/v1/sessions/{other}").status == 204


def test_the_first_interpreter_of_one_that_was_stopped_is_new(api, key):
    """It was told as a reset for the reason of the stop, though nothing had been lost."""
    assert api.file(key, "f", "PUT", b"1", query="?policy=kept").status == 201
    stop(api, key)
    answer = live(api, key, "print(open('f').read())")
    assert out(answer) == "1\n" and told(answer) == ("new", None, None)
    assert answer["restored"] == {"reason": "asked"}


def begin(api, key, code, **more):
    """A call that is under way: its code makes the file `up` when it is."""
    run = Background(api.run, key, f"open('up', 'w').write('1')\n{code}", state="live", policy="kept", timeout=60, **more)
    until(lambda: api.file(key, "up").status == 200)
    return run


def test_what_was_written_before_a_cancel_is_kept(api, key):
    live(api, key, "x = 1")
    run = begin(api, key, "x = 2; import time; time.sleep(60)", run_id=f"cancel-{key}")
    assert api.call("POST", f"/v1/runs/cancel-{key}/cancel").status == 202
    answer = run.result().json
    assert answer["end"]["reason"] == "cancelled" and told(answer) == ("reused", None, None)
    stop(api, key)
    answer = live(api, key, "print(open('up').read())")
    assert out(answer) == "1\n" and told(answer) == ("reset", "asked", ["x", "time"])


def test_a_timeout_that_is_survived_is_durable(start):
    service = start()
    answer = live(service.api, "k", "x = 1; open('f', 'w').write('1'); import time; time.sleep(60)", timeout_ms=4000)
    assert answer["outcome"] == "timeout" and [f["path"] for f in answer["files"]] == ["f"]
    assert out(live(service.api, "k", "print(x)")) == "1\n"
    kill(service, "cloche-supervisor")
    assert out(at_last(service.api, "k", "print(open('f').read())")) == "1\n"


@pytest.mark.parametrize("code, reason, ms", [
    ("import signal; signal.signal(2, signal.SIG_IGN)\nwhile True: pass", "timeout", 3000),
    ("import os; os._exit(3)", "crash", 20000),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "crash", 20000),
    ("b = bytearray(400 << 20)", "memory", 20000)])
def test_what_ends_the_interpreter_takes_no_file(api, key, code, reason, ms):
    live(api, key, "x = 1; open('old', 'w').write('1')")
    answer = live(api, key, f"open('new', 'w').write('2')\n{code}", timeout_ms=ms)
    assert told(answer) == ("reset", reason, ["x"]) and [f["path"] for f in answer["files"]] == ["new"]
    stop(api, key)
    answer = live(api, key, "print(open('old').read(), open('new').read())")
    assert out(answer) == "1 2\n" and told(answer) == ("reset", reason, ["x"]), "the stop took no interpreter"


def whole_or_nothing(text):
    assert text in ("old", "new" * 30000), text[:100]


def test_a_supervisor_that_is_killed_in_mid_call(start):
    """Its call was not answered, so it has happened wholly or not at all; what was answered is there."""
    service = start()
    live(service.api, "k", "x = 1; open('f', 'w').write('old')")
    with contextlib.suppress(OSError, http.client.HTTPException, AssertionError):
        run = begin(service.api, "k", "open('f', 'w').write('new' * 30000); import time; time.sleep(20)")
        kill(service, "cloche-supervisor")
        run.result()
    answer = at_last(service.api, "k", "print(open('f').read(), end='')")
    assert told(answer)[:2] == ("reset", "restart")
    whole_or_nothing(service.api.file("k", "f").body.decode())


def test_a_jaild_that_is_killed_in_mid_call(start):
    service = start()
    live(service.api, "k", "x = 1; open('f', 'w').write('old')")
    run = begin(service.api, "k", "open('f', 'w').write('new' * 30000); import time; time.sleep(20)")
    kill(service, "cloche-jaild")
    assert run.result().status == 503
    answer = at_last(service.api, "k", "print('x' in globals())")
    assert out(answer) == "False\n" and told(answer) == ("reset", "restart", ["x"])
    whole_or_nothing(service.api.file("k", "f").body.decode())


def test_reset_keeps_the_files(api, key):
    live(api, key, "x = 1; open('f', 'w').write('1')")
    answer = live(api, key, "print(open('f').read(), 'x' in globals())", reset=True)
    assert out(answer) == "1 False\n" and told(answer) == ("reset", "requested", ["x"]) and answer["restored"] is None
    stop(api, key)
    assert api.file(key, "f").body == b"1"


def test_an_upload_between_two_calls_and_one_in_a_call(api, key):
    live(api, key, "x = 1")
    assert api.file(key, "a", "PUT", b"between").status == 201
    assert out(live(api, key, "print(open('a').read(), x)")) == "between 1\n"
    run = begin(api, key, "import os, time\nwhile not os.path.exists('b'): time.sleep(0.01)\nprint(open('b').read())")
    assert api.file(key, "b", "PUT", b"within").status == 201
    assert out(run.result().json) == "within\n"
    stop(api, key)
    assert api.file(key, "a").body == b"between" and api.file(key, "b").body == b"within"


def test_bash_beside_it_is_as_durable(api, key):
    live(api, key, "x = 1")
    answer = api.answer(key, "echo text > f; mkfifo pipe", language="bash")
    assert answer["advice"] == ["not_kept"] and told(answer) == ("reused", None, None)
    assert out(live(api, key, "print(open('f').read(), x)")) == "text\n 1\n"
    stop(api, key)
    assert out(api.answer(key, "ls", language="bash")) == "f\n"


def test_removing_it_ends_all(api, key):
    live(api, key, "x = 1; open('f', 'w')")
    assert api.delete(f"/v1/sessions/{key}").status == 204
    assert api.get(f"/v1/sessions/{key}").status == 404
    answer = live(api, key, "import os; print(os.listdir(), 'x' in globals())")
    assert out(answer) == "[] False\n" and told(answer) == ("new", None, None)


def test_sessions_of_many_threads_keep_their_own(api, key):
    """Live calls, uploads, stops and exports of four sessions at a time, each of which goes on alone."""
    failures = []

    def work(name):
        try:
            for turn in range(5):
                answer = live(api, name, f"x = globals().get('x', 0) + 1\nopen('f', 'a').write('{turn}')\nprint(open('f').read())")
                assert out(answer) == "".join(map(str, range(turn + 1))) + "\n", answer
                if turn % 2:
                    stop(api, name)
                assert api.file(name, "u", "PUT", str(turn).encode()).status in (201, 204)
                assert api.get(f"/v1/sessions/{name}/export").status == 200
        except BaseException as error:  # noqa: BLE001: told below
            failures.append(error)

    names = [f"{key}-{i}" for i in range(4)]
    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    for name in names:
        assert api.delete(f"/v1/sessions/{name}").status == 204
