"""Whole sessions that jaild keeps ready: taken at once when the limits are theirs, replaced, bounded, never left behind."""
import errno
import os
import time
from pathlib import Path

import pytest
import wire
from test_spares import SLEEP
from wire import End

LOOK = "import os; print(sorted(os.listdir('.')), os.listdir('/tmp'), os.getpid()); open('mark', 'w')"


def ready(jaild, n, within=10):
    """Waits until n are ready and no more are there."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if jaild.status()["spares"] == n and len(jaild.inits()) == n:
            return jaild.inits()
        time.sleep(0.02)  # asked all the time, jaild does not build
    return None


def uids(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1:] for line in lines if line.startswith("Uid:"))


def test_none_are_made_unasked(jaild):
    jaild.close(jaild.open())
    time.sleep(0.1)
    status = jaild.status()
    assert (status["spares"], status["spares_taken"], status["spares_missed"]) == (0, 0, 0)
    assert not jaild.inits()


def test_open_takes_one_and_another_is_made(jaild):
    jaild.spares(2)
    before = ready(jaild, 2)
    assert before and uids(before[0]) != uids(before[1])
    assert jaild.status()["sessions"] == 0
    session = jaild.open()
    run = jaild.run(session, SLEEP)
    assert run.line() == "up"
    status = jaild.status()
    assert (status["sessions"], status["spares_taken"], status["spares_missed"]) == (1, 1, 0)
    deadline = time.monotonic() + 60
    while jaild.status()["spares"] < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert set(before) < set(jaild.inits()) and len(jaild.inits()) == 3
    jaild.cancel(run.started()["run"])
    run.ended()


def test_taken_ones_are_fresh_and_apart(jaild):
    jaild.spares(3)
    seen = set()
    for number in range(4):
        assert ready(jaild, 3)
        session = jaild.open(f"s{number}")
        seen.add(jaild.result(session, LOOK)[1])
        jaild.close(session)
    assert seen == {"[] [] 2\n"}
    assert jaild.status()["spares_taken"] == 4


def test_limits_hold_in_a_taken_one(jaild):
    jaild.spares(1)
    assert ready(jaild, 1)
    session = jaild.open()
    run = jaild.run(session, "block = bytearray(400_000_000)\nblock[::4096] = b'x' * len(block[::4096])")
    assert run.ended()["end"] == End.MEMORY
    run.close()
    with pytest.raises(wire.Refused) as refusal:
        jaild.run(session, SLEEP, wall_ms=10**9).started()
    assert refusal.value.error == errno.ERANGE


@pytest.mark.parametrize("how", ["another profile", "one limit"])
def test_other_limits_get_none(jaild, how):
    jaild.spares(1)
    spare = ready(jaild, 1)
    session = jaild.open(profile="roomy") if how == "another profile" else jaild.open(processes=7)
    run = jaild.run(session, SLEEP)
    assert run.line() == "up"
    status = jaild.status()
    assert (status["spares_taken"], status["spares_missed"]) == (0, 1)
    assert set(spare) < set(jaild.inits())
    jaild.close(session)
    assert ready(jaild, 1) == spare


def test_nobody_can_name_one(jaild):
    jaild.spares(2)
    assert ready(jaild, 2)
    for number in range(16):
        with pytest.raises(wire.Refused) as refusal:
            jaild.run(number, SLEEP).started()
        assert refusal.value.error == errno.ENOENT
        with pytest.raises(wire.Refused):
            jaild.close(number)
        with pytest.raises(wire.Refused):
            jaild.list(number)
    with pytest.raises(wire.Refused) as refusal:
        jaild.open("")
    assert refusal.value.error == errno.ERANGE
    assert ready(jaild, 2)


def test_one_that_went_bad_is_replaced(jaild):
    jaild.spares(2)
    first, second = ready(jaild, 2)
    os.kill(first, 9)
    deadline = time.monotonic() + 60
    while (len(jaild.inits()) != 2 or first in jaild.inits()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert second in ready(jaild, 2)
    assert jaild.status()["spares_lost"] == 1
    for init in jaild.inits():
        os.kill(init, 9)
    session = jaild.open()  # at once: one that is dying may be taken still, then a run says so
    try:
        assert jaild.result(session, "print(1)")[1] == "1\n"
    except wire.Refused as refusal:
        assert refusal.stage > 0
    assert jaild.result(session, "print(1)")[1] == "1\n"


def test_wishes_change(jaild):
    before = jaild.descriptors()
    jaild.spares(3)
    old = ready(jaild, 3)
    jaild.spares(1)
    assert set(ready(jaild, 1)) < set(old)
    jaild.spares(2, "roomy")
    assert not set(ready(jaild, 2)) & set(old)
    session = jaild.open("one", "roomy")
    assert jaild.result(session, "print(1)")[1] == "1\n"
    assert jaild.status()["spares_taken"] == 1
    jaild.spares(0)
    jaild.close(session)
    assert ready(jaild, 0) == []
    assert jaild.descriptors_once(before) == before


def test_too_many_are_refused(jaild):
    for count, limits in ((65, {}), (2**32 - 1, {}), (1, {"processes": 0})):
        with pytest.raises(wire.Refused) as refusal:
            jaild.spares(count, **limits)
        assert refusal.value.error == errno.ERANGE
    assert jaild.status()["spares"] == 0


def test_full_house(pen):
    """Spares take no session's place, and none are built when nobody could take them."""
    with wire.Jaild(pen, before="ulimit -n 400; ") as jaild:
        jaild.spares(3)
        assert ready(jaild, 3)
        sessions = []
        with pytest.raises(wire.Refused) as refusal:
            for number in range(200):
                sessions.append(jaild.open(f"s{number}"))
                time.sleep(0.05)
        assert refusal.value.error == errno.ENFILE  # which limit it is
        assert len(sessions) == 8  # (400 - 144) / 32: src/jaild/session.h
        time.sleep(0.2)
        assert jaild.status()["spares"] == 0
        for session in sessions:
            assert jaild.result(session, "", "program", args=["/bin/true"])[0]["end"] == End.EXIT
        for session in sessions:
            jaild.close(session)
        assert ready(jaild, 3)


def test_hang_up_at_any_moment_leaves_nothing(pen):
    for delay_ms in (0, 1, 3, 5, 7, 9, 11, 15, 40):
        jaild = wire.Jaild(pen)
        jaild.spares(4)
        time.sleep(delay_ms / 1000)
        jaild.hang_up()
        left = pen.empties()
        jaild.stop()
        assert not left, "\n".join(left)


def test_an_idle_one_is_small(jaild):
    """2 MiB is what it may have (issue 5); measured: docs/performance.md."""
    jaild.spares(2)
    for init in ready(jaild, 2):
        lines = Path(f"/proc/{init}/smaps_rollup").read_text().splitlines()
        private = sum(int(line.split()[1]) for line in lines if line.startswith("Private"))
        assert private < 512
