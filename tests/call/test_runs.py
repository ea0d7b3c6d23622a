"""Whole runs over a real jaild: what a client's request becomes, without HTTP."""
import base64
import os
import socket
import threading
import time

SLEEP = "import time\ntime.sleep(20)"


def fault(said):
    return said.get("fault"), said.get("field")


def names(answer):
    return {f["path"]: f["change"] for f in answer["files"]}


def until(condition, timeout_s=10):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def start_sleeper(house, key, **arguments):
    number = house.send("run", key=key, code=SLEEP, watch=1, **arguments)
    until(lambda: house.events(number, "started"))
    return number


def test_S1_S9_a_session_keeps_its_files(house):
    first = house.run("a", "open('x.csv', 'w').write('1,2')\nprint(6*7)")
    assert first["stdout"]["text"] == "42\n"
    assert (first["session"], first["session_state"], first["reset"]) == ("a", "new", None)
    assert names(first) == {"x.csv": "created"}
    second = house.run("a", "print(open('x.csv').read())")
    assert second["stdout"]["text"] == "1,2\n"
    assert second["session_state"] == "reused"
    assert second["files"] == []


def test_changes_between_runs_are_not_of_the_next_run(house):
    house.run("a", "open('x', 'w').write('1')")
    house.do("put", key="a", path="y", text="2")
    assert names(house.run("a", "open('x', 'a').write('1')")) == {"x": "modified"}
    house.do("rm", key="a", path="x")
    assert names(house.run("a", "pass")) == {}
    assert names(house.run("a", "import os\nos.unlink('y')")) == {"y": "deleted"}
    assert names(house.run("a", "open('z', 'w')")) == {"z": "created"}


def test_a_write_through_a_mapping_is_a_change(house):
    house.run("a", "open('m', 'wb').write(bytes(4096))")
    code = "import mmap\nf = open('m', 'r+b')\nm = mmap.mmap(f.fileno(), 0)\nm[5] = 1\nm.flush()"
    assert names(house.run("a", code)) == {"m": "modified"}


def test_S10_the_second_of_two_at_once_is_busy(house):
    house.run("a", "pass")
    number = start_sleeper(house, "a", run_id="one")
    assert house.do("run", key="a", code="1")["fault"] == "session_busy"
    assert house.do("look", key="a")["run_id"] == "one"
    house.do("cancel", run_id="one")
    assert house.wait(number)["answer"]["end"]["reason"] == "cancelled"
    assert house.do("look", key="a")["run_id"] == ""
    assert house.run("a", "print(1)")["stdout"]["text"] == "1\n"


def test_many_first_calls_at_once_open_one_session(house):
    numbers = [house.send("run", key="a", code="import time\ntime.sleep(.3)") for _ in range(8)]
    said = [house.wait(n) for n in numbers]
    assert sum("answer" in s for s in said) == 1
    assert [s["fault"] for s in said if "fault" in s] == ["session_busy"] * 7
    assert house.do("gauges")["sessions_opened_total"] == 1


def test_cancel_202_404_409(house):
    number = start_sleeper(house, "a", run_id="mine", tenant="t")
    assert house.do("cancel", run_id="mine", tenant="u")["fault"] == "not_found"
    assert house.do("cancel", run_id="yours", tenant="t")["fault"] == "not_found"
    assert "fault" not in house.do("cancel", run_id="mine", tenant="t")
    assert house.wait(number)["answer"]["outcome"] == "killed"
    assert house.do("cancel", run_id="mine", tenant="t")["fault"] == "run_finished"
    assert house.do("cancel", run_id="mine", tenant="u")["fault"] == "not_found"
    assert house.do("cancel", run_id="mine")["fault"] == "run_finished"


def test_an_id_is_used_once(house):
    number = start_sleeper(house, "a", run_id="r")
    assert fault(house.do("run", key="b", code="1", run_id="r")) == ("invalid_field", "run_id")
    house.do("cancel", run_id="r")
    house.wait(number)
    assert fault(house.do("run", key="b", code="1", run_id="r")) == ("invalid_field", "run_id")
    assert house.run("b", "1", run_id="r", tenant="other")["run_id"] == "r"
    for bad in ("", "a b", "a" * 65, "é", "../x"):
        assert fault(house.do("run", key="b", code="1", run_id=bad)) == ("invalid_field", "run_id")


def test_closing_a_session_ends_its_run(house):
    number = start_sleeper(house, "a")
    assert "fault" not in house.do("close", key="a")
    assert house.wait(number)["answer"]["end"]["reason"] == "cancelled"
    assert house.do("close", key="a")["fault"] == "not_found"
    assert house.do("look", key="a")["fault"] == "not_found"
    assert house.run("a", "import os\nprint(os.listdir('.'))")["session_state"] == "new"


def test_a_client_that_hangs_up_cancels(start):
    ours, theirs = socket.socketpair()
    half_ours, half_theirs = socket.socketpair()
    house = start(pass_fds=(theirs.fileno(), half_theirs.fileno()))
    gone = start_sleeper(house, "a", client_fd=theirs.fileno())
    half = start_sleeper(house, "b", client_fd=half_theirs.fileno())
    theirs.close()
    half_theirs.close()
    ours.close()
    half_ours.shutdown(socket.SHUT_WR)
    for number in (gone, half):
        said = house.wait(number, 10)
        assert said["is_client_gone"] is True
        assert said["answer"]["end"]["reason"] == "cancelled"


def test_what_is_printed_is_told_as_it_comes(house):
    code = "import sys, time\nfor c in 'aé€😀'.encode():\n  sys.stdout.buffer.write(bytes([c])); sys.stdout.flush(); time.sleep(.02)"
    number = house.send("run", key="a", code=code, watch=1)
    answer = house.wait(number)["answer"]
    said = [e["text"] for e in house.events(number, "stdout")]
    assert "".join(said) == "aé€😀" == answer["stdout"]["text"]
    assert house.events(number)[0]["event"] == "started"
    assert house.events(number)[0]["session_state"] == "new"


def test_S20_bytes_that_are_no_text(house):
    number = house.send("run", key="a", code="import sys\nsys.stdout.buffer.write(b'a\\xff\\xe2\\x82')", watch=1)
    assert house.wait(number)["answer"]["stdout"]["text"] == "a\ufffd\ufffd"
    assert "".join(e["text"] for e in house.events(number, "stdout")) == "a\ufffd\ufffd"


def test_S19_a_flood_is_told_in_part_and_memory_stays(house):
    house.run("a", "pass")
    before = house.rss_kib()
    code = "import sys\nfor i in range(300): sys.stdout.write('x' * 10**6)"
    number = house.send("run", key="a", code=code, watch=1)
    answer = house.wait(number)["answer"]
    assert answer["stdout"]["bytes"] == 300 * 10**6
    assert answer["stdout"]["dropped"] > 299 * 10**6
    told = sum(len(e["text"]) for e in house.events(number, "stdout"))
    assert 2**20 <= told <= 2**20 + 8192
    assert house.rss_kib() - before < 20 * 1024


def test_inline_files_of_both_kinds(house):
    files = [
        {"path": "in/data.csv", "text": "a,é\n"},
        {"path": "b.bin", "base64": base64.b64encode(bytes(range(256))).decode()},
        {"path": "empty", "text": ""},
    ]
    code = "print(open('in/data.csv').read(), list(open('b.bin','rb').read()) == list(range(256)), open('empty').read())"
    answer = house.run("a", code, files=files)
    assert answer["stdout"]["text"] == "a,é\n True \n"
    assert answer["files"] == []  # brought, not made


def test_bad_requests_name_their_field(house):
    cases = [
        ({"policy": "kept"}, "policy"),  # no store here
        ({"policy": "other"}, "policy"),
        ({"state": "alive"}, "state"),
        ({"profile": "none"}, "profile"),
        ({"timeout_ms": 30001}, "timeout_ms"),
        ({"args": ["x"] * 65}, "args"),
        ({"env": ["LD_PRELOAD=x"]}, "env"),
        ({"env": ["=x"]}, "env"),
        ({"env": ["A"]}, "env"),
        ({"files": [{"path": "ok", "text": ""}, {"path": "../x", "text": ""}]}, "files[1].path"),
        ({"files": [{"path": "/x", "text": ""}]}, "files[0].path"),
        ({"files": [{"path": "a//b", "text": ""}]}, "files[0].path"),
        ({"files": [{"path": "", "text": ""}]}, "files[0].path"),
        ({"files": [{"path": "x" * 256, "text": ""}]}, "files[0].path"),
        ({"files": [{"path": "x", "base64": "a"}]}, "files[0].base64"),
        ({"files": [{"path": "x", "text": ""}, {"path": "x/y", "text": ""}]}, "files[1].path"),
    ]
    for arguments, field in cases:
        assert fault(house.do("run", key="a", code="1", **arguments)) == ("invalid_field", field)
    for key in ("", ".", "..", "a/b", "x" * 129, "é"):
        assert fault(house.do("run", key=key, code="1")) == ("invalid_field", "key")


def test_a_refused_run_opens_no_session(house):
    """A run with too long a time was refused after the session had been opened for it."""
    for arguments in ({"timeout_ms": 30001}, {"profile": "none"}, {"profile": "roomy", "timeout_ms": 120001}):
        assert house.do("run", key="fresh", code="1", **arguments)["fault"] == "invalid_field"
    assert house.do("list")["sessions"] == []
    assert house.run("fresh", "print(1)", profile="roomy", timeout_ms=40000)["session_state"] == "new"
    house.do("close", key="fresh")


def test_sessions_of_our_own_are_in_no_list(house):
    house.run("mine", "1", tenant="(ours)")
    assert house.do("list", tenant="(ours)")["sessions"] == []


def test_S14_what_is_too_large(house):
    for arguments in (
        {"code": "#" * (256 * 1024 + 1)},
        {"code": "1", "stdin": "x" * (2**20 + 1)},
        {"code": "1", "files": [{"path": "a", "text": "x" * 2**22}, {"path": "b", "text": "x" * (2**22 + 1)}]},
        {"code": "1", "files": [{"path": "a", "base64": base64.b64encode(bytes(2**23 + 1)).decode()}]},
    ):
        assert house.do("run", key="a", **arguments)["fault"] == "too_large"
    whole = {"path": "a", "base64": base64.b64encode(bytes(2**23)).decode()}
    answer = house.run("a", "import os\nprint(os.stat('a').st_size)", files=[whole])
    assert answer["stdout"]["text"] == f"{2**23}\n"


def test_another_profile_on_an_open_session(house):
    house.run("a", "1", profile="strict")
    assert fault(house.do("run", key="a", code="1", profile="roomy")) == ("invalid_field", "profile")
    assert fault(house.do("put", key="a", path="x", text="", profile="roomy")) == ("invalid_field", "profile")
    assert house.do("run", key="a", code="1")["profile"] == "strict"
    assert house.do("run", key="b", code="1", profile="roomy", strict_only=1)["fault"] == "forbidden"
    assert house.do("gauges")["sessions"] == 1


def test_a_full_home_is_507(house):
    said = house.do("put", key="a", path="big", text="x" * 2**20, times=101)
    assert said["fault"] == "home_full"
    assert house.do("ls", key="a")["files"] == []
    code = "f = open('big', 'wb')\nfor i in range(95): f.write(bytes(2**20))"
    house.run("a", code)
    said = house.do("run", key="a", code="1", files=[{"path": "x", "text": "x" * 2**23}])
    assert said["fault"] == "home_full"


def test_a_lost_jaild_in_mid_run(house):
    number = start_sleeper(house, "a")
    house.run("b", "1")
    assert house.do("kill")["has_jaild"] is False
    assert house.wait(number)["fault"] == "sandbox_unavailable"
    assert house.do("run", key="a", code="1")["fault"] == "sandbox_unavailable"
    assert house.do("get", key="b", path="x")["fault"] in ("sandbox_unavailable", "not_found")
    assert house.do("list")["sessions"] == []
    assert "fault" not in house.do("start")
    for key in "ab":
        answer = house.run(key, "1")
        assert answer["session_state"] == "reset"
        assert answer["reset"] == {"reason": "restart", "lost": ["files"]}
        assert house.run(key, "1")["reset"] is None
    assert house.run("c", "1")["reset"] is None
    assert house.do("gauges")["sessions_lost_total"] == 2


def test_drain_lets_short_runs_end_and_cancels_long_ones(house):
    short = house.send("run", key="a", code="import time\ntime.sleep(.3)\nprint('done')", watch=1)
    long = start_sleeper(house, "b")
    until(lambda: house.events(short, "started"))
    before = time.monotonic()
    assert house.do("drain", grace_ms=3000)["left"] == 0
    assert time.monotonic() - before > 2.9
    assert house.wait(short)["answer"]["stdout"]["text"] == "done\n"
    assert house.wait(long)["answer"]["end"]["reason"] == "cancelled"
    assert house.do("run", key="c", code="1")["fault"] == "sandbox_unavailable"


def test_B13_the_canary_tells_whether_runs_work(house):
    assert house.do("canary", wait_ms=10000)["is_ready"] is True
    house.do("kill")
    assert house.do("canary")["is_ready"] is False
    house.do("start")
    assert house.do("canary", wait_ms=60000)["is_ready"] is True


def test_descriptors_and_memory_are_flat(house):
    def some(n):
        for i in range(n):
            house.run("a", "1", language="bash", files=[{"path": "x", "text": "1"}], watch=1)
            house.do("get", key="a", path="x")
            house.do("ls", key="a")
            house.do("close", key="a") if i % 10 == 0 else None

    some(20)
    fds, rss = house.count_fds(), house.rss_kib()
    some(60)
    assert house.count_fds() <= fds + 2
    if "CLOCHE_CALL_DRIVER" not in os.environ:  # a sanitizer keeps what was freed
        assert house.rss_kib() - rss < 2048


def test_a_crowd_on_few_sessions(start):
    """All verbs from many threads: for ThreadSanitizer, and for nothing being left."""
    house = start(max_sessions=3, session_idle_ms=150, session_max_ms=1000, queue_wait_ms=300, queue_max=6)
    unexpected = []
    allowed = {"session_busy", "sandbox_busy", "not_found", "run_finished", "invalid_field"}

    def work(worker):
        for i in range(8):
            key, tenant = f"k{(worker + i) % 5}", f"t{worker % 2}"
            said = [
                house.do("run", key=key, tenant=tenant, code="echo x >x; sleep .05", language="bash",
                         run_id=f"r{worker}-{i}", watch=1),
                house.do("put", key=key, tenant=tenant, path="p", text="1"),
                house.do("ls", key=key, tenant=tenant),
                house.do("cancel", run_id=f"r{(worker + 1) % 8}-{i}", tenant=f"t{(worker + 1) % 2}"),
                house.do("get", key=key, tenant=tenant, path="x"),
                house.do("list"), house.do("gauges"),
            ]
            if i % 3 == 0:
                said.append(house.do("close", key=key, tenant=tenant))
            unexpected.extend(s for s in said if s.get("fault", "not_found") not in allowed)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert unexpected == []
    until(lambda: house.do("gauges")["sessions"] == 0)
    gauges = house.do("gauges")
    assert (gauges["runs"], gauges["calls"], gauges["waiting"], gauges["connections"]) == (0, 0, 0, 0)
