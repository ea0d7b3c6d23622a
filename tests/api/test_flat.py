"""Nothing grows: descriptors and memory over many calls; and what a lack of either does."""
import contextlib
import http.client
import os
import time

import pytest
from pen import Pen
from service import Background, Service, make_pen, until

CALLS = 5000 if os.environ.get("CLOCHE_LONG") == "1" else 500
CLIENTS = 4
GROWTH_MAX_KIB = 3 * 1024  # of each process: heaps and stacks settle at their largest, leaks go on


def parts(service):
    return {name: pid for name in ("cloche-supervisor", "cloche-jaild") for pid in service.pids(name)[-1:]} | {
        "up": service.main()}


def descriptors(pids):
    """Without those of procfs for limits, of which jaild makes more, up to a bound, when more runs are under way."""
    found = {}
    for name, pid in pids.items():
        folder, links = f"/proc/{pid}/fd", []
        for fd in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                links.append(os.readlink(f"{folder}/{fd}"))
        found[name] = sum(not link.endswith("/sys/user") for link in links)
    return found


def one_of_each(api, key, number):
    """Five calls."""
    assert api.answer(key, "echo $RANDOM > f", language="bash")["outcome"] == "ok"
    assert list(api.stream(key, "cat; exit 3", language="bash", stdin="x" * 1000))[-1].data["end"]["code"] == 3
    assert api.file(key, f"g{number % 50}", "PUT", b"y" * 10000).status in (201, 204)
    assert api.file(key, "f").status == 200
    if number % 10 == 9:
        assert api.delete(f"/v1/sessions/{key}").status == 204
    else:
        assert api.run(key, "pass", profile="nothing").status in (403, 422)


def test_descriptors_and_memory_are_flat(start):
    service = start("--session-max-s", "3600")
    api = service.api

    def client(key, count):
        for number in range(count // 5):
            one_of_each(api, key, number)

    def round_of(calls):
        for one in [Background(client, f"k{i}", calls // CLIENTS) for i in range(CLIENTS)]:
            one.result(3000)
        for i in range(CLIENTS):
            api.delete(f"/v1/sessions/k{i}")
        until(lambda: not api.get("/v1/sessions").json["sessions"])

    round_of(100)  # warm
    pids = parts(service)
    assert set(pids) == {"cloche-supervisor", "cloche-jaild", "up"}
    before, rss = descriptors(pids), {name: service.rss_kib(pid) for name, pid in pids.items()}
    round_of(CALLS)
    assert parts(service) == pids, "something died on the way"
    until(lambda: all(count <= before[name] + 2 for name, count in descriptors(pids).items()))
    grown = {name: service.rss_kib(pid) - rss[name] for name, pid in pids.items()}
    assert all(kib < GROWTH_MAX_KIB for kib in grown.values()), grown


def test_hundred_mib_up_and_down_at_constant_memory(start):
    service = start()
    api = service.api
    api.file("k", "small", "PUT", b"x" * (1 << 20))
    size = 100 << 20
    piece = b"z" * (1 << 20)
    before, most = service.rss_kib(), 0
    upload = Background(api.call, "PUT", "/v1/sessions/k/files/big?profile=strict", iter([piece] * 95), timeout=120)
    while upload.is_alive():
        most = max(most, service.rss_kib())
        time.sleep(0.005)
    assert upload.result().status == 201  # 95 MiB: the home holds 100 with what is there
    connection, response = api.open("GET", "/v1/sessions/k/files/big")
    count = 0
    while data := response.read(1 << 20):
        count += len(data)
        most = max(most, service.rss_kib())
    connection.close()
    assert count == 95 << 20 <= size
    assert most - before < 2 * 1024, f"grew by {most - before} KiB"


@pytest.fixture
def start_with(programs, tmp_path):
    """start_with("ulimit ...;") is a service whose processes all have that limit."""
    pen = make_pen("limits")
    made = []

    def start_one(limit, *options):
        pen.wrap = lambda words: Pen.wrap(pen, words, limit)
        made.append(Service(pen, tmp_path, *options))
        return made[0]

    yield start_one
    try:
        for service in made:
            service.stop()
    finally:
        pen.close()


def test_a_run_takes_no_more_descriptors_than_are_reckoned(start):
    """DESCRIPTORS_OF_REQUEST of src/supervisor/main.c, by which it is decided how many connections may wait."""
    service, n = start("--max-sessions", "16"), 6
    api, pids = service.api, {"cloche-supervisor": service.supervisor()}
    code = "import time\nopen('up', 'w')\nprint(1, flush=True)\ntime.sleep(60)"
    for more in {}, {"stdin": "x", "policy": "kept"}, {"state": "live", "stdin": "x"}:
        keys = [f"k{number}" for number in range(n)]
        before = descriptors(pids)["cloche-supervisor"]
        runs = [Background(refused_in_whatever_way, lambda key=key: api.run(key, code, **more)) for key in keys]
        for key in keys:
            until(lambda key=key: api.file(key, "up").status == 200)
        taken = descriptors(pids)["cloche-supervisor"] - before
        assert 4 * n <= taken <= 14 * n
        for key in keys:
            assert api.delete(f"/v1/sessions/{key}").status == 204
        for run in runs:
            run.result(60)


@pytest.mark.parametrize("sessions, is_told", [(8, False), (9, True)])
def test_more_sessions_than_descriptors_are_told_at_the_start(start_with, sessions, is_told):
    """144 and 32 for each session (src/wire/descriptors.h): with 400 descriptors jaild opens 8."""
    service = start_with("ulimit -n 400;", "--max-sessions", str(sessions))
    told = [line for line in service.logged().splitlines() if "fewer sessions than max_sessions" in line]
    assert [f"max_sessions={sessions} fit=8 now=400 wanted=432" in line for line in told] == [True] * is_told


def refused_in_whatever_way(call):
    """The status, 0 for a connection that was refused or cut."""
    try:
        return call().status
    except (OSError, http.client.HTTPException):
        return 0


def hold(api, count):
    """So many connections with half a head, or as many as can be had."""
    held = []
    with contextlib.suppress(OSError):
        for _ in range(count):
            held.append(api.connect(5))
            held[-1].sendall(b"GET /health HTTP/1.1\r\n")
    return held


def test_a_lack_of_descriptors_passes(start_with):
    """Idle connections take all that the supervisor may open: calls wait or are refused, it lives, and then all is well."""
    service = start_with("ulimit -n 100;")
    api, pid = service.api, service.supervisor()
    api.answer("k0", "pass")
    held = hold(api, 300)
    statuses = {call.result(60) for call in [
        Background(refused_in_whatever_way, lambda i=i: api.run(f"k{i % 3}", "pass", timeout=5)) for i in range(6)]}
    for connection in held:
        connection.close()
    assert statuses <= {0, 200, 409, 429, 500, 503}, statuses
    assert service.supervisor() == pid
    service.wait_ready()
    # Calls whose clients gave up may still be served for a moment; and so few descriptors make fewer places.
    for i in range(3):
        api.delete(f"/v1/sessions/k{i}")
    until(lambda: api.run("k0", "print(1)").status == 200, within=20)


@pytest.mark.address_space
@pytest.mark.parametrize("kib", [200000, 120000])  # the second is too little: it dies, and comes back
def test_a_lack_of_memory_passes(start_with, kib):
    """It may map little more than it has: large calls may fail, nothing hangs, and later ones work."""
    service = start_with(f"ulimit -v {kib};")
    api = service.api
    files = [{"path": "x", "text": "y" * (7 << 20)}]
    statuses = {call.result(60) for call in [
        Background(refused_in_whatever_way, lambda i=i: api.run(f"k{i % 4}", "#" * 200000, timeout=30, files=files))
        for i in range(24)]}
    assert statuses <= {0, 200, 409, 413, 429, 500, 503}, statuses
    service.wait_ready()
    for i in range(4):
        api.delete(f"/v1/sessions/k{i}")
    assert api.answer("k", "echo 1", language="bash")["stdout"]["text"] == "1\n"


def test_J22_a_home_filled_by_uploads_leaves_the_run_its_memory(start):
    """Pages of uploads are not the run's: with 90 MiB in the home it may still have its 200 MiB."""
    api = start().api
    for number in range(9):
        assert api.file("k", f"f{number}", "PUT", b"x" * (10 << 20)).status == 201
    code = "b=bytearray(200<<20)\nfor i in range(0,len(b),4096): b[i]=1\nprint(len(b)>>20)"
    for _ in range(2):
        answer = api.answer("k", code)
        assert answer["stdout"]["text"] == "200\n", answer["end"]
    assert api.answer("k", "import os\nfor i in range(9): os.remove(f'f{i}')")["outcome"] == "ok"
    answer = api.answer("k", "open('own','wb').write(bytes(90<<20))\n" + code)
    assert answer["end"]["reason"] == "memory", answer["end"]


@pytest.mark.parametrize("turns", [3])
def test_health_answers_under_load(start, turns):
    """Four spinning runs, clients that wait, none of which ends before: how fast is bench/http's to tell."""
    service = start()
    api = service.api
    runs = [Background(api.run, f"k{i}", "open('up', 'w')\nwhile 1: pass") for i in range(4)]
    waiting = [api.connect() for _ in range(200)]
    for i in range(4):
        until(lambda: api.file(f"k{i}", "up").status == 200)
    for _ in range(turns * 10):
        assert api.with_token(None).get("/health").status == 200
    assert all(api.get(f"/v1/sessions/k{i}").json["run_id"] for i in range(4))
    for connection in waiting:
        connection.close()
    for i in range(4):
        assert api.delete(f"/v1/sessions/k{i}").status == 204
    assert all(run.result().json["end"]["reason"] == "cancelled" for run in runs)
