"""The process that makes cells: it can die, and is replaced; its cells do not notice."""
import contextlib
import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import wire
from traced import CLONE3, Traced
from wire import End

LEAF = re.compile(r"(s\d+\.)?c\d+")

TRUE = ("", "program")
WAIT = "import sys; print('up', flush=True); print(input())"


def run_true(jaild, session):
    assert jaild.result(session, *TRUE, args=["/bin/true"])[0]["end"] == End.EXIT


def maker_of(jaild, within=20):
    """The next cell starts one anew, and a run that has a spare one waiting makes none itself."""
    return wire.only(jaild.makers, within)


def children_of(jaild):
    """jaild's children, those too that nobody has waited for."""
    pid = jaild.pid
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def leaves(jaild):
    """Groups of cells, in every tree."""
    return [path for group in jaild.pen.groups() for path in Path(group).glob("**/*") if LEAF.fullmatch(path.name)]


def namespace(pid):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/pid")
    return None


def settles(look, wanted, within=20):
    until = time.monotonic() + within
    while (found := look()) != wanted:
        assert time.monotonic() < until, f"{found} instead of {wanted}"
        time.sleep(0.01)


def test_it_is_killed_between_runs(pen):
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


def test_it_is_killed_while_cells_are_made(pen):
    """At any moment of it: the run is served, and nothing is left of what was on its way. Not in two runs one behind
    the other: one that finds a dead maker begins another one, and gives up when that is killed too."""
    with wire.Jaild(pen) as jaild:
        own, seen, offsets = namespace(jaild.pid), set(), random.Random(7)

        def kill_it():
            for maker in jaild.makers():
                if namespace(maker) == own:  # a copy has its name at first, but a pid namespace of its own
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(maker, signal.SIGKILL)
                        seen.add(maker)

        for number in range(100):
            session = jaild.open(f"s{number}")
            killer = threading.Timer(offsets.uniform(0, 0.006), kill_it if number % 2 else jaild.makers)
            killer.start()
            run_true(jaild, session)
            killer.join()
            jaild.close(session)
        assert len(seen) > 10
        settles(lambda: set(children_of(jaild)) - set(jaild.makers()), set())
        settles(lambda: leaves(jaild), [])


def test_it_is_killed_between_a_cell_and_the_word_about_it(pen):
    """The cell that nobody knows of ends and is waited for, its groups go, and the run has another one."""
    with wire.Jaild(pen) as jaild:
        session, other = jaild.open("one"), jaild.open("two")
        for _ in range(3):
            settles(lambda: [leaves(jaild), jaild.inits()], [[], []])
            with Traced(maker_of(jaild)) as maker:
                run = jaild.run(session, "print(6 * 7)")
                assert maker.system_call(CLONE3) > 0
                orphan = set(children_of(jaild)) - {maker.pid}
                assert len(orphan) == 1
            assert run.ended()["end"] == End.EXIT and run.text() == "42\n"
            run_true(jaild, other)
            settles(lambda: orphan & set(children_of(jaild)), set())
            jaild.close(session)
            jaild.close(other)
            session, other = jaild.open("one"), jaild.open("two")
        settles(lambda: set(children_of(jaild)) - set(jaild.makers()), set())


def test_it_hangs(pen):
    """It is ended after a second and another one asked: the run is served, and so are the others."""
    with wire.Jaild(pen) as jaild:
        sessions = [jaild.open(f"s{number}") for number in range(3)]
        stopped = maker_of(jaild)
        os.kill(stopped, signal.SIGSTOP)
        runs = [jaild.run(session, "print(6 * 7)") for session in sessions]
        for run in runs:
            assert run.ended()["end"] == End.EXIT and run.text() == "42\n"
        assert stopped not in children_of(jaild)
        settles(lambda: leaves(jaild) == [] or jaild.inits() != [], True)


def test_it_is_replaced_after_some_cells(pen):
    """Its copies share a layout in memory: not for ever."""
    with wire.Jaild(pen) as jaild:
        session, first = jaild.open(), maker_of(jaild)
        run_true(jaild, session)
        assert jaild.makers() == [first]
        for _ in range(260):
            run_true(jaild, session)
        assert maker_of(jaild) != first
