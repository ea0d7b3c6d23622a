"""What a run may leave on the host: processes, cgroups, mounts. Anything new that stays is a leftover.

Other people may run Cloche on this machine while the tests run: a process whose living ancestor is somebody else's
program is theirs, and what lasts shorter than GRACE_S is on its way out.
"""
import os
import time
from pathlib import Path

from account import LEAF, USER, cgroup_mounts

RESERVED_FROM = 100000
GRACE_S = 3.0
SHELLS = ("bash", "sh", "python3", "make", "pytest", "ninja", "meson")
PROGRAMS = ("cloche", "cloche-jaild", "cloche-init", "cloche-zygote")


def _read(path):
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def status_of(pid):
    """/proc/PID/status as a dictionary; empty when the process is gone."""
    return {key: value.strip() for key, _, value in
            (line.partition(":") for line in _read(f"/proc/{pid}/status").splitlines())}


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _watched_uids():
    import pwd
    try:
        return {pwd.getpwnam(USER).pw_uid}
    except KeyError:
        return set()


def processes():
    """Processes that belong to a sandbox: pid -> description."""
    found = {}
    own_uids = _watched_uids()
    for pid in pids():
        status = status_of(pid)
        uid = int(status.get("Uid", "0").split()[0])
        if uid >= RESERVED_FROM or uid in own_uids or status.get("Name") in PROGRAMS:
            found[pid] = f"{pid} {status.get('Name')} uid {uid} {status.get('State')} parent {status.get('PPid')}"
    return found


def _belongs_to_others(pid):
    """True if pid hangs below somebody's living shell or test, which is not this one; orphans are nobody's."""
    shells = 0
    while pid > 1:
        if pid == os.getpid():
            return False
        status = status_of(pid)
        uid = int(status.get("Uid", "0").split()[0])
        if status.get("Name") in SHELLS and uid < RESERVED_FROM and uid not in _watched_uids():
            shells += 1
        pid = int(status.get("PPid", 0))
    return shells > 0


def _own_cgroups():
    """Where this person's runs make their cgroups, by mount: below the test's own cgroup or the delegated folder."""
    found, mounts = {}, cgroup_mounts()
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(",") if controllers else ["v2"]:
            if controller in mounts:
                found[mounts[controller]] = {mounts[controller] / path.lstrip("/"), mounts[controller] / LEAF}
    return found


def cgroups():
    """All cgroups of ours, as paths. Where other people share our place in a tree, the memory tree tells whose it is."""
    found, foreign = set(), set()
    for mount, places in sorted(_own_cgroups().items(), key=lambda item: item[0].name != "memory"):
        for folder, names, _ in os.walk(mount):
            made = [name for name in names if name.startswith("cloche") or "/cloche" in folder]
            if Path(folder) in places or "/cloche" in folder and any(Path(folder).is_relative_to(p) for p in places):
                found.update(os.path.join(folder, name) for name in made)
            elif mount.name == "memory":
                foreign.update(name for name in made if name.startswith("cloche"))
    return {path for path in found if not any(part in foreign for part in path.split("/"))}


def _cgroup_is_in_use_by_others(folder):
    members = []
    for inner, _, files in os.walk(folder):
        if "cgroup.procs" in files:
            members += _read(os.path.join(inner, "cgroup.procs")).split()
    return bool(members) and all(_belongs_to_others(int(pid)) for pid in members)


def mounts():
    """Mounts of the host; not those below /sys, which the kernel makes when somebody looks there, nor in the folders
    where people build images of their own, unless they are named after Cloche."""
    found = {" ".join(line.split()[3:5]) for line in _read("/proc/self/mountinfo").splitlines()}
    return {text for text in found if not text.split()[1].startswith(("/sys/", "/tmp/", "/var/", "/work/")) or "cloche" in text}


def snapshot():
    return set(processes()), cgroups(), mounts()


def new_since(before):
    """What is there now, was not there before, and is not somebody else's living run: a list of descriptions."""
    old_processes, old_cgroups, old_mounts = before
    left = [f"process {text}" for pid, text in processes().items()
            if pid not in old_processes and not _belongs_to_others(pid)]
    left += [f"cgroup {folder}" for folder in sorted(cgroups() - old_cgroups)
             if not _cgroup_is_in_use_by_others(folder)]
    left += [f"mount {text}" for text in sorted(mounts() - old_mounts)]
    return left


def leftovers(before):
    """Like new_since, but waits until GRACE_S have passed before it calls something a leftover."""
    deadline = time.monotonic() + GRACE_S
    seen = new_since(before)
    while seen and time.monotonic() < deadline:
        time.sleep(0.05)
        now = new_since(before)
        seen = [text for text in seen if text in now] if now else []
    return seen
