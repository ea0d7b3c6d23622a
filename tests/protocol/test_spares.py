"""The cell that jaild keeps ready for a session's next run: there soon, fresh, and never left behind."""
import errno
import os
import random
import time
from pathlib import Path

import pytest
import wire
from wire import End

SLEEP = "import time\nprint('up', flush=True)\ntime.sleep(60)"
IDLE_S = 10
MARKS = """
import glob, os
for place in ("/tmp", "/dev/shm", "/run"):
    try: open(place + "/mark", "w").write("x")
    except OSError: pass
print(sorted(glob.glob("/tmp/*") + glob.glob("/dev/shm/*") + glob.glob("/run/*")), os.listdir("/proc"), os.getpid())
"""


def spare_of(jaild, within=60):
    """The init of the one spare cell, when there is one and no run is under way."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        inits = jaild.inits()
        if len(inits) == 1 and jaild.status()["cells"] == 0:
            return inits[0]
        time.sleep(0.002)
    return None


def no_init(jaild, within):
    deadline = time.monotonic() + within
    while jaild.inits() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not jaild.inits()


def test_run_leaves_a_spare_and_the_next_one_takes_it(jaild):
    session = jaild.open()
    jaild.result(session, "print(1)")
    spare = spare_of(jaild)
    assert spare, "no spare"
    run = jaild.run(session, SLEEP)
    assert run.line() == "up"
    assert jaild.inits() == [spare]
    jaild.cancel(run.started()["run"])
    run.ended()


def test_spare_is_fresh(jaild):
    """The second run's cell has been built while the first one's marks were there."""
    session = jaild.open("one", "roomy")
    first = jaild.result(session, MARKS)[1]
    for _ in range(5):
        assert spare_of(jaild)
        again = jaild.result(session, MARKS)[1]
        assert again == first


def test_spare_sees_the_home_as_it_is_now(jaild):
    session = jaild.open()
    jaild.result(session, "open('a', 'w').write('1')")
    assert spare_of(jaild)
    jaild.file_put(session, "b", b"2")
    jaild.file_remove(session, "a")
    assert jaild.result(session, "import os; print(os.listdir(), open('b').read())")[1] == "['b'] 2\n"


def test_spare_without_a_run_goes(jaild):
    session = jaild.open()
    before = jaild.descriptors()
    jaild.result(session, "print(1)")
    assert spare_of(jaild)
    assert no_init(jaild, IDLE_S * 2), "the spare is still there"
    assert jaild.descriptors_once(before) == before
    assert jaild.result(session, "print(1)")[1] == "1\n"


def test_stopped_run_leaves_no_spare(jaild):
    session = jaild.open()
    run = jaild.run(session, SLEEP)
    run.started()
    jaild.cancel(run.started()["run"])
    run.ended()
    time.sleep(0.1)
    assert not jaild.inits()


def test_close_ends_the_spare(jaild):
    before = jaild.descriptors()
    for turn in range(40):
        session = jaild.open()
        jaild.result(session, "", "program", args=["/bin/true"])
        time.sleep(turn / 4000)  # before it is made, while it is made, when it is there
        jaild.close(session)
        assert not jaild.inits()
    assert jaild.descriptors_once(before) == before


def test_hang_up_ends_spares(pen):
    for delay_ms in (0, 2, 4, 6, 20):
        jaild = wire.Jaild(pen)
        for number in range(6):
            jaild.result(jaild.open(f"s{number}", "roomy"), "", "program", args=["/bin/true"])
        time.sleep(delay_ms / 1000)
        jaild.hang_up()
        left = pen.empties()
        jaild.stop()
        assert not left, "\n".join(left)


def test_spare_that_is_killed_is_replaced(jaild):
    """SIGKILL at any moment: a run that was given to it may fail, by a stage's name; the next one works."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    session = jaild.open()
    for _ in range(60):
        jaild.result(session, "", "program", args=["/bin/true"])
        time.sleep(chance.uniform(0, 0.01))
        for init in jaild.inits():
            try:
                os.kill(init, 9)
            except ProcessLookupError:
                pass
        time.sleep(chance.choice([0, 0, 0.001, 0.005]))
        run = jaild.run(session, "", "program", args=["/bin/true"])
        try:
            assert run.ended()["end"] in (End.EXIT, End.SIGNAL)
        except wire.Refused as refusal:
            assert refusal.stage > 0
        run.close()
    jaild.close(session)
    assert not jaild.inits()


def test_runs_in_quick_succession(jaild):
    """Each comes a little later after the one before: with, beside and without a spare."""
    session = jaild.open("one", "roomy")
    for turn in range(100):
        jaild.result(session, "", "program", args=["/bin/true"])
        time.sleep(turn / 10_000)
    with pytest.raises(wire.Refused) as refusal:
        first, second = (jaild.run(session, SLEEP) for _ in range(2))
        second.started()
    assert refusal.value.error == errno.EBUSY


def test_limits_hold_in_a_spare(jaild):
    """The memory limit is set when the run comes, not when its cell is made."""
    session = jaild.open()
    for _ in range(2):
        jaild.result(session, "print(1)")
        assert spare_of(jaild)
        run = jaild.run(session, "block = bytearray(400_000_000)\nblock[::4096] = b'x' * len(block[::4096])")
        assert run.ended()["end"] == End.MEMORY
        run.close()
    run = jaild.run(session, SLEEP, wall_ms=200)
    assert run.ended()["end"] == End.TIMEOUT


def leaf_of(init):
    """Where init's group lies in the v2 tree."""
    lines = Path(f"/proc/{init}/cgroup").read_text().splitlines()
    return next(line[3:] for line in lines if line.startswith("0::"))


BURN = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
FORKS = """
import os, time
for _ in range(40):
    try:
        if os.fork() == 0: time.sleep(60)
    except OSError: break
"""


def test_leaf_goes_on_to_the_next_cell_without_its_past(jaild):
    """What one run used, and that it was refused a fork, is not told of the next."""
    session = jaild.open()
    first, _ = jaild.result(session, BURN)
    leaf = leaf_of(spare_of(jaild))
    refused, _ = jaild.result(session, FORKS)
    assert leaf_of(spare_of(jaild)) == leaf, "another leaf"
    after, _ = jaild.result(session, "print(1)")
    assert leaf_of(spare_of(jaild)) == leaf
    assert first["cpu_us"] > 400_000 and after["cpu_us"] < 400_000
    assert (first["advice"], refused["advice"], after["advice"]) == (0, 1, 0)


@pytest.mark.parametrize("end", [End.TIMEOUT, End.MEMORY, End.CANCELLED], ids=lambda end: end.name)
def test_killed_leaf_serves_nobody(jaild, end):
    session = jaild.open()
    jaild.result(session, "print(1)")
    leaf = leaf_of(spare_of(jaild))
    code = "block = bytearray(400_000_000)\nblock[::4096] = b'x' * len(block[::4096])" if end == End.MEMORY else SLEEP
    run = jaild.run(session, code, wall_ms=300 if end == End.TIMEOUT else 0)
    if end == End.CANCELLED:
        jaild.cancel(run.started()["run"])
    assert run.ended()["end"] == end
    run.close()
    for _ in range(2):
        ended, text = jaild.result(session, "print(1)")
        assert (ended["end"], text) == (End.EXIT, "1\n")
        assert leaf_of(spare_of(jaild)) != leaf
