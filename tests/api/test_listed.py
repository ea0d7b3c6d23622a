"""What a run is said to have changed, when the home is not listed before it: nothing may come between unseen."""
import threading
import time

import pytest
from service import Background, until

WRITE = "open({path!r}, 'w').write({text!r})"


def changes(answer):
    assert not answer["files_truncated"]
    return [(file["change"], file["path"]) for file in answer["files"]]


def write(path, text):
    return WRITE.format(path=path, text=text)


@pytest.fixture(params=["fresh", "live", "kept", "kept live"])
def run(request, api, key):
    """run(code, **more): what a run of the session has changed."""
    more = {"state": "live"} if "live" in request.param else {}
    if "kept" in request.param:
        more["policy"] = "kept"
    return lambda code, **fields: changes(api.answer(key, code, **{**more, **fields}))


def test_each_run_is_told_its_own(run):
    assert run(write("a", "1")) == [("created", "a")]
    assert run("1") == []
    assert run(write("b", "1")) == [("created", "b")]
    assert run(write("a", "2")) == [("modified", "a")]
    assert run("import os\nos.remove('a'); os.mkdir('d'); os.rename('b', 'd/b')") == [
        ("deleted", "a"), ("deleted", "b"), ("created", "d/b")]
    assert run("1") == []
    assert run("import os\nos.remove('d/b')") == [("deleted", "d/b")]
    assert run("1") == []
    assert run(write("a", "1")) == [("created", "a")]


def test_same_bytes_again_at_once_are_a_change(run):
    run(write("a", "1"))
    for _ in range(5):
        assert run(write("a", "1")) == [("modified", "a")]


def test_times_that_a_script_sets(run):
    run(write("a", "1"))
    back = "import os\ns = os.stat('a')\n" + write("a", "2") + "\nos.utime('a', ns=(s.st_atime_ns, s.st_mtime_ns))"
    assert run(back) == [("modified", "a")]
    assert run("import os\nos.utime('a', ns=(0, 0))") == [("modified", "a")]
    assert run("1") == []


def test_writes_through_a_mapping(run):
    mapped = "import mmap\nf = open('m', 'r+b')\nm = mmap.mmap(f.fileno(), 0)\n"
    run("open('m', 'wb').write(bytes(10000))")
    for value in 1, 2:
        assert run(mapped + f"m[5000] = {value}") == [("modified", "m")]
    assert run("1") == []


@pytest.mark.parametrize("policy", ["ephemeral", "kept"])
def test_mapping_that_stays(policy, api, key):
    """Its first write may change the file's time, the later ones do not: only their bytes tell."""
    def live(code):
        return changes(api.answer(key, code, state="live", policy=policy))

    live("import mmap, os\nf = open('m', 'w+b', 0)\nf.write(bytes(10000))\nm = mmap.mmap(f.fileno(), 0)\nm[5000] = 1")
    for value in 2, 3:
        assert live(f"m[5000] = {value}; print(os.fstat(f.fileno()).st_ctime_ns)") == [("modified", "m")]
    assert live("m[5000] = 3") == []
    assert changes(api.answer(key, "true", language="bash")) == []


def test_our_own_changes_are_no_runs(run, api, key):
    assert run(write("a", "1")) == [("created", "a")]
    assert api.file(key, "up", "PUT", b"1").status == 201
    assert run("1") == []
    assert api.file(key, "up", "PUT", b"2").status == 204
    assert run(write("up", "3")) == [("modified", "up")]
    assert api.file(key, "up", "DELETE").status == 204
    assert run("1") == []
    assert api.file(key, "a", "DELETE").status == 204
    assert run(write("a", "1")) == [("created", "a")]
    assert api.file(key, "deep/er/up", "PUT", b"1").status == 201
    assert api.file(key, "deep/er/up", "DELETE").status == 204
    assert run(write("deep/er/up", "1")) == [("created", "deep/er/up")]
    assert run("1", files=[{"path": "in", "text": "1"}]) == []
    assert run(write("in", "2"), files=[{"path": "in", "text": "1"}]) == [("modified", "in")]
    assert run("1") == []


def test_runs_that_do_not_end_well(run):
    wait = "\nimport time\ntime.sleep(60)"
    assert run(write("a", "1") + "\nraise SystemExit(3)") == [("created", "a")]
    assert run(write("b", "1") + wait, timeout_ms=5000) == [("created", "b")]
    assert run("1") == []
    assert run(write("c", "1") + "\nimport os\nos.kill(os.getpid(), 9)") == [("created", "c")]
    assert run("1") == []
    assert run(write("a", "2"), reset=None) == [("modified", "a")]


def test_languages_take_turns(run):
    assert run("echo 1 >a", language="bash") == [("created", "a")]
    assert run(write("a", "2")) == [("modified", "a")]
    assert run("true", language="bash") == []
    assert run("rm a", language="bash") == [("deleted", "a")]
    assert run("1") == []


def test_thread_that_writes_until_all_stands_still(api, key):
    """Whatever it has written when the interpreter is frozen is of that call; nothing is of the run beside it."""
    def live(code):
        return changes(api.answer(key, code, state="live"))

    live("import itertools, mmap, os, threading\nf = open('m', 'w+b', 0)\nf.write(bytes(8))\nm = mmap.mmap(f.fileno(), 8)")
    live("""
def write():
    for n in itertools.count():
        m[:] = n.to_bytes(8, 'little')
        with open(f'plain', 'wb', 0) as file:
            file.write(m[:])
threading.Thread(target=write, daemon=True).start()""")
    for _ in range(5):
        assert {path for _, path in live("import time\ntime.sleep(.02)")} >= {"m", "plain"}
        held = api.file(key, "m").body
        assert changes(api.answer(key, "cat m plain >/dev/null", language="bash")) == []
        time.sleep(.02)
        assert api.file(key, "m").body == held


def test_large_home(api, key):
    """Its listing is too large to be kept. (16,000 may take more than the walker's second here; they are in
    tests/protocol.)"""
    make = "mkdir d; cd d; for i in $(seq 3000); do echo >$i; done"
    answer = api.answer(key, make, language="bash")
    assert answer["files_truncated"] and len(answer["files"]) == 1000
    for text in "12":
        assert changes(api.answer(key, f"printf {text} >d/7", language="bash")) == [("modified", "d/7")]
    assert changes(api.answer(key, "rm d/9; true >new", language="bash")) == [("deleted", "d/9"), ("created", "new")]
    assert changes(api.answer(key, "true", language="bash")) == []


def test_home_that_grows_over_what_is_kept_and_shrinks_again(api, key):
    def bash(code):
        return changes(api.answer(key, code, language="bash"))

    for number in range(1, 8):
        bash(f"for i in $(seq 100); do echo >{number}-$i; done")
        assert bash(f"echo 1 >{number}-50; rm {number}-51") == [("modified", f"{number}-50"), ("deleted", f"{number}-51")]
    bash("rm *-?")
    assert bash("rm *-??; touch x")[-1] == ("created", "x")
    assert bash("true") == []


def test_restored_session(api, key):
    def kept(code):
        return changes(api.answer(key, code, policy="kept"))

    kept(write("a", "1"))
    for _ in range(2):
        assert api.call("POST", f"/v1/sessions/{key}/stop").status == 204
        assert kept("1") == []
        assert kept(write("a", "2")) == [("modified", "a")]
    assert api.call("POST", f"/v1/sessions/{key}/stop").status == 204
    assert kept(write("b", "1")) == [("created", "b")]


def test_imported_session(api, key):
    api.answer(key, "import os\nos.mkdir('empty')\n" + write("a", "1"))
    archive = api.get(f"/v1/sessions/{key}/export").body
    api.delete(f"/v1/sessions/{key}")
    assert api.call("PUT", f"/v1/sessions/{key}/import", archive).status == 201
    assert changes(api.answer(key, "1")) == []
    assert changes(api.answer(key, write("a", "2"))) == [("modified", "a")]


def test_two_sessions_at_once(api, key):
    def use(number):
        name = f"{key}-{number}"
        seen.append([changes(api.answer(name, write(f"{number}-{i % 3}", str(i)))) for i in range(9)])
        api.delete(f"/v1/sessions/{name}")

    seen = []
    threads = [threading.Thread(target=use, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for told in seen:
        number = told[0][0][1][0]
        assert told == [[("created" if i < 3 else "modified", f"{number}-{i % 3}")] for i in range(9)]


@pytest.mark.parametrize("stays", [True, False])
def test_upload_of_any_moment_is_no_later_runs(stays, api, key):
    """Uploads come while runs start, run and are listed. What had been answered when a run began is not the run's."""
    api.answer(key, "1")
    for number in range(25):
        upload = Background(api.file, key, f"up-{number}", "PUT", b"1")
        api.answer(key, "true", language="bash")
        assert upload.result().status == 201
        assert changes(api.answer(key, "true", language="bash")) == [], number
        if not stays:
            api.file(key, f"up-{number}", "DELETE")


def test_upload_that_lasts_over_runs(api, key):
    api.answer(key, write("a", "1"))
    go = threading.Event()

    def body():
        yield b"12345"
        go.wait(20)
        yield b"67890"

    upload = Background(api.file, key, "up", "PUT", body(), headers={"Content-Length": "10"})
    for _ in range(3):
        assert changes(api.answer(key, "true", language="bash")) == []
    go.set()
    assert upload.result().status == 201
    assert changes(api.answer(key, "true", language="bash")) == []
    assert api.file(key, "up").body == b"1234567890"


def test_run_that_never_began(api, key):
    api.answer(key, write("a", "1"))
    assert api.run(key, "1", args=["x"] * 1000).status == 422
    held = Background(api.run, key, "import time\ntime.sleep(60)", run_id=f"held-{key}")
    until(lambda: api.get(f"/v1/sessions/{key}").json.get("run_id"))
    assert api.run(key, "1").status == 409
    assert api.call("POST", f"/v1/runs/held-{key}/cancel").status == 202
    assert changes(held.result().json) == []
    assert changes(api.answer(key, write("a", "2"))) == [("modified", "a")]
