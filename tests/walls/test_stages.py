"""Each step on the way to a running script fails once: it is named, nothing ran, nothing is left, jaild lives on.

The build for fault injection makes stage N fail without doing it. A stage that no step asks for lets the script run,
and that fails here too.
"""
import errno
import json
import os
import subprocess
import time

import pytest
import tables
import wire
from driver import Driver

STAGES = tables.stages()
NUMBERS = {name: number for number, name, _ in STAGES}
# These are of a session's live interpreter, which `cloche run` does not have.
LIVE_STAGES = [stage for stage in STAGES if stage[1].startswith("LIVE_")]
STAGES = [stage for stage in STAGES if stage not in LIVE_STAGES]
# These need a profile with own_proc; all others are tried with the default one.
ROOMY = {"CELL_PROC", "INIT_PROC"}
MARKER = "the script has run"
SCRIPT = f"""
print({MARKER!r}, flush=True)
open("marker.txt", "w").write({MARKER!r})
"""
SESSION_STAGES = [stage for stage in STAGES if stage[1].startswith("SESSION_")]
CELL_STAGES = [stage for stage in STAGES if stage[1].startswith(("CELL_", "INIT_", "RUN_", "SCRIPT_"))
               and stage[1] not in ("INIT_BINARY", "RUN_HANDOVER")]
# Of prepared interpreters, which `cloche run` does without. But for the last they cost speed, not the run.
WARM_STAGES = [stage for stage in STAGES if stage[1].startswith(("ZYGOTE_", "WARM_"))]
STAGES = [stage for stage in STAGES if stage not in WARM_STAGES and stage[1] != "RUN_HANDOVER"]
WARM_STAGES = [stage for stage in WARM_STAGES if stage[1] != "ZYGOTE_LESSON"]
WARM_SCRIPT = f"import sys; print('asyncio' in sys.modules, {MARKER!r}, flush=True)"


def each(stages):
    return pytest.mark.parametrize("stage", stages, ids=[name for _, name, _ in stages])


def profile_of(name):
    return "roomy" if name in ROOMY else "strict"


def run_with(pen, program, tmp_path, *options, within=60):
    """cloche run with a script that leaves marks. Returns what subprocess.run returns."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    argv = [program, "run", "--json", "--out", tmp_path / "out", *options, script]
    return subprocess.run(pen.wrap(argv), cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL, timeout=within)


def test_the_table_has_the_stages_of_every_process():
    assert len(CELL_STAGES) > 30 and len(SESSION_STAGES) == 3 and len(LIVE_STAGES) == 2
    assert ROOMY < set(NUMBERS)


def test_without_a_failing_stage_the_script_runs(pen, faults, tmp_path):
    """Else the tests below could not fail."""
    done = run_with(pen, faults, tmp_path, "--profile", "roomy")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["stdout"]["text"] == MARKER + "\n"
    assert (tmp_path / "out/marker.txt").read_text() == MARKER


@each(STAGES)
def test_failing_stage_is_named_and_leaves_nothing(stage, pen, faults, tmp_path):
    number, name, text = stage
    done = run_with(pen, faults, tmp_path, "--fail-stage", str(number), "--profile", profile_of(name))
    left = pen.empties()
    assert MARKER.encode() not in done.stdout + done.stderr, "the script has run"
    assert not (tmp_path / "out/marker.txt").exists(), "the script has run"
    assert done.returncode == 125, f"{done.stdout}\n{done.stderr}"
    assert json.loads(done.stdout)["stage"] == text
    assert text in done.stderr.decode()
    assert not left, "\n".join(left)


@each([stage for stage in STAGES if stage not in SESSION_STAGES + CELL_STAGES])
def test_start_that_fails_is_told_by_the_first_message(stage, pen, faults):
    number, _, _ = stage
    with wire.Jaild(pen, faults.with_name("cloche-jaild"), number, is_ready=False) as jaild:
        with pytest.raises(wire.Refused) as refused:
            jaild.first()
        assert (refused.value.error, refused.value.stage) == (errno.EIO, number)
        with pytest.raises(wire.Gone):
            jaild.receive()


@each(SESSION_STAGES)
def test_session_that_fails_leaves_jaild_as_it_was(stage, pen, faults):
    number, _, _ = stage
    with wire.Jaild(pen, faults.with_name("cloche-jaild"), number) as jaild:
        before = view(jaild)
        for key in ("one", "one", "two"):  # the key is free again
            with pytest.raises(wire.Refused) as refused:
                jaild.open(key)
            assert (refused.value.error, refused.value.stage) == (errno.EIO, number)
        assert view(jaild) == before


@each(CELL_STAGES)
def test_cell_that_fails_leaves_session_and_jaild_usable(stage, pen, faults):
    number, name, _ = stage
    with wire.Jaild(pen, faults.with_name("cloche-jaild"), number) as jaild:
        session = jaild.open("one", profile_of(name))
        before = view(jaild)
        for _ in range(3):  # never EBUSY, never another stage
            run = jaild.run(session, SCRIPT)
            with pytest.raises(wire.Refused) as refused:
                run.started()
            assert (refused.value.error, refused.value.stage) == (errno.EIO, number)
            assert run.text() == "", "the script has run"
            run.close()
        assert view(jaild) == before
        assert jaild.list(session)[1] == {}, "the script has run"
        jaild.file_put(session, "kept.txt", b"kept")
        assert jaild.file_read(session, "kept.txt") == b"kept"
        jaild.close(session)
        assert jaild.status()["sessions"] == 0


@each(LIVE_STAGES + [stage for stage in CELL_STAGES if stage[1].startswith("SCRIPT_")])
def test_live_interpreter_that_fails_leaves_session_and_jaild_usable(stage, pen, faults):
    number, _, _ = stage
    with wire.Jaild(pen, faults.with_name("cloche-jaild"), number) as jaild:
        session = jaild.open("one")
        before = view(jaild)
        for _ in range(3):
            run = jaild.live(session, SCRIPT)
            with pytest.raises(wire.Refused) as refused:
                run.started()
            assert (refused.value.error, refused.value.stage) == (errno.EIO, number)
            assert run.text() == "", "the script has run"
            run.close()
        assert view(jaild) == before
        assert jaild.list(session)[1] == {}, "the script has run"
        if stage in LIVE_STAGES:
            assert jaild.result(session, "print(1)")[1] == "1\n"
        jaild.close(session)


def warm_jaild(pen, faults, number):
    return wire.Jaild(pen, faults.with_name("cloche-jaild"), number, options=["--zygotes", "100"])


def settled(jaild, within=20):
    """The small zygote's status once it is no longer loading."""
    deadline = time.monotonic() + within
    while (zygote := jaild.zygotes()["small"])["state"] == 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    return zygote


def test_without_a_failing_stage_a_run_is_warm(pen, faults):
    """Else the tests below could not fail."""
    with warm_jaild(pen, faults, 0) as jaild:
        assert settled(jaild)["state"] == 2
        assert jaild.result(jaild.open(), WARM_SCRIPT, warm="small")[1] == f"True {MARKER}\n"


@each(WARM_STAGES)
def test_prepared_interpreter_that_fails_costs_speed_alone(stage, pen, faults):
    number, name, _ = stage
    with warm_jaild(pen, faults, number) as jaild:
        zygote = settled(jaild)
        session = jaild.open()
        for _ in range(3):
            assert jaild.result(session, WARM_SCRIPT, warm="small")[1] == f"False {MARKER}\n"
        if name.startswith("ZYGOTE_"):
            assert (zygote["state"], zygote["stage"], zygote["error"]) == (3, number, errno.EIO)
        else:
            assert zygote["state"] == 2
        jaild.close(session)


def test_prepared_interpreter_that_has_learnt_nothing_serves_and_says_so(pen, faults):
    with warm_jaild(pen, faults, NUMBERS["ZYGOTE_LESSON"]) as jaild:
        zygote = settled(jaild)
        assert (zygote["state"], zygote["hot_pages"], zygote["lesson"], zygote["stage"]) == (2, 0, errno.ENOTDIR, 0)
        assert jaild.result(jaild.open(), WARM_SCRIPT, warm="small")[1] == f"True {MARKER}\n"
        os.set_blocking(jaild.launcher.stderr.fileno(), False)
        said = [line for line in jaild.launcher.stderr.read().decode().splitlines() if "learn which pages" in line]
        assert len([line for line in said if "kind=small" in line and f"error={errno.ENOTDIR}" in line]) == 1, said


def test_interpreter_that_is_lost_on_the_way_ends_the_run(pen, faults):
    """Else the script could run twice."""
    with warm_jaild(pen, faults, NUMBERS["RUN_HANDOVER"]) as jaild:
        assert settled(jaild)["state"] == 2
        run = jaild.run(jaild.open(), WARM_SCRIPT, warm="small")
        with pytest.raises(wire.Refused) as refused:
            run.started()
        assert (refused.value.error, refused.value.stage) == (errno.EIO, NUMBERS["RUN_HANDOVER"])
        assert run.text() == ""
        run.close()


@pytest.mark.parametrize("name", ["INIT_PLAN", "INIT_PROC"])
def test_init_that_fails_early_is_named_each_time(name, pen, faults):
    """Init may be gone before jaild has handed it everything: a broken pipe is not what went wrong."""
    with wire.Jaild(pen, faults.with_name("cloche-jaild"), NUMBERS[name]) as jaild:
        session = jaild.open("one", "roomy")
        for turn in range(400):
            run = jaild.run(session, SCRIPT)
            with pytest.raises(wire.Refused) as refused:
                run.started()
            assert (refused.value.error, refused.value.stage) == (errno.EIO, NUMBERS[name]), f"turn {turn}"
            run.close()


def view(jaild):
    """All that a failure must not change: descriptors, mounts, groups, processes, counts."""
    status = dict(jaild.status())  # first: the answer before has left before the last folder was removed
    groups = sorted(str(path) for group in jaild.pen.groups() for path, _, _ in os.walk(group))
    return status, jaild.descriptors(), jaild.mounts(), groups, sorted(jaild.pen.processes())


@pytest.mark.parametrize("argv", [
    ["cloche", "run", "--json", "--fail-stage", "30", "script.py"],
    ["cloche-jaild", "--socket-fd", "0", "--fail-stage", "30"],
], ids=["cloche", "cloche-jaild"])
def test_ordinary_build_does_not_know_the_option(argv, pen, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(pen.wrap([tables.BUILD / argv[0], *argv[1:]]), cwd=tmp_path, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=30)
    assert done.returncode == 2
    assert b"fail-stage" in done.stderr
    assert MARKER.encode() not in done.stdout


@each([stage for stage in CELL_STAGES if stage[1] in ("RUN_PACKAGE", "SCRIPT_EXEC")])
def test_what_a_run_that_failed_has_changed_is_stored(stage, faults, tmp_path):
    """It may have begun all the same: what is seen in the home must not be gone after a stop."""
    number, _, text = stage
    jaild = tmp_path / "jaild"
    jaild.write_text(f'#!/bin/sh\nexec {faults.with_name("cloche-jaild")} --fail-stage {number} "$@"\n')
    jaild.chmod(0o700)
    (tmp_path / "store").mkdir()
    with open(tmp_path / "log", "w", encoding="utf-8") as log:
        house = Driver(tables.BUILD / "tests/call/call-test-driver", jaild, log, store=tmp_path / "store")
        try:
            assert "fault" not in house.do("start")
            said = house.do("run", key="a", policy="kept", code="1", files=[{"path": "f", "text": "brought"}])
            assert (said["fault"], said["stage"]) == ("sandbox_unavailable", text)
            assert house.do("get", key="a", path="f")["text"] == "brought"
            assert "fault" not in house.do("stop", key="a")
            assert house.do("get", key="a", path="f").get("text") == "brought"
        finally:
            assert house.end() == 0
