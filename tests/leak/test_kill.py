"""SIGKILL of each of our processes at a random moment: within two seconds nothing of the run is left.

A launcher that is killed cannot remove its cgroups; then they are empty, and gone with the next start. Moments and
kinds come from a seed that is printed: CLOCHE_SEED=N repeats them. 60 kills, 500 with CLOCHE_LONG=1.
"""
import fcntl
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
import tables
import wire

LONG = os.environ.get("CLOCHE_LONG") == "1"
SEED = int(os.environ.get("CLOCHE_SEED", random.randrange(2**32)))
PROGRAM = tables.BUILD / "cloche"
VICTIMS = ["cloche", "launcher", "jaild", "init", "script"]
KILLS = (500 if LONG else 60) // len(VICTIMS)
# From the start of `cloche` on; jaild is up after some 30 ms, the script after some 60, on an idle machine.
DELAY_S = 0.4
ENDS_WITHIN_S = 20

KINDS = {
    "quiet": ("strict", "import time\ntime.sleep(20)"),
    "busy": ("strict", "while True: pass"),
    "loud": ("strict", "while True: print('x' * 1000)"),
    "forking": ("strict", """
import os, signal, time
for _ in range(12):
    if os.fork() == 0:
        os.setsid()
        for number in (1, 2, 3, 15): signal.signal(number, signal.SIG_IGN)
        while True: time.sleep(0.001)
while True: time.sleep(0.001)
"""),
    "bomb": ("roomy", """
import os
while True:
    try: os.fork()
    except OSError: pass
"""),
    "memory": ("strict", """
block, n = bytes(1_000_000), 0
while True:
    for folder, names in (("/tmp", 40), ("/mnt/data", 40), ("/dev/shm", 20)):
        with open(f"{folder}/{n % names}", "wb") as file: file.write(block)
    n += 1
"""),
    "own proc": ("roomy", "import os\nwhile True: os.listdir('/proc')"),
    "short": ("strict", "print(1)"),
    "many short": ("strict", "import subprocess\nwhile True: subprocess.run(['/bin/true'])"),
}


def start(pen, folder, kind, with_files):
    profile, code = KINDS[kind]
    script = folder / "script.py"
    script.write_text(code)
    (folder / "large").write_bytes(bytes(20_000_000))
    files = ["--file", folder / "large"] if with_files else []
    argv = [PROGRAM, "run", "--json", "--profile", profile, "--timeout", "15", *files, "--out", folder / "out", script]
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        cloche = subprocess.Popen(pen.wrap(argv), cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                  start_new_session=True)
    cloche.folder = folder
    return cloche


def find(cloche, victim):
    """The victim's number as soon as there is one: each is the child of the one before. None when it comes no more."""
    while cloche.poll() is None:
        pid = cloche.pid if wire.cmdline(cloche.pid).endswith(b"cloche") else None  # not yet, or no more, the shell
        for name in VICTIMS[1:VICTIMS.index(victim) + 1]:
            pid = next((child for child in wire.children(pid) if is_named(child, name)), None) if pid else None
        if pid:
            return pid
        time.sleep(0.001)
    return None


def is_named(pid, name):
    word = wire.cmdline(pid)
    return {
        "launcher": word == b"cloche-jaild",
        "jaild": word == b"cloche-jaild",
        "init": word == b"cloche-init",
        "script": b"python" in word,
    }[name]


def end_of(cloche):
    """Waits for the program's own end."""
    try:
        cloche.wait(ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        cloche.kill()
        cloche.wait()
        pytest.fail(f"cloche has not ended {ENDS_WITHIN_S} s after the kill")
    return cloche.returncode, (cloche.folder / "stdout").read_bytes(), (cloche.folder / "stderr").read_bytes()


def check_end(victim, status, out, err):
    """What the person is told: never that all went well, unless the run had ended before the kill."""
    said = f"status {status}: {out[-500:]!r} {err[-500:]!r}"
    if victim == "cloche":
        assert status == -signal.SIGKILL, said
        return
    assert status in (0, 124, 125, 137, 128 + signal.SIGKILL), said
    assert b"Traceback" not in err and b"assert" not in err.lower(), said
    answer = json.loads(out)
    if status == 0:
        assert answer["outcome"] == "ok" and answer["stdout"]["text"] in ("1\n", ""), said
    if victim in ("launcher", "jaild"):
        assert status in (0, 125), said


def memory_is_free(pen, within):
    """Waits until no group that ever was in the pen holds files in memory."""
    deadline = time.monotonic() + within
    while pen.memory()["shmem"] and time.monotonic() < deadline:
        time.sleep(0.02)
    return pen.memory()["shmem"]


@pytest.mark.parametrize("victim", VICTIMS)
def test_kill(victim, pen, tmp_path):
    chance = random.Random(f"{SEED} {victim}")
    print(f"CLOCHE_SEED={SEED}")
    killed = 0
    for turn in range(KILLS):
        kind = chance.choice(list(KINDS))
        delay, with_files = chance.uniform(0, DELAY_S), chance.random() < 0.3
        moment = f"kill {turn}: {kind}{' with files' if with_files else ''} after {delay * 1000:.0f} ms"
        print(moment)
        earlier = pen.groups()
        cloche = start(pen, tmp_path, kind, with_files)
        time.sleep(delay)
        pid = find(cloche, victim)
        if pid:
            try:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pid = None
        if victim == "cloche":
            cloche.wait()
        else:
            check_end(victim if pid else None, *end_of(cloche))
        left = pen.empties(groups=victim != "launcher")
        held = memory_is_free(pen, 2)
        assert not left, moment + ", left:\n" + "\n".join(left)
        assert not held, f"{moment}: {held} bytes of files are held"
        kept = set(earlier) & set(pen.groups())
        has_swept = set(pen.groups()) - set(earlier)  # it sweeps before it makes a group of its own
        assert not (kept and has_swept), f"{moment}: groups outlived the next start: {kept}"
    assert killed > KILLS / 2, "most victims were gone before they were killed"
    sweep(pen, tmp_path)


def sweep(pen, folder):
    """The next start: it removes what killed launchers have left, and runs as ever."""
    cloche = start(pen, folder, "short", False)
    status, out, err = end_of(cloche)
    assert status == 0 and json.loads(out)["stdout"]["text"] == "1\n", f"{out} {err}"
    assert not pen.empties()


def test_kill_of_the_launcher_and_jaild_at_once(pen, tmp_path):
    """Nobody is left to tidy up but the kernel, and the next start."""
    for kind in ("quiet", "forking", "memory"):
        cloche = start(pen, tmp_path, kind, False)
        assert find(cloche, "script")
        launcher = find(cloche, "launcher")
        for pid in (launcher, *wire.children(launcher)):
            os.kill(pid, signal.SIGKILL)
        assert end_of(cloche)[0] == 125
        assert not pen.empties(groups=False)
        assert pen.groups(), "the killed launcher cannot have removed its groups"
    sweep(pen, tmp_path)


def test_kill_of_everything_but_init(pen, tmp_path):
    """Parent-death signals and the hang-up of its socket each end a cell."""
    for _ in range(5):
        cloche = start(pen, tmp_path, "forking", False)
        assert find(cloche, "script")
        launcher = find(cloche, "launcher")
        jaild = find(cloche, "jaild")
        for pid in (cloche.pid, launcher, jaild):
            os.kill(pid, signal.SIGKILL)
        cloche.wait()
        assert not pen.empties(groups=False)
    sweep(pen, tmp_path)


def test_instances_that_live_are_not_swept(pen, tmp_path):
    """Starts beside a living instance, and beside the groups of a dead one, leave the living one alone."""
    with wire.Jaild(pen) as alive:
        run = alive.run(alive.open(), "print('up', flush=True)\nimport time\ntime.sleep(60)")
        assert run.line() == "up"
        dead = start(pen, tmp_path, "quiet", False)
        assert find(dead, "script")
        os.kill(find(dead, "launcher"), signal.SIGKILL)
        end_of(dead)
        names = {Path(group).name for group in pen.groups()}
        assert len(names) == 2
        status, _, err = end_of(start(pen, tmp_path, "short", False))
        assert status == 0, err
        assert len({Path(group).name for group in pen.groups()}) == 1
        assert alive.status()["cells"] == 1


def test_a_group_that_is_left_in_one_tree_alone_is_swept(pen, tmp_path):
    """The memory tree's group is the last to go; but it may have gone alone, or lie in another place."""
    trees = sorted({tree for tree in pen.folders if tree != "memory"})
    for number, tree in enumerate(trees):
        (pen.folders[tree] / f"cloche-0000000{number}" / "s1.c2").mkdir(parents=True)
    left = (pen.folders[trees[0]] / "cloche-00000000")
    held = (pen.folders[trees[0]] / "cloche-0000000a")
    held.mkdir()
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    assert end_of(start(pen, tmp_path, "short", False))[0] == 0
    assert not left.exists() and pen.groups() == [str(held)], "of all, only the one that is locked may be there"
    os.close(lock)
    sweep(pen, tmp_path)


def test_a_group_in_which_somebody_lives_is_no_rest(pen, tmp_path):
    """A launcher in another group of the memory tree shares the other trees with us."""
    if "memory" not in pen.folders:
        return  # one tree: nothing to share
    with subprocess.Popen(["sleep", "60"]) as alive:
        for tree, folder in pen.folders.items():
            if tree != "memory":
                (folder / "cloche-0000000b" / "daemon").mkdir(parents=True)
        (pen.folders["unified"] / "cloche-0000000b/daemon/cgroup.procs").write_text(str(alive.pid))
        assert end_of(start(pen, tmp_path, "short", False))[0] == 0
        assert len(pen.groups()) == len(pen.folders) - 1 and alive.poll() is None
        alive.kill()
    sweep(pen, tmp_path)


def test_starts_at_the_same_moment_do_not_sweep_each_other(pen):
    """A start makes its group, then locks it; another one that sweeps in between must not take it for a dead one's, and
    one that found it unlocked must not remove it later.
    """
    failures = []
    for turn in range(30 if LONG else 6):
        jailds = [wire.Jaild(pen, is_ready=False) for _ in range(12)]
        for number, jaild in enumerate(jailds):
            try:
                jaild.first()
                assert jaild.result(jaild.open(), "print(1)")[1] == "1\n"
            except (wire.Refused, wire.Gone, OSError) as failure:
                failures.append(f"turn {turn}, instance {number}: {failure!r}")
        for jaild in jailds:
            jaild.stop()
    assert not failures, "\n".join(failures)
