"""A pen: a cgroup folder of our own in every tree. What is started in it is ours, with all that comes from it.

Cloche makes its groups below the group that it is started in, so everything of an instance started here, whatever its
parent, its user or its name, is in the pen's part of the tree, and nothing of anybody else's is. That answers "what is
left" on a machine on which others run Cloche too. The pen also counts what its dead groups still hold: memory of the
pen is the sum over all groups that were ever in it.
"""
import contextlib
import os
import time
from pathlib import Path

LEFT_WITHIN_S = 2.0
TREES = ("memory", "pids", "cpu")


def _trees():
    """Tree -> the folder of our own group in it; "unified" is v2."""
    own = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for name in controllers.split(",") if controllers else ["unified"]:
            own[name] = path
    found = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        root, point = left.split()[3:5]
        kind, _, options = right.split()
        names = ["unified"] if kind == "cgroup2" else options.split(",") if kind == "cgroup" else []
        for name in names:
            if name in own and name in (*TREES, "unified"):
                path = own[name][len(root):] if root != "/" and own[name].startswith(root) else own[name]
                found[name] = Path(point) / path.lstrip("/")
    return found


def load():
    """How much longer than on an idle machine things may take now: by the last minute, or by what runs at this moment."""
    words = Path("/proc/loadavg").read_text().split()
    return max(1.0, float(words[0]) / os.cpu_count(), int(words[3].partition("/")[0]) / os.cpu_count())


def host_mounts():
    """The host's mounts without their numbers, each as often as it is there."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return sorted(" ".join(line.split()[2:5]) + " " + line.partition(" - ")[2] for line in lines)


def start_time(pid):
    """Tells a process from a later one with its number; None when it is gone or a zombie."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else words[19]


class Pen:
    def __init__(self, name):
        self.own = _trees()
        self.folders = {}
        for tree, folder in self.own.items():
            if (folder / "cgroup.subtree_control").exists():
                for controller in TREES:
                    with contextlib.suppress(OSError):
                        (folder / "cgroup.subtree_control").write_text(f"+{controller}")
            self.folders[tree] = folder / name
            self.folders[tree].mkdir()
        self.mounts = host_mounts()

    def wrap(self, argv, before=""):
        """The command line that runs argv in the pen; before: more words for the shell that gets it there."""
        join = "".join(f'echo $$ > "{folder}/cgroup.procs" && ' for folder in self.folders.values())
        return ["/bin/bash", "-c", f'{join}{before} exec "$@"', "bash", *[str(word) for word in argv]]

    def close(self):
        """Removes the pen; what still lives in it is killed."""
        for tree, folder in self.folders.items():
            if str(os.getpid()) in _members(folder):  # on v2 the launcher moves its parent out of its way
                (self.own[tree] / "cgroup.procs").write_text(str(os.getpid()))
        for pid in self.processes():
            with contextlib.suppress(OSError):
                os.kill(pid, 9)
        deadline = time.monotonic() + 5
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.01)
        for folder in self.folders.values():
            for inner, _, _ in os.walk(folder, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(inner)

    def processes(self):
        """Numbers of all living processes that came from the pen."""
        tree = self.folders.get("unified") or self.folders["pids"]
        return {int(pid) for pid in _members(tree)} - {os.getpid()}

    def groups(self):
        """Paths of the groups of instances in all trees."""
        return sorted(str(path) for folder in self.folders.values() for path in folder.glob("cloche-*"))

    def left(self, groups=True):
        """What is there and should not be, as a list of descriptions."""
        left = [f"process {pid} {describe(pid)}" for pid in sorted(self.processes())]
        left += [f"group {path}" for path in self.groups()] if groups else []
        now = host_mounts()
        left += [f"mount {line}" for line in sorted(set(now)) if now.count(line) > self.mounts.count(line)]
        return left

    def empties(self, groups=True, within=LEFT_WITHIN_S):
        """What is left after 2 seconds: the list is empty as soon as there is nothing."""
        deadline = time.monotonic() + within * load()
        while (left := self.left(groups)) and time.monotonic() < deadline:
            time.sleep(0.01)
        return left

    def memory(self):
        """Bytes that the pen's groups hold, dead ones too: of files in memory, and of the kernel's own objects."""
        folder = self.folders["memory"] if "memory" in self.folders else self.folders["unified"]
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        kernel = folder / "memory.kmem.usage_in_bytes"
        return {
            "shmem": int(stat.get("total_shmem", stat.get("shmem", 0))),
            "anonymous": int(stat.get("total_rss", stat.get("anon", 0))),
            "kernel": int(kernel.read_text()) if kernel.exists() else int(stat.get("kernel", 0)),
        }

    def dying(self):
        """Groups of the pen that are removed but not yet freed by the kernel."""
        folder = self.folders.get("unified")
        if not folder:
            return 0
        stat = dict(line.split() for line in (folder / "cgroup.stat").read_text().splitlines())
        return int(stat["nr_dying_descendants"])


def _members(folder):
    found = []
    for inner, _, files in os.walk(folder):
        if "cgroup.procs" in files:
            with contextlib.suppress(OSError):
                found += Path(inner, "cgroup.procs").read_text().split()
    return found


def describe(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "gone"
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    uid = fields["Uid"].split()[0]
    return f"{fields['Name']!r} {words!r} state {fields['State']} parent {fields['PPid']} uid {uid}"
