"""The ordinary user of the rootless tests, with subordinate ids and delegated cgroups, made and removed by root."""
import os
import pwd
import subprocess
from pathlib import Path

from runner import Identity

USER = "cloche-test"
LEAF = f"rootless-test-{os.getpid()}"  # several people may test at once
V1_CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")
OWNED_FILES = ("", "cgroup.procs", "tasks", "cgroup.threads", "cgroup.subtree_control")


def _ids_taken():
    """Ends of all ranges in /etc/subuid and /etc/subgid."""
    ends = [299999]
    for name in ("/etc/subuid", "/etc/subgid"):
        for line in Path(name).read_text().splitlines() if os.path.exists(name) else []:
            _, start, count = line.split(":")
            ends.append(int(start) + int(count) - 1)
    return ends


def ensure_user():
    try:
        entry = pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(["/usr/sbin/useradd", "-m", "-s", "/bin/bash", USER], check=True, capture_output=True)
        entry = pwd.getpwnam(USER)
    for name, option in (("/etc/subuid", "--add-subuids"), ("/etc/subgid", "--add-subgids")):
        lines = Path(name).read_text().splitlines() if os.path.exists(name) else []
        if not any(line.startswith(USER + ":") for line in lines):
            first = max(_ids_taken()) + 1
            subprocess.run(["/usr/sbin/usermod", option, f"{first}-{first + 65535}", USER], check=True)
    return entry


def cgroup_mounts():
    """Mount points by controller; the unified tree is called "v2"."""
    found = {}
    for line in Path("/proc/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "cgroup2":
            found["v2"] = Path(where)
        elif kind == "cgroup":
            for option in options.split(","):
                if option in V1_CONTROLLERS:
                    found[option] = Path(where)
    return found


def delegate(uid, gid):
    """Gives the user one folder in each tree, as systemd's Delegate=yes would; returns the folders."""
    folders = []
    for mount in sorted(set(cgroup_mounts().values())):
        if mount.joinpath("cgroup.controllers").exists():
            for controller in ("+memory", "+pids", "+cpu"):
                try:
                    mount.joinpath("cgroup.subtree_control").write_text(controller)
                except OSError:
                    pass
        folder = mount / LEAF
        folder.mkdir(exist_ok=True)
        for name in OWNED_FILES:
            if (folder / name).exists():
                os.chown(folder / name, uid, gid)
        folders.append(folder)
    return folders


def withdraw(folders):
    """Removes what delegate() made, leaves first."""
    for top in folders:
        for folder, _, _ in os.walk(top, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass


class Rootless(Identity):
    """Wraps a command line so that it runs as the user, inside of the delegated folders (or outside of any)."""

    name = "rootless"

    def __init__(self, entry, folders):
        self.uid, self.gid, self.home = entry.pw_uid, entry.pw_gid, entry.pw_dir
        self.folders = folders

    def wrap(self, argv):
        join = "".join(f'echo $$ > "{folder}/cgroup.procs" && ' for folder in self.folders)
        drop = f"exec setpriv --reuid {self.uid} --regid {self.gid} --init-groups"
        return ["/bin/sh", "-c", f'{join}{drop} -- "$@"', "sh", *[str(part) for part in argv]]

    def own(self, path):
        os.chown(path, self.uid, self.gid)
