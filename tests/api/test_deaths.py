"""S18, decision 28: SIGTERM and SIGKILL of each process under load, what clients are told, and that all comes back.

Load is four sessions: a spinning run as JSON, a printing one as events, a fork bomb, and an upload that is under way.
"""
import contextlib
import http.client
import os
import signal
import stat
import time

import pytest
from service import Background, Service, until

BOMB = "import os\nwhile 1:\n try: os.fork()\n except OSError: pass"
GONE = "the connection was cut"
LONG = os.environ.get("CLOCHE_LONG") == "1"


def told(call):
    """What a client is told: (status, answer or problem), or GONE."""
    try:
        response = call()
    except (OSError, http.client.HTTPException):
        return GONE
    return response.status, response.json if response.body else None


def last_event(api, key, code):
    """The same for a stream: its last event."""
    name, data = None, None
    try:
        for event in api.stream(key, code):
            name, data = event.name, event.data
    except (OSError, http.client.HTTPException):
        return GONE
    return (name, data) if name in ("end", "error") else GONE


def slow_upload(api, key, seconds):
    """A PUT at some MiB a second, so that it is under way for so long."""

    def pieces():
        for _ in range(int(seconds * 20)):
            yield b"x" * 65536
            time.sleep(0.05)

    connection, response = api.open("PUT", f"/v1/sessions/{key}/files/big", pieces())
    with contextlib.closing(connection):
        return response.status, response.read()


class Load:
    def __init__(self, service):
        api = service.api
        self.runs = {"spin": Background(told, lambda: api.run("spin", "while 1: pass")),
                     "bomb": Background(told, lambda: api.run("bomb", BOMB)),
                     "print": Background(last_event, api, "print", "while 1: print('x'*1000)")}
        self.upload = Background(slow_upload, api, "upload", 4)
        until(lambda: len(service.pids("cloche-init")) >= 3)
        until(lambda: sum(bool(row["run_id"]) for row in api.get("/v1/sessions").json["sessions"]) == 3)
        until(lambda: len(api.get("/v1/sessions").json["sessions"]) == 4)

    def ends(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.upload.result(30)
        return {name: run.result(40) for name, run in self.runs.items()}


def check_told(ends):
    """Nobody may be told that a run went well, and nobody waits for ever."""
    for name, end in ends.items():
        if end == GONE:
            continue
        status, data = end
        assert status in (200, 503, "end", "error"), (name, end)
        if status in (200, "end"):
            assert data["outcome"] == "killed" and data["end"]["reason"] == "cancelled", (name, end)
        else:
            assert data["code"] in ("sandbox_unavailable", "server_busy"), (name, end)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["term", "kill"])
@pytest.mark.parametrize("name", ["cloche-supervisor", "cloche-jaild"])
def test_S18_a_part_dies_under_load(start, name, number):
    service = start()
    token = (service.state / "token").read_text()
    under = Load(service)
    # jaild itself is the first process of its own space, where SIGTERM is for its launcher alone.
    before, since = service.pids(name), time.monotonic()
    os.kill(before[0 if number == signal.SIGTERM else -1], number)
    check_told(under.ends())
    service.wait_anew(name, before, since)
    assert (service.state / "token").read_text() == token
    assert service.process.poll() is None
    for key in ("spin", "bomb", "print"):
        assert service.api.get(f"/v1/sessions/{key}").status == 404
    answer = service.api.answer("spin", "import os;print(os.listdir())")
    assert answer["stdout"]["text"] == "[]\n"
    assert (answer["session_state"], answer["reset"]) == ("reset", {"reason": "restart", "lost": ["files"]})
    assert service.api.answer("spin", "pass")["session_state"] == "reused"
    answer = service.api.answer("never", "pass")
    assert (answer["session_state"], answer["reset"]) == ("new", None)
    for key in ("spin", "never"):
        service.api.delete(f"/v1/sessions/{key}")
    until(lambda: len(service.pids("cloche-init")) <= 1, within=20)


def test_S18_a_killed_init_ends_its_own_run_only(start):
    service = start("--spares", "0")  # so that the init which comes is the victim's
    api = service.api
    quiet = Background(api.run, "quiet", "import os, time\nopen('up', 'w')\nwhile not os.path.exists('go'): time.sleep(.02)\nprint('whole')")
    until(lambda: api.file("quiet", "up").status == 200)
    others = set(service.pids("cloche-init"))
    run = Background(told, lambda: api.run("victim", "import time;open('x','w');time.sleep(20)"))
    until(lambda: api.file("victim", "x").status == 200)
    for pid in set(service.pids("cloche-init")) - others:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    status, data = run.result()
    assert status in (200, 503), data
    if status == 200:
        assert data["outcome"] == "killed", data
    assert api.file("quiet", "go", "PUT", b"").status == 201
    assert quiet.result().json["stdout"]["text"] == "whole\n"
    assert api.answer("victim", "print(1)")["outcome"] == "ok"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_S18_up_ends_under_load(start, number):
    service = start()
    under = Load(service)
    service.stop(number)
    check_told(under.ends())


def test_S18_up_is_killed_under_load(start, tmp_path):
    """Then nobody is left to restart anything: all ends at once, and the next start on the folder sweeps the rest."""
    service = start()
    token = (service.state / "token").read_text()
    under = Load(service)
    service.process.kill()
    service.process.wait(10)
    check_told(under.ends())
    left = service.pen.empties(groups=False)
    assert not left, left
    again = Service(service.pen, tmp_path, state=service.state)
    assert (again.state / "token").read_text() == token
    assert stat.S_IMODE((again.state / "token").stat().st_mode) == 0o600
    assert again.api.answer("spin", "print(6*7)")["stdout"]["text"] == "42\n"
    again.stop()


def test_S18_deaths_in_a_row(start):
    """Backoff, not giving up: every part is killed again and again, and the service is ready each time."""
    service = start()
    for turn in range(12 if LONG else 3):
        for name in ("cloche-supervisor", "cloche-jaild"):
            before, since = service.pids(name), time.monotonic()
            os.kill(before[-1], signal.SIGKILL)
            service.wait_anew(name, before, since)
        assert service.api.answer("k", f"print({turn})")["stdout"]["text"] == f"{turn}\n"


def stopped(pids):
    """Stops the processes for the length of a with block."""

    @contextlib.contextmanager
    def block():
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    return block()


def test_S4_health_does_not_wait_for_a_jaild_that_hangs(start):
    service = start()
    with stopped(service.pids("cloche-jaild")):
        assert service.api.get("/health").status == 200
        assert service.api.with_token(None).get("/health").status == 200
    service.wait_ready()
    assert service.api.answer("k", "print(1)")["outcome"] == "ok"


@pytest.mark.long
def test_B13_not_ready_within_a_minute_when_no_run_works(start):
    service = start()
    with stopped(service.pids("cloche-jaild")):
        began = time.monotonic()
        while service.api.get("/ready").status == 200:
            assert time.monotonic() - began < 75
            time.sleep(1)
        assert service.api.get("/health").status == 200
    service.wait_ready(60)
    assert service.api.answer("k", "print(1)")["outcome"] == "ok"
