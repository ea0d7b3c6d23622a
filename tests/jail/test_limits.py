"""J5-J11, J15-J17, J22, B8: the figures of the strict profile, from inside and from the host."""
import errno

import host_view
import pytest
from runner import first_line, stop

MIB = 1 << 20


@pytest.fixture
def waiting(cloche):
    """The host's pid of a script that waits."""
    script, name = host_view.waiting_script()
    child = cloche.start(script, json_answer=False, out=False)
    try:
        assert first_line(child) == "READY"
        yield host_view.process_named(name)
    finally:
        stop(child)


@pytest.mark.both
def test_J5_memory_limit_is_256_MiB(waiting):
    found = host_view.limit(waiting, "memory", "memory.limit_in_bytes", "memory.max")
    assert 256 * MIB <= found <= 257 * MIB


@pytest.mark.both
def test_J6_no_swap(waiting):
    memory = host_view.limit(waiting, "memory", "memory.limit_in_bytes", "memory.max")
    if "memory" in host_view.cgroups_of(waiting):
        assert host_view.limit(waiting, "memory", "memory.memsw.limit_in_bytes", "") == memory
    else:
        assert host_view.limit(waiting, "memory", "", "memory.swap.max") == 0


@pytest.mark.both
def test_J7_one_processor_by_cgroup(waiting):
    assert host_view.processor_ratio(waiting) == pytest.approx(1.0, abs=0.05)


def test_J7_two_busy_processes_get_one_processor(cloche, checked):
    script = ("import os, time\nos.fork()\nend = time.monotonic() + 2\nwhile time.monotonic() < end:\n    pass\n")
    usage = checked(cloche.run(script))["usage"]
    assert 500 < usage["cpu_ms"] <= usage["wall_ms"] * 1.15 + 200


def test_J8_thirty_seconds_of_wall_time(cloche, checked):
    run = cloche.run("while 1: pass\n")
    answer = checked(run)
    assert 29.5 <= run.wall <= 33
    assert answer["outcome"] == "timeout" and answer["end"]["reason"] == "timeout" and run.status == 124


@pytest.mark.both
def test_J9_400_MB_end_as_killed(cloche, checked):
    run = cloche.run("b=bytearray(400*10**6);b[::4096]=b'x'*len(b[::4096])\n")
    answer = checked(run)
    assert answer["outcome"] == "killed" and answer["end"]["reason"] == "memory" and run.status == 137


@pytest.mark.both
def test_J10_the_sixteenth_more_process_fails(cloche):
    run = cloche.run("import os, time\nn = 0\ntry:\n    while n < 100:\n        if os.fork() == 0:\n            time.sleep(9)\n"
                     "            os._exit(0)\n        n += 1\nexcept OSError as e:\n    print(n, e.errno)\n")
    assert run.text.split() == ["15", str(errno.EAGAIN)]


@pytest.mark.both
def test_J10_limit_as_the_host_sees_it(waiting):
    assert host_view.limit(waiting, "pids", "pids.max", "pids.max") == 17


def test_J10_reaching_it_is_advised_not_blamed(cloche, checked):
    answer = checked(cloche.run("import os, time\ntry:\n    while 1:\n        if os.fork() == 0:\n            time.sleep(9)\n"
                                "except OSError:\n    pass\n"))
    assert answer["outcome"] == "ok" and "pids" in answer["advice"]


@pytest.mark.both
def test_J11_B8_thread_counts_follow_the_profile(cloche):
    run = cloche.run("import os\nprint(os.cpu_count(), len(os.sched_getaffinity(0)), *[os.environ[f'{n}_NUM_THREADS'] for n in "
                     "('OMP', 'OPENBLAS', 'MKL', 'NUMEXPR')], os.environ['PYTHON_CPU_COUNT'])\n")
    counts = run.text.split()
    # Python before 3.13 takes the host's number for os.cpu_count; the affinity is what libraries go by.
    assert counts[1:] == ["1"] * 6
    assert cloche.bash("nproc\n").text == "1\n"


@pytest.mark.both
def test_B8_cpu_count_agrees(cloche):
    assert cloche.run("import os\nprint(os.cpu_count())\n").text == "1\n"


@pytest.mark.both
@pytest.mark.parametrize("action", ["f.truncate(104857601)", "f.seek(104857600); f.write(b'x'); f.flush()"])
def test_J16_a_file_above_100_MiB_fails_with_EFBIG(cloche, action):
    run = cloche.run(f"f = open('big', 'wb')\ntry:\n    {action}\nexcept OSError as e:\n    print(e.errno)\n")
    assert run.text == f"{errno.EFBIG}\n"


@pytest.mark.both
def test_J17_the_home_fills_at_100_MiB(cloche):
    run = cloche.run("n = 0\ntry:\n    for i in range(4):\n        with open(f'f{i}', 'wb', buffering=0) as f:\n"
                     "            for _ in range(30):\n                n += f.write(bytes(1 << 20))\n"
                     "except OSError as e:\n    print(n, e.errno)\n", out=False)
    written, code = map(int, run.text.split())
    assert 95 * MIB <= written <= 100 * MIB and code == errno.ENOSPC


TAKE_200 = "b = bytearray(200 << 20)\nb[::4096] = b'x' * len(b[::4096])\nprint('had 200 MiB')\n"


@pytest.mark.both
def test_J22_pages_of_the_run_itself_count(cloche, checked):
    fill = "with open('f', 'wb') as f:\n    for _ in range(90):\n        f.write(bytes(1 << 20))\n"
    answer = checked(cloche.run(fill + TAKE_200))
    assert answer["end"]["reason"] == "memory"


def test_J22_pages_that_came_before_do_not_count(cloche, checked):
    given = cloche.file("given.bin", bytes(90 * MIB))
    run = cloche.run(TAKE_200, files=[given], out=False)
    assert checked(run)["outcome"] == "ok" and "had 200 MiB" in run.text


@pytest.mark.both
def test_usage_is_told(cloche, checked):
    script = "import time\nb = bytearray(60 << 20)\nb[::4096] = b'x' * len(b[::4096])\ntime.sleep(0.3)\n"
    usage = checked(cloche.run(script))["usage"]
    assert 60 * MIB <= usage["memory_peak_bytes"] <= 256 * MIB
    assert usage["wall_ms"] >= 300 and 0 < usage["cpu_ms"] < usage["wall_ms"] * 1.2 + 100
