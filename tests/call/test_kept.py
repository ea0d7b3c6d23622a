"""Kept sessions: what an answer promised is there after a stop, a restart, a crash; nobody else's ever is."""
import os
import shutil
import subprocess
import time

import pytest

from test_runs import SLEEP, fault, until

ALL = """
import os, socket
os.makedirs('folder/in/folder')
os.makedirs('empty')
open('a file', 'w').write('text')
open('folder/in/x\\n\\u00e4', 'wb').write(bytes(range(256)) * 1000)
os.chmod('a file', 0o640)
os.utime('a file', ns=(1, 1_234_567_890_123_456_789))
os.link('a file', 'folder/again')
os.symlink('/etc/passwd', 'link')
with open('holes', 'wb') as f:
    f.seek(50 << 20)
    f.write(b'end')
os.chmod('empty', 0o711)
os.utime('empty', ns=(5, 5))
os.utime('folder', ns=(6, 6))
"""
LOOK = """
import os, hashlib
for top, folders, files in sorted(os.walk('.')):
    for name in sorted(folders + files):
        path = os.path.join(top, name)
        s = os.lstat(path)
        what = os.readlink(path) if os.path.islink(path) else ''
        if os.path.isfile(path) and not what:
            what = hashlib.sha256(open(path, 'rb').read()).hexdigest()[:16], s.st_size, s.st_blocks < 2000
        print(ascii(path), oct(s.st_mode), s.st_mtime_ns, s.st_nlink, what)
"""


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store"
    path.mkdir()
    return path


def kept(house, key, code, **more):
    return house.run(key, code, policy="kept", **more)


def texts(house, key, **more):
    return {f["path"]: house.do("get", key=key, path=f["path"], **more)["text"]
            for f in house.do("ls", key=key, **more)["files"]}


def test_F6_everything_is_back_after_a_stop(start, store):
    house = start(store=store)
    kept(house, "a", ALL)
    before = house.run("a", LOOK)
    assert (before["session_state"], before["restored"], before["reset"]) == ("reused", None, None)
    assert "fault" not in house.do("stop", key="a")
    seen = house.do("look", key="a")
    assert seen["is_kept"] and seen["is_stopped"] and seen["files"] == 4
    assert house.do("gauges")["sessions"] == 0
    after = house.run("a", LOOK)
    assert after["stdout"]["text"] == before["stdout"]["text"]
    assert (after["session_state"], after["restored"], after["reset"]) == ("reused", {"reason": "asked"}, None)
    assert house.run("a", "1")["restored"] is None


def test_what_is_no_file_is_dropped_and_told(start, store):
    house = start(store=store)
    answer = kept(house, "a", "import os; os.mkfifo('fifo'); open('f', 'w').close()")
    assert answer["advice"] == ["not_kept"]
    house.do("stop", key="a")
    assert house.run("a", "import os; print(os.listdir())")["stdout"]["text"] == "['f']\n"


@pytest.mark.parametrize("policy", ["kept", "ephemeral"])
def test_an_import_that_fails_takes_no_other_session_of_its_key(start, store, policy):
    """Its own was lost with its jaild, and another call has opened one since."""
    house = start(store=store)
    number = house.send("import", key="a", policy=policy, pause_ms=2500)
    until(lambda: "fault" not in house.do("look", key="a"))
    assert house.do("put", key="a", path="mine", text="x")["fault"] == "session_busy"  # it is open by now
    house.do("kill")
    house.do("start")
    assert "fault" not in house.do("put", key="a", path="mine", text="x", policy=policy)
    assert house.wait(number)["fault"] == "invalid_field"
    assert house.do("get", key="a", path="mine")["text"] == "x"


@pytest.mark.parametrize("policy", ["kept", "ephemeral"])
def test_an_import_that_fails_leaves_nothing(start, store, policy):
    house = start(store=store)
    number = house.send("import", key="a", policy=policy, pause_ms=700)
    until(lambda: "fault" not in house.do("look", key="a"))
    assert house.do("put", key="a", path="mine", text="x")["fault"] == "session_busy"
    assert house.do("rm", key="a", path="mine")["fault"] == "not_found"
    assert house.wait(number)["fault"] == "invalid_field"
    assert house.do("look", key="a")["fault"] == "not_found" and house.do("gauges")["sessions"] == 0


def test_names_of_files_that_have_several(start, store):
    """Each name keeps to its file, and costs no search through all the others."""
    house = start(store=store)
    kept(house, "a", "import os\nfor i in range(1500):\n open(f'a{i:04}', 'w').write(str(i))\n"
                     " os.link(f'a{i:04}', f'b{i:04}'); os.link(f'a{i:04}', f'c{i:04}')")
    house.do("stop", key="a")
    code = ("import os\nprint(sum(os.path.samefile(f'a{i:04}', n + f'{i:04}') and open(n + f'{i:04}').read() == str(i)"
            " for n in 'bc' for i in range(1500)), os.stat('a0007').st_nlink)")
    assert house.run("a", code)["stdout"]["text"] == "3000 3\n"


def test_L4_idle_stops_and_the_next_call_restores(start, store):
    house = start(store=store, kept_idle_ms=400)
    kept(house, "a", "open('f', 'w').write('x')")
    until(lambda: house.do("look", key="a")["is_stopped"])
    assert house.do("get", key="a", path="f")["text"] == "x"  # a call of any kind
    assert house.run("a", "1")["restored"] == {"reason": "idle"}  # told to the next run all the same


def test_L5_unused_is_removed_and_told(start, store):
    house = start(store=store, kept_idle_ms=200, kept_unused_ms=700)
    kept(house, "a", "open('f', 'w')")
    until(lambda: house.do("look", key="a").get("fault") == "not_found")
    until(lambda: [name for name in os.listdir(store) if "." in name] == [])
    answer = kept(house, "a", "import os; print(os.listdir())")
    assert (answer["session_state"], answer["stdout"]["text"]) == ("reset", "[]\n")
    assert answer["reset"] == {"reason": "unused", "lost": ["files"]}


@pytest.mark.parametrize("verb", ["stop", "close", "close stopped"])
def test_the_list_of_generations_does_not_wait_for_a_later_wake_up(start, store, verb):
    """Of a session that ends by a call, with nothing else that the house would wake up for within an hour."""
    house = start(store=store, kept_idle_ms=3_600_000, kept_unused_ms=3_600_000)
    kept(house, "a", "open('f', 'w')")
    until((store / "generations").exists)

    def listed():
        return (store / "generations").read_bytes()  # sealed anew, so never the same twice
    if verb == "close stopped":
        before = listed()
        house.do("stop", key="a")
        until(lambda: listed() != before)
    before = listed()
    house.do(verb.split()[0], key="a")
    until(lambda: listed() != before)


def test_a_loss_is_told_to_the_run_that_follows_an_upload(start, store):
    house = start(store=store)
    house.run("a", "open('f', 'w')")
    house.do("kill")
    house.do("start")
    house.do("put", key="a", path="g", text="1")
    answer = house.run("a", "1")
    assert (answer["session_state"], answer["reset"]) == ("reset", {"reason": "restart", "lost": ["files"]})
    assert house.run("a", "1")["reset"] is None


def test_L8_what_nobody_removed_while_we_were_away_is_removed_later(start, store):
    """An orphan: who would have closed the session found nobody there."""
    house = start(store=store)
    kept(house, "a", "open('f', 'w')")
    house.end()
    house.end = lambda: 0
    time.sleep(0.5)
    house = start(store=store, kept_idle_ms=100, kept_unused_ms=400)
    until(lambda: house.do("look", key="a").get("fault") == "not_found")
    until(lambda: [name for name in os.listdir(store) if "." in name] == [])


def test_L9_one_of_many_makes_it_and_one_ends_it(start, store):
    house = start(store=store)
    numbers = [house.send("put", key="a", path=f"f{i}", text=str(i), policy="kept") for i in range(8)]
    assert all("fault" not in house.wait(number) for number in numbers)
    assert texts(house, "a") == {f"f{i}": str(i) for i in range(8)}  # of one session, not the last one's
    numbers = [house.send("stop", key="a") for _ in range(8)]
    assert any("fault" not in house.wait(number) for number in numbers)
    assert len(texts(house, "a")) == 8
    numbers = [house.send(verb, key="a") for verb in ("close", "stop") * 4]
    closed = [house.wait(number) for number in numbers][::2]
    assert [answer.get("fault") for answer in closed].count(None) == 1
    until(lambda: [name for name in os.listdir(store) if "." in name] == [])


def test_L10_a_run_is_neither_stopped_nor_removed(start, store):
    house = start(store=store, kept_idle_ms=100, kept_unused_ms=200)
    wait = "import os, time\nopen('begun', 'w')\nwhile not os.path.exists('go'): time.sleep(.02)\nopen('f', 'w')\nos.unlink('begun')"
    number = house.send("run", key="a", policy="kept", code=wait)
    until(lambda: house.do("ls", key="a").get("files"))
    time.sleep(0.8)
    assert house.do("stop", key="a")["fault"] == "session_busy"
    house.do("put", key="a", path="go", text="")
    assert "f" in [f["path"] for f in house.wait(number)["answer"]["files"]]


@pytest.mark.parametrize("how", ["jaild", "both", "end"])
def test_B23_answered_changes_outlive_a_kill(start, store, how):
    house = start(store=store)
    kept(house, "a", "open('one', 'w').write('1'); open('gone', 'w').write('x')")
    house.do("put", key="a", path="in/two", text="2")
    house.do("put", key="a", path="one", text="1, later")
    house.do("rm", key="a", path="gone")
    if how == "jaild":
        house.do("kill")
        house.do("start")
    elif how == "both":
        house.process.kill()
        house.process.wait()
        house.end = lambda: 0
        house = start(store=store)
    else:
        house.end()
        house.end = lambda: 0
        house = start(store=store)
    assert texts(house, "a") == {"one": "1, later", "in/two": "2"}
    assert house.run("a", "1")["restored"] == {"reason": "restart"}


def test_a_put_during_a_run_stores_no_half_of_it(start, store):
    house = start(store=store)
    kept(house, "a", "open('f', 'w').write('whole')")
    number = house.send("run", key="a", code="open('f', 'w').write('half'); open('g', 'w'); " + SLEEP)
    until(lambda: "g" in [f["path"] for f in house.do("ls", key="a")["files"]])
    assert house.do("put", key="a", path="p", text="put")["is_new"]
    assert "fault" not in house.do("rm", key="a", path="g")
    house.process.kill()
    house.process.wait()
    house.end = lambda: 0
    assert number
    house = start(store=store)
    assert texts(house, "a") == {"f": "whole", "p": "put"}


def test_writes_through_a_mapping_are_kept(start, store):
    """They change neither time on tmpfs (decision 19)."""
    house = start(store=store)
    kept(house, "a", "open('m', 'wb').write(b'a' * 10000)")
    house.run("a", "import mmap\nf = open('m', 'r+b')\nmmap.mmap(f.fileno(), 0)[5000:5003] = b'new'")
    house.do("stop", key="a")
    assert house.do("get", key="a", path="m")["text"].find("new") == 5000


# Files of one hash, if that is XXH3 without a key: its secret's words at these places make its products 0.
TWINS = """
import mmap, struct
def twin(n):
    data = bytearray(4096)
    data[8:16] = bytes.fromhex('ded46de9') + struct.pack('<I', 100 + n)
    data[72:80] = bytes.fromhex('7240a4a4') + struct.pack('<I', 200 - n)
    return bytes(data)
"""


def test_two_contents_of_one_hash_are_two(start, store):
    """Contents were compared by a hash for which anybody could make a second content."""
    house = start(store=store)
    kept(house, "a", TWINS + "open('m', 'wb').write(twin(0)); open('w', 'wb').write(twin(0))")
    answer = house.run("a", TWINS + "f = open('m', 'r+b')\nmmap.mmap(f.fileno(), 0)[:] = twin(1)\n"
                                    "open('w', 'r+b').write(twin(1))")
    assert {f["path"]: f["change"] for f in answer["files"]} == {"m": "modified", "w": "modified"}
    house.do("stop", key="a")
    code = TWINS + "print([open(name, 'rb').read() == twin(1) for name in 'mw'])"
    assert house.run("a", code)["stdout"]["text"] == "[True, True]\n"


def test_three_syncs_for_a_durable_answer(start, store):
    house = start(store=store)
    house.run("e", "1")
    syncs = house.do("gauges")["store_syncs"]
    write = "import os; open('f', 'wb').write(os.urandom(102400))"
    for call in (lambda: kept(house, "a", write), lambda: house.run("a", write),
                 lambda: house.do("put", key="a", path="f", text="x" * 102400)):
        call()
        now = house.do("gauges")["store_syncs"]
        assert now - syncs <= 3
        syncs = now
    house.run("e", write)
    house.run("a", "print(1)")  # changes nothing
    assert house.do("gauges")["store_syncs"] == syncs


def test_room_is_made_by_the_longest_idle_kept_session(start, store):
    house = start(store=store, max_sessions=2, queue_wait_ms=200)
    kept(house, "a", "open('f', 'w')")
    kept(house, "b", "1")
    house.run("a", "1")
    kept(house, "c", "1")
    assert [house.do("look", key=k)["is_stopped"] for k in "abc"] == [False, True, False]
    assert house.run("b", "1")["restored"] == {"reason": "room"}
    assert house.do("look", key="a")["is_stopped"]
    house.run("e", "1")  # an ephemeral one takes the place of c
    house.run("e2", "1")
    assert house.do("run", key="e3", code="1")["fault"] == "sandbox_busy"  # ephemeral ones stay
    assert house.do("run", key="a", code="1")["fault"] == "sandbox_busy"


def test_policy_of_what_is_there_cannot_be_changed(start, store):
    house = start(store=store)
    kept(house, "a", "1")
    house.run("e", "1")
    assert fault(house.do("run", key="a", code="1", policy="ephemeral")) == ("invalid_field", "policy")
    assert fault(house.do("run", key="e", code="1", policy="kept")) == ("invalid_field", "policy")
    assert fault(house.do("stop", key="e")) == ("invalid_field", "policy")
    house.do("stop", key="a")
    assert fault(house.do("run", key="a", code="1", policy="ephemeral")) == ("invalid_field", "policy")
    assert fault(house.do("run", key="a", code="1", profile="roomy")) == ("invalid_field", "profile")
    assert fault(house.do("put", key="a", path="x", text="", policy="ephemeral")) == ("invalid_field", "policy")
    assert "fault" not in house.do("put", key="n", path="x", text="t", policy="kept")
    house.do("stop", key="n")
    assert texts(house, "n") == {"x": "t"}


@pytest.mark.parametrize("stopped", [False, True])
def test_removing_leaves_nothing(start, store, stopped):
    house = start(store=store)
    kept(house, "a", "open('f', 'w').write('x')")
    if stopped:
        house.do("stop", key="a")
    assert "fault" not in house.do("close", key="a")
    assert [name for name in os.listdir(store) if "." in name and name != "generations.new"] == []
    assert house.do("look", key="a")["fault"] == "not_found"
    assert house.do("close", key="a")["fault"] == "not_found"
    assert house.run("a", "import os; print(os.listdir())")["stdout"]["text"] == "[]\n"


def test_keys_are_per_tenant(start, store):
    house = start(store=store)
    kept(house, "a", "open('f', 'w')", tenant="t")
    house.do("stop", key="a", tenant="t")
    for verb in ("get", "rm", "ls", "look", "close", "stop"):
        assert house.do(verb, key="a", tenant="u", path="f")["fault"] == "not_found"
    assert house.do("list", tenant="u")["sessions"] == []
    assert house.do("list", tenant="t")["sessions"] == ["a"]
    assert texts(house, "a", tenant="t") == {"f": ""}


def test_a_full_store_is_a_fault_and_no_loss(start, store):
    house = start(store=store, store_max_bytes=300_000)
    kept(house, "a", "open('f', 'w').write('first')")
    said = house.do("run", key="a", code="import os; open('large', 'wb').write(os.urandom(400000))")
    assert fault(said)[0] == "store_full"
    assert house.do("put", key="a", path="g", text="x" * 400_000)["fault"] == "store_full"
    assert house.do("stop", key="a")["fault"] == "store_full"  # it would be a loss
    assert set(texts(house, "a")) == {"f", "large", "g"}
    house.run("a", "import os; os.remove('large'); os.remove('g')")
    assert "fault" not in house.do("stop", key="a")
    assert texts(house, "a") == {"f": "first"}


def test_a_full_disk_is_a_fault_and_no_loss(start, tmp_path):
    store = tmp_path / "small"
    store.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", store], check=True)
    try:
        house = start(store=store)
        kept(house, "a", "open('f', 'w').write('first')")
        said = house.do("run", key="a", code="import os; open('large', 'wb').write(os.urandom(2 << 20))")
        assert fault(said)[0] == "store_full"
        house.process.kill()
        house.process.wait()
        house.end = lambda: 0
        house = start(store=store)
        assert texts(house, "a") == {"f": "first"}
        house.end()
        house.end = lambda: 0
    finally:
        subprocess.run(["umount", "-l", store], check=True)


def test_how_many_may_be_kept(start, store):
    house = start(store=store, kept_max=2)
    kept(house, "a", "1")
    kept(house, "b", "1")
    assert fault(house.do("run", key="c", code="1", policy="kept"))[0] == "store_full"
    house.do("close", key="a")
    kept(house, "c", "1")


def names(store, what):
    return sorted(n for n in os.listdir(store) if n.endswith(".manifest") == (what == "manifest") and n[32:33] == ".")


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGES = {
    "flipped": flip,
    "cut": lambda path: os.truncate(path, path.stat().st_size - 1),
    "empty": lambda path: os.truncate(path, 0),
    "torn": lambda path: os.truncate(path, path.stat().st_size // 2),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("when", ["stopped", "restart"])
@pytest.mark.parametrize("what", ["manifest", "object"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_a_fault(start, store, damage, what, when):
    house = start(store=store)
    kept(house, "a", "open('f', 'w').write('of a')")
    for key in "ab":
        house.do("stop", key=key)
    if when == "restart":
        house.end()
        house.end = lambda: 0
    DAMAGES[damage](store / names(store, what)[0])
    if when == "restart":
        house = start(store=store)
    for verb in ("get", "ls"):
        assert house.do(verb, key="a", path="f")["fault"] == "store_corrupt"
    for policy in (None, "kept", "ephemeral"):
        said = house.do("run", key="a", code="1", **({"policy": policy} if policy else {}))
        assert said["fault"] in ("store_corrupt", "invalid_field"), said
    assert house.do("gauges")["sessions"] == 0
    kept(house, "b", "1")  # others are not touched
    if damage != "folder":
        assert "fault" not in house.do("close", key="a")
        assert kept(house, "a", "import os; print(os.listdir())")["stdout"]["text"] == "[]\n"


def test_other_files_in_its_place_are_a_fault(start, store):
    """Never another session's bytes, never an earlier file of its own."""
    house = start(store=store)
    kept(house, "a", "open('f', 'w').write('of a')")
    first = names(store, "object")
    kept(house, "b", "open('f', 'w').write('of b')")
    a, b = first[0], (set(names(store, "object")) - set(first)).pop()
    saved = (store / a).read_bytes()
    for key in "ab":
        house.do("stop", key=key)
    shutil.copy(store / b, store / a)
    assert house.do("get", key="a", path="f")["fault"] == "store_corrupt"
    (store / a).write_bytes(saved)
    house.run("a", "open('f', 'w').write('later')")
    house.do("stop", key="a")
    now = next(n for n in names(store, "object") if n != b)
    (store / now).write_bytes(saved)
    assert house.do("get", key="a", path="f")["fault"] == "store_corrupt"


@pytest.mark.parametrize("when", ["stopped", "restart"])
def test_a_session_that_was_put_back_is_a_fault(start, store, tmp_path, when):
    house = start(store=store)
    kept(house, "a", "open('f', 'w').write('old')")
    shutil.copytree(store, tmp_path / "copy", ignore=shutil.ignore_patterns("generations*"))
    house.run("a", "open('f', 'w').write('new')")
    house.do("stop", key="a")
    if when == "restart":
        house.end()
        house.end = lambda: 0
    for name in names(store, "manifest") + names(store, "object"):
        (store / name).unlink()
    for name in names(tmp_path / "copy", "manifest") + names(tmp_path / "copy", "object"):
        shutil.copy(tmp_path / "copy" / name, store / name)
    if when == "restart":
        house = start(store=store)
    assert house.do("get", key="a", path="f")["fault"] == "store_corrupt"


def test_nothing_is_in_clear(start, store):
    house = start(store=store)
    kept(house, "secret-key", "open('secret-name', 'w').write('secret content')", tenant="secret-tenant")
    house.end()
    house.end = lambda: 0
    for name in os.listdir(store):
        assert "secret" not in name
        assert b"secret" not in (store / name).read_bytes()
