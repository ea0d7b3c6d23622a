"""The process that makes cells: it can die, and is replaced; its cells do not notice."""
import os
import signal
import time

import wire
from wire import End

TRUE = ("", "program")
WAIT = "import sys; print('up', flush=True); print(input())"


def run_true(jaild, session):
    assert jaild.result(session, *TRUE, args=["/bin/true"])[0]["end"] == End.EXIT


def maker_of(jaild, within=20):
    """The next cell starts one anew, and a run that has a spare one waiting makes none itself."""
    until = time.monotonic() + within
    while len(found := jaild.makers()) != 1:
        assert time.monotonic() < until, found
        time.sleep(0.005)
    return found[0]


def test_it_is_killed_at_any_moment(pen):
    """A cell that is there goes on, the next one is made by a new maker, and none is left behind."""
    with wire.Jaild(pen) as jaild:
        sessions = [jaild.open(f"s{number}") for number in range(3)]
        run = jaild.run(sessions[0], WAIT, stdin=b"word\n")
        assert run.line() == "up"
        seen = set()
        for number in range(6):
            maker = maker_of(jaild)
            seen.add(maker)
            os.kill(maker, signal.SIGKILL)
            time.sleep(number * 0.003)
            run_true(jaild, sessions[1 + number % 2])
        assert len(seen) == 6
        assert run.ended()["end"] == End.EXIT and run.text() == "word\n"
        assert maker_of(jaild) not in seen


def test_it_is_replaced_after_some_cells(pen):
    """Its copies share a layout in memory: not for ever."""
    with wire.Jaild(pen) as jaild:
        session, first = jaild.open(), maker_of(jaild)
        run_true(jaild, session)
        assert jaild.makers() == [first]
        for _ in range(260):
            run_true(jaild, session)
        assert maker_of(jaild) != first
