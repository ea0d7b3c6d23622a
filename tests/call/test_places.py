"""How long sessions live, and who gets a place when all are taken. Times are small here; the order counts."""
import time

from test_runs import SLEEP, fault, start_sleeper, until


def test_S5_idle_sessions_close_and_are_told(start):
    house = start(session_idle_ms=3000)
    house.run("a", "open('x', 'w')")
    time.sleep(0.3)
    began = time.monotonic()
    assert house.do("ls", key="a")["files"]  # which is a call, and begins the three seconds anew
    assert house.do("look", key="a")["idle_ms"] <= (time.monotonic() - began) * 1000 + 1
    until(lambda: house.do("list")["sessions"] == [])
    assert house.do("get", key="a", path="x")["fault"] == "not_found"
    answer = house.run("a", "1")
    assert answer["session_state"] == "reset"
    assert answer["reset"] == {"reason": "idle", "lost": ["files"]}
    assert house.do("gauges")["sessions_closed_idle_total"] == 1


def test_looking_is_no_call(start):
    house = start(session_idle_ms=500)
    house.run("a", "1")
    for _ in range(5):
        house.do("look", key="a")
        house.do("list")
        time.sleep(0.15)
    until(lambda: house.do("look", key="a").get("fault") == "not_found")


def test_S6_age_closes_a_session_in_use(start):
    house = start(session_idle_ms=5000, session_max_ms=1200)
    before = time.monotonic()
    house.run("a", "open('x', 'w')")
    while house.do("ls", key="a").get("files"):
        assert time.monotonic() - before < 30
        time.sleep(0.05)
    assert time.monotonic() - before > 1.1
    assert house.run("a", "1")["reset"]["reason"] == "age"


def test_S7_a_run_under_way_finishes_first(start):
    house = start(session_max_ms=500)
    house.run("a", "open('x', 'w')")
    answer = house.run("a", "import time\ntime.sleep(1.5)\nprint('whole')")
    assert answer["stdout"]["text"] == "whole\n"
    answer = house.run("a", "import os\nprint(os.listdir('.'))")
    assert answer["stdout"]["text"] == "[]\n"
    assert (answer["session_state"], answer["reset"]["reason"]) == ("reset", "age")


def test_S8_E4_a_full_house(start):
    house = start(max_sessions=2, queue_wait_ms=400)
    house.run("a", "1")
    house.run("b", "1")
    before = time.monotonic()
    said = house.do("run", key="c", code="1", watch=1)
    assert said["fault"] == "sandbox_busy"
    assert time.monotonic() - before > 0.35
    assert 1 <= said["retry_after_s"] <= 60
    assert house.run("a", "1")["session_state"] == "reused"  # needs no place
    house.do("close", key="a")
    assert house.run("c", "1")["session_state"] == "new"


def test_a_waiter_gets_the_place_that_becomes_free(start):
    house = start(max_sessions=1, queue_wait_ms=10000)
    house.run("a", "1")
    number = house.send("run", key="b", code="1", watch=1)
    until(lambda: house.events(number, "queued"))
    assert house.events(number, "queued")[0]["position"] == 1
    assert house.do("gauges")["waiting"] == 1
    time.sleep(0.3)
    house.do("close", key="a")
    answer = house.wait(number)["answer"]
    assert answer["usage"]["queue_ms"] >= 300
    assert [e["event"] for e in house.events(number)] == ["queued", "started"]


def test_idleness_frees_a_place_for_a_waiter(start):
    house = start(max_sessions=1, session_idle_ms=700, queue_wait_ms=5000)
    house.run("a", "1")
    assert house.run("b", "1")["usage"]["queue_ms"] >= 300


def test_fair_by_tenant(start):
    """One tenant asks six times, then another once: the other is second at the latest."""
    house = start(max_sessions=1, queue_wait_ms=20000)
    house.run("first", "1", tenant="greedy")
    greedy = [house.send("run", key=f"g{i}", code="1", tenant="greedy", watch=1) for i in range(6)]
    until(lambda: house.do("gauges")["waiting"] == 6)
    modest = house.send("run", key="m", code="1", tenant="modest", watch=1)
    until(lambda: house.events(modest, "queued"))
    assert house.events(modest, "queued")[0]["position"] == 1
    house.do("close", key="first", tenant="greedy")
    assert "answer" in house.wait(modest, 5)
    house.do("close", key="m", tenant="modest")
    deadline = time.monotonic() + 20
    while any(house.answers[n].empty() for n in greedy):
        assert time.monotonic() < deadline
        for session in house.do("list", tenant="greedy")["sessions"]:
            house.do("close", key=session, tenant="greedy")
    assert all("answer" in house.wait(n) for n in greedy)


def test_a_full_queue_lets_another_tenant_in(start):
    house = start(max_sessions=1, queue_wait_ms=20000, queue_max=3)
    house.run("first", "1", tenant="greedy")
    greedy = [house.send("run", key=f"g{i}", code="1", tenant="greedy") for i in range(3)]
    until(lambda: house.do("gauges")["waiting"] == 3)
    assert house.do("run", key="g9", code="1", tenant="greedy")["fault"] == "sandbox_busy"
    modest = house.send("run", key="m", code="1", tenant="modest")
    until(lambda: any(not house.answers[n].empty() for n in greedy))
    evicted = [n for n in greedy if not house.answers[n].empty()]
    assert len(evicted) == 1
    assert house.wait(evicted[0])["fault"] == "sandbox_busy"
    house.do("close", key="first", tenant="greedy")
    assert "answer" in house.wait(modest, 5)


def test_cancel_and_drain_of_a_waiter(start):
    house = start(max_sessions=1, queue_wait_ms=20000)
    house.run("a", "1")
    waiter = house.send("run", key="b", code="1", run_id="w", watch=1)
    until(lambda: house.events(waiter, "queued"))
    assert "fault" not in house.do("cancel", run_id="w")
    assert house.wait(waiter, 3)["fault"] == "run_finished"
    waiter = house.send("run", key="b", code="1", watch=1)
    until(lambda: house.events(waiter, "queued"))
    assert house.do("drain", grace_ms=0)["left"] == 0
    assert house.wait(waiter, 3)["fault"] == "sandbox_unavailable"


def test_two_waiters_of_one_key_share_the_session(start):
    house = start(max_sessions=1, queue_wait_ms=20000)
    house.run("a", "1")
    first = house.send("run", key="b", code=SLEEP, watch=1, run_id="one")
    until(lambda: house.events(first, "queued"))
    second = house.send("run", key="b", code="1", watch=1)
    until(lambda: house.events(second, "queued"))
    house.do("close", key="a")
    until(lambda: house.events(first, "started"))
    assert house.wait(second, 3)["fault"] == "session_busy"
    house.do("cancel", run_id="one")
    assert "answer" in house.wait(first)


def test_twelve_sessions_fight_for_four_places(start):
    house = start(session_idle_ms=300, queue_wait_ms=20000)
    numbers = [house.send("run", key=f"k{i}", code="print(1)", tenant=f"t{i % 3}") for i in range(12)]
    said = [house.wait(n) for n in numbers]
    assert all("answer" in s for s in said), said


def test_an_upload_opens_a_session_and_keeps_it(start):
    house = start(session_idle_ms=1500)
    number = house.send("put", key="a", path="x", text="1", pause_ms=2500)
    assert house.wait(number)["is_new"] is True
    assert house.do("gauges")["sessions_opened_total"] == 1
    assert house.do("get", key="a", path="x")["text"] == "1"
    assert house.do("put", key="a", path="x", text="2")["is_new"] is False
    house.do("put", key="a", path="y", text="3", abort=1)
    assert [f["path"] for f in house.do("ls", key="a")["files"]] == ["x"]


def test_foreign_keys_are_not_there(start):
    house = start()
    house.run("a", "open('x', 'w')", tenant="t")
    for verb in ("get", "rm", "ls", "look", "close"):
        assert house.do(verb, key="a", tenant="u", path="x")["fault"] == "not_found"
    assert house.do("list", tenant="u")["sessions"] == []
    assert house.do("list")["sessions"] == ["a"]
    assert fault(house.do("run", key="a", code="1", tenant=""))[0] == "invalid_field"


def test_S11_S12_only_regular_files_beneath_the_home(start):
    house = start()
    house.run("a", "import os\nos.symlink('/etc', 'd')\nos.symlink('/etc/passwd', 'p')\nos.mkfifo('f')\nos.mkdir('o')")
    for path in ("d", "p", "d/passwd", "f", "o", "../x", "o/../p", "/etc/passwd", "", "x" * 5000):
        assert house.do("get", key="a", path=path)["fault"] in ("not_found", "bad_request"), path
        assert "fault" in house.do("rm", key="a", path=path) or path in ("d", "p", "f"), path


def test_pages(start):
    house = start()
    house.run("a", "for i in range(25): open(f'f{i:02}', 'w')\nimport os\nos.makedirs('.cache')\nopen('.cache/x', 'w')")
    paths, after = [], ""
    while True:
        said = house.do("ls", key="a", limit=10, path=after)
        paths += [f["path"] for f in said["files"]]
        if not said["has_more"]:
            break
        after = paths[-1]
    assert paths == [f"f{i:02}" for i in range(25)]


def test_a_sleeper_is_listed(start):
    house = start()
    number = start_sleeper(house, "a", run_id="z")
    assert house.do("gauges")["runs"] == 1
    assert house.do("ls", key="a")["files"] == []
    house.do("cancel", run_id="z")
    house.wait(number)
