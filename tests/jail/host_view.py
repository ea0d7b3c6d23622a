"""A running script as the host sees it: its process, those above it, their cgroups, descriptors and limits."""
import itertools
import os
import time
from pathlib import Path

from account import cgroup_mounts
from traces import pids, status_of

_numbers = itertools.count(1)
# The script names itself, so that the host can find it among all processes, and waits.
WAIT = """
import ctypes, time
ctypes.CDLL(None).prctl(15, b"{name}", 0, 0, 0)
print("READY", flush=True)
time.sleep({seconds})
"""


def waiting_script(seconds=20):
    """A script that waits, and the name by which process_named finds it."""
    name = f"clx{os.getpid() % 100000}-{next(_numbers)}"
    return WAIT.format(name=name, seconds=seconds), name


def process_named(name, within=60):
    """The host's pid of the process that gave itself this name."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        for pid in pids():
            if status_of(pid).get("Name") == name:
                return pid
        time.sleep(0.02)
    raise AssertionError(f"the host sees no process {name}")


def ancestors(pid, top):
    """pid's parents, nearest first, below the process top."""
    found = []
    while pid not in (0, 1, top):
        pid = int(status_of(pid).get("PPid", 0))
        if pid not in (0, 1, top):
            found.append(pid)
    return found


def cgroups_of(pid):
    """The folders of a process's cgroups by controller ("v2" for the unified tree)."""
    mounts, found = cgroup_mounts(), {}
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(",") if controllers else ["v2"]:
            if controller in mounts:
                found[controller] = mounts[controller] / path.lstrip("/")
    return found


def limit(pid, controller, v1_file, v2_file):
    """A limit that holds for a process: the smallest on the way up to the root; None where nothing limits."""
    folders = cgroups_of(pid)
    v1 = controller in folders
    folder, name = (folders[controller], v1_file) if v1 else (folders["v2"], v2_file)
    values = []
    while (folder / "cgroup.procs").exists():
        if (folder / name).exists():
            values.append((folder / name).read_text().split())
        folder = folder.parent
    numbers = [int(words[0]) for words in values if words[0] not in ("max", "-1")]
    return min(numbers) if numbers else None


def processor_ratio(pid):
    """The processors' share that the cgroup allows: 1.0 is one whole processor."""
    folders = cgroups_of(pid)
    if "cpu" in folders:
        folder = folders["cpu"]
        return int((folder / "cpu.cfs_quota_us").read_text()) / int((folder / "cpu.cfs_period_us").read_text())
    quota, period = (folders["v2"] / "cpu.max").read_text().split()
    return int(quota) / int(period)


def descriptors(pid):
    """Descriptor number -> what it is."""
    folder = f"/proc/{pid}/fd"
    return {int(name): os.readlink(f"{folder}/{name}") for name in os.listdir(folder)}


def namespaces(pid):
    return {kind: os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("user", "pid", "mnt", "net", "ipc", "uts", "cgroup")}


def limits(pid):
    """/proc/PID/limits: name -> (soft, hard) as text."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:26].strip(): tuple(line[26:].split()[:2]) for line in lines}
