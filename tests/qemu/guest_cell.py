"""Starts `cloche run` in the guest and looks at what the kernel then holds: processes and cgroups."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

from guest_table import Skip

PROGRAMS = "/opt/cloche"
ROOT = "/sys/fs/cgroup"
SCOPE = f"{ROOT}/run.scope"
ADA = 1000

# Everything of the guest itself has a smaller uid, everything inside of jaild's user namespace a larger one: subordinate
# ids of the user in /etc/subuid begin at 165536, the range configured for root at 524288 or above.
INNER_UID_MIN = 65536

# TCG on a busy machine. No test measures by these: they only end what hangs.
RUN_S = 90
GONE_S = 10


@dataclass
class Ended:
    status: int
    answer: dict
    said: str

    @property
    def reason(self):
        return self.answer["end"]["reason"]

    @property
    def stdout(self):
        return self.answer["stdout"]["text"]

    def __str__(self):
        return f"status {self.status}, answer {json.dumps(self.answer)[:1200]}, stderr {self.said[-600:]!r}"


def processes():
    """(pid, largest uid, program) of each process that has a program; kernel threads and zombies have none.

    The program is the link and not comm: a program started by execveat() from a descriptor has the number as comm.
    """
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            program = os.path.basename(os.readlink(f"/proc/{entry}/exe")).removesuffix(" (deleted)")
            with open(f"/proc/{entry}/status") as status:
                uids = next(line for line in status if line.startswith("Uid:")).split()[1:]
        except OSError:
            continue
        yield int(entry), max(int(uid) for uid in uids), program


def ours():
    """Every process that a run brings into the world, by pid."""
    return {pid: program for pid, uid, program in processes() if uid >= INNER_UID_MIN or "cloche" in program}


def cgroups():
    return [os.path.join(folder, name) for folder, names, _ in os.walk(ROOT) for name in names if "cloche" in name]


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read().strip()


def wait_until(condition, seconds):
    """Returns the first true value of condition(), or its last false one."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def check_no_process():
    gone = wait_until(lambda: not ours(), GONE_S)
    assert gone, f"left running: {ours()}"


def check_clean():
    """After a run nothing of it is left."""
    check_no_process()
    assert not cgroups(), f"left in the cgroup tree: {cgroups()}"


def command(*arguments):
    if not os.path.exists(f"{PROGRAMS}/cloche"):
        raise Skip("build/cloche, cloche-jaild or cloche-init is not built")
    return [f"{PROGRAMS}/cloche", *arguments]


def scope_make(uid):
    """The cgroup in which cloche is started, as `systemd-run --scope -p Delegate=yes` makes it for each command: nothing
    else lives in it. It cannot serve twice: once its controllers are given on, the kernel lets no process in again."""
    os.mkdir(SCOPE)
    for name in ("", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
        os.chown(os.path.join(SCOPE, name), uid, uid)


def scope_remove():
    """Depth first, as systemd trims a scope. Fails where a process still lives."""
    for folder, _, _ in os.walk(SCOPE, topdown=False):
        os.rmdir(folder)


def entry(uid, place):
    """What a child does before it executes cloche: into the cgroup, then no longer root."""
    def enter():
        with open(f"{place}/cgroup.procs", "w") as procs:
            procs.write("0")
        if uid:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
    return enter


def start(script, *options, language="python", uid=0, place=SCOPE, enter=None):
    """Starts a run of the text in a new working directory, by default in a scope of its own. `enter` is done instead of
    going there."""
    folder = tempfile.mkdtemp(prefix="run")
    os.chmod(folder, 0o777)
    path = os.path.join(folder, "script")
    with open(path, "w") as file:
        file.write(script)
    arguments = command("run", "--json", "--language", language, *options, path)
    if place == SCOPE:
        scope_make(uid)
    home = "/home/ada" if uid else "/root"
    return subprocess.Popen(arguments, cwd=folder, env=dict(os.environ, HOME=home), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=enter or entry(uid, place))


def close():
    """After a run nothing of it is left; its scope can go."""
    try:
        check_clean()
    finally:
        if os.path.exists(SCOPE):
            scope_remove()


def collect(started):
    """The end of a run: what it answered."""
    try:
        out, said = started.communicate(timeout=RUN_S)
    except subprocess.TimeoutExpired:
        started.kill()
        out, said = started.communicate()
        raise AssertionError(f"no end after {RUN_S} s: {out[-400:]!r} {said[-400:]!r}, running: {ours()}") from None
    try:
        answer = json.loads(out)
    except ValueError:
        raise AssertionError(f"no JSON: status {started.returncode}, {out[-400:]!r}, stderr {said[-600:]!r}") from None
    return Ended(started.returncode, answer, said)


def finish(started):
    try:
        return collect(started)
    finally:
        close()


def sweep():
    """After a failed test: by hand what should have happened by itself."""
    for pid in ours():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not ours(), GONE_S)
    for top in (SCOPE, *cgroups()):
        for folder, _, _ in os.walk(top, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


def run(script, *options, **how):
    return finish(start(script, *options, **how))


def wait_for_sleep(started):
    """The pid of a script's `sleep`, once the run in progress has come so far."""
    def look():
        found = [pid for pid, uid, program in processes() if program == "sleep" and uid >= INNER_UID_MIN]
        return found or started.poll() is not None
    found = wait_until(look, RUN_S)
    if found is True or not found:
        raise AssertionError(f"the script did not come to its sleep: {finish(started)}")
    return found[0]


def cancel(started):
    """Ctrl-C."""
    started.send_signal(signal.SIGINT)
    return finish(started)


def leaf_of(pid):
    """The folder of a process's cgroup, as the root of the tree names it."""
    place = read(f"/proc/{pid}/cgroup")
    assert place.startswith("0::/"), place
    return ROOT + place.removeprefix("0::")
