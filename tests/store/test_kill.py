"""SIGKILL at random moments while clients run, upload and remove: B23.

Each client has a kept session of its own and knows which files it must hold. A call that was answered has changed it;
one that was not answered has changed it wholly or not at all. After each kill every client reads its session, byte for
byte, before it goes on. Moments, victims and calls come from a seed that is printed: CLOCHE_SEED=N repeats them. 15
kills, 200 with CLOCHE_LONG=1.
"""
import contextlib
import hashlib
import http.client
import json
import os
import random
import re
import signal
import threading
import time

from service import until

LONG = os.environ.get("CLOCHE_LONG") == "1"
SEED = int(os.environ.get("CLOCHE_SEED", random.randrange(2**32)))
KILLS = int(os.environ.get("CLOCHE_KILLS", 200 if LONG else 15))
CLIENTS = 3
VICTIMS = ["supervisor", "jaild", "launcher", "init", "up", "all"]
OPTIONS = ["--queue-wait-s", "20", "--max-sessions", "2", "--kept-idle-s", "2"]  # fewer places than clients
ERRORS = (OSError, http.client.HTTPException, json.JSONDecodeError)

WRITE = """
import mmap, os
for name, seed, size in {files!r}:
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(name, 'wb') as f:
        f.write((seed.encode() * size)[:size])
for name in {gone!r}:
    os.remove(name)
for name, seed, size in {mapped!r}:
    with open(name, 'r+b') as f:
        mmap.mmap(f.fileno(), 0)[:] = (seed.encode() * size)[:size]
{wait}
"""


def content(seed, size):
    return (seed.encode() * size)[:size]


class Client(threading.Thread):
    def __init__(self, number, test):
        super().__init__(daemon=True)
        self.key, self.test, self.random = f"kept-{number}", test, random.Random(f"{SEED} {number}")
        self.possible = [{}]  # what the session may hold: {path: bytes}
        self.is_there = False  # an answer has said so
        self.checked = 0  # rounds after which it has been read
        self.answered = self.unanswered = 0
        self.problem = None
        self.start()

    def run(self):
        try:
            while not self.test.is_over:
                round_number = self.test.round
                if self.check():
                    self.checked = round_number
                    self.change()
                else:
                    time.sleep(0.05)
        except BaseException as error:  # noqa: BLE001
            self.problem = error

    def call(self, method, target, body=None):
        try:
            return self.test.service.api.call(method, target, body, timeout=40)
        except ERRORS:
            return None

    def file_url(self, path):
        return f"/v1/sessions/{self.key}/files/{path}"

    def check(self):
        """Reads the session whole. False when that was not possible just now."""
        listed = self.call("GET", f"/v1/sessions/{self.key}/files")
        if listed is None or listed.status in (429, 503):
            return False
        if listed.status == 404:
            assert not self.is_there, f"{self.key} is gone"
            return True
        assert listed.status == 200, listed
        found = {}
        for path in [file["path"] for file in listed.json["files"]]:
            got = self.call("GET", self.file_url(path))
            if got is None or got.status in (429, 503):
                return False
            assert got.status == 200, (path, got)
            found[path] = got.body
        assert found in self.possible, (self.key, brief(found), [brief(state) for state in self.possible])
        self.possible = [found]
        return True

    def change(self):
        """A few calls, until one is not answered."""
        for _ in range(self.random.randint(1, 4)):
            after = dict(self.possible[0])
            method, target, body = self.choose(after)
            answer = self.call(method, target, body)
            done = answer is not None and answer.status in (200, 201, 204)
            if done and answer.status == 200 and answer.json["outcome"] != "ok":
                self.possible = None  # init was killed: answered, and done in part
                done = self.reread()
                if not done:
                    return
                continue
            if not done:
                assert answer is None or answer.status in (429, 503), answer
                self.possible = [self.possible[0], after]
                self.unanswered += 1
                return
            self.answered += 1
            self.is_there = True
            self.possible = [after]

    def reread(self):
        """After a run that did its work in part: what is there now is what must stay."""
        first = self.snapshot()
        while first is None and not self.test.is_over:
            time.sleep(0.05)
            first = self.snapshot()
        self.possible = [first]
        return first is not None

    def snapshot(self):
        listed = self.call("GET", f"/v1/sessions/{self.key}/files")
        if listed is None or listed.status in (429, 503):
            return None
        if listed.status == 404:
            return {}
        found = {}
        for path in [file["path"] for file in listed.json["files"]]:
            got = self.call("GET", self.file_url(path))
            if got is None or got.status != 200:
                return None
            found[path] = got.body
        return found

    def choose(self, after):
        """A call, and what it makes of the files."""
        seed, what = f"{self.random.random()}-", self.random.random()
        names = sorted(after)
        if names and what < 0.2:
            path = self.random.choice(names)
            del after[path]
            return "DELETE", self.file_url(path), None
        if self.is_there and what < 0.5:
            path = self.random.choice(["put", "up/load", "up/other"])
            after[path] = content(seed, self.random.choice([0, 10, 70_000, 300_000]))
            return "PUT", self.file_url(path), after[path]
        return "POST", f"/v1/sessions/{self.key}/run", self.run_of(seed, names, after)

    def run_of(self, seed, names, after):
        gone = [self.random.choice(names)] if names and self.random.random() < 0.3 else []
        mapped = [(name, seed, len(after[name])) for name in names
                  if name not in gone and after[name] and self.random.random() < 0.3]
        new = [(f"{self.random.choice(['a', 'b', 'in/c'])}{i}", seed, self.random.choice([1, 5_000, 100_000]))
               for i in range(self.random.randint(0, 3))]
        new = [one for one in new if one[0] not in gone and one[0] not in [m[0] for m in mapped]]
        for name in gone:
            del after[name]
        for name, _, size in new + mapped:
            after[name] = content(seed, size)
        wait = self.random.choice(["", "", "import time; time.sleep(0.3)"])
        code = WRITE.format(files=new, gone=gone, mapped=mapped, wait=wait)
        return {"language": "python", "code": code, "policy": "kept"}


def brief(state):
    return {path: (len(data), hashlib.sha256(data).hexdigest()[:8]) for path, data in state.items()}


class Scene:
    def __init__(self, start):
        self.start, self.round, self.is_over = start, 0, False
        self.service = start(*OPTIONS)
        self.random = random.Random(SEED)

    def victims(self, name):
        service = self.service
        if name == "supervisor":
            return service.pids("cloche-supervisor")
        if name in ("jaild", "launcher"):
            found = service.pids("cloche-jaild")
            return found[-1:] if name == "jaild" else found[:1]
        if name == "init":
            return service.pids("cloche-init")[:1]
        return service.pids("cloche") if name == "up" else sorted(service.pen.processes())

    def kill(self, name):
        for pid in self.victims(name):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if name in ("up", "all"):
            self.service.kill()
            self.service.process.stdout.close()
            until(lambda: not self.service.pen.processes(), 20)
            self.service = self.start(*OPTIONS, state=self.service.state)
        else:
            time.sleep(0.05)
            self.service.wait_ready()


def stored_files(state):
    return [name for name in os.listdir(state / "store") if re.fullmatch(r"[0-9a-f]{32}\.[0-9a-f]{32}", name)]


def test_B23_kill(start):
    print(f"seed {SEED}")
    test = Scene(start)
    clients = [Client(number, test) for number in range(CLIENTS)]
    kills = {}
    for number in range(KILLS):
        time.sleep(test.random.random() * 0.7)
        victim = test.random.choice(VICTIMS)
        kills[victim] = kills.get(victim, 0) + 1
        test.kill(victim)
        test.round = number + 1
        until(lambda: all(c.checked >= test.round or c.problem for c in clients), 120)
        for client in clients:
            if client.problem:
                raise AssertionError(f"seed {SEED}, kill {number} of {victim}") from client.problem
    test.is_over = True
    for client in clients:
        client.join(60)
        assert not client.problem, client.problem
    print(f"kills {kills}, calls answered {sum(c.answered for c in clients)}, "
          f"not answered {sum(c.unanswered for c in clients)}")
    state = test.service.state
    test.service.stop()
    test.service = start(*OPTIONS, state=state)
    until(lambda: not [name for name in os.listdir(state / "store") if name.endswith(".new")], 20)
    sessions = test.service.api.get("/v1/sessions").json["sessions"]
    assert {s["phase"] for s in sessions} == {"stopped"}
    assert len(stored_files(state)) == sum(s["files"] for s in sessions)
    for client in clients:
        assert client.check()
