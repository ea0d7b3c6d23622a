"""How the other sandboxes are called: as near to a cell of profile `strict` as each of them can.

All get a read-only /usr, the usual devices, tmpfs for /dev/shm, /tmp and a home, and every namespace;
crun and nsjail also the limits of memory, processes and CPU. None gets a system-call filter or Landlock, so each of them
does less than a cell. Neither starts a session of its own, which would take it out of the scheduling
group that bench/run favours.
"""

import json
import os
import pathlib
import shutil

LINKS = {"lib": "usr/lib", "lib64": "usr/lib64", "bin": "usr/bin", "sbin": "usr/sbin"}
MEMORY_BYTES = 256 << 20
PROCESSES = 17
FIRST_ID = 1000000
IDS = 65536
# What libraries of /usr look for; a cell has its own.
ETC = [path for path in ("/etc/alternatives", "/etc/ld.so.cache", "/etc/matplotlibrc") if os.path.exists(path)]
ENVIRONMENT = {}  # that scripts have beyond PATH and LANG
UNIFIED = "/sys/fs/cgroup/unified"


def with_null_of_its_own(command):
    """crun gives its standard streams to the container's user: not the host's /dev/null. Where we see them, /run and
    /dev/null are others than the host's (util-linux makes the mounts of a new namespace private)."""
    make = 'mount -t tmpfs null /run && mknod -m 666 /run/null c 1 3 && mount --bind /run/null /dev/null && umount -l /run'
    return ["unshare", "--mount", "sh", "-c", f'{make} && exec "$@"', "sh", *command]


def without_unified_tree(command):
    """crun refuses a host whose cgroup v2 tree beside v1 has controllers: run where it is not."""
    if not os.path.ismount(UNIFIED):
        return command
    return ["unshare", "--mount", "sh", "-c", f'umount {UNIFIED} && exec "$@"', "sh", *command]


class Bubblewrap:
    name = "bubblewrap"
    wants_no_unified_tree = False

    def command(self, program, script=None):
        words = [shutil.which("bwrap"), "--ro-bind", "/usr", "/usr"]
        for kind in ("user", "pid", "ipc", "uts", "net", "cgroup"):
            words.append(f"--unshare-{kind}")
        for link, target in LINKS.items():
            words += ["--symlink", target, f"/{link}"]
        for path in ETC:
            words += ["--ro-bind", path, path]
        words += ["--dev", "/dev", "--tmpfs", "/dev/shm", "--tmpfs", "/tmp"]
        words += ["--tmpfs", "/mnt/data", "--chdir", "/mnt/data"]
        if script:
            words += ["--ro-bind", script, "/main.py"]
        return (*words, *program)


class Crun:
    name = "crun"
    wants_no_unified_tree = True

    def __init__(self, place):
        self.place = place

    def command(self, program, script=None):
        name = pathlib.Path(script or program[0]).stem
        bundle = self.place / f"crun-{pathlib.Path(program[0]).name}-{name}"
        if not bundle.exists():
            self.bundle_make(bundle, program, script)
        return (shutil.which("crun"), "--cgroup-manager=cgroupfs", "run", "--bundle", bundle, "{}")

    def bundle_make(self, bundle, program, script):
        rootfs = bundle / "rootfs"
        for folder in ("usr", "tmp", "dev/shm", "proc", "mnt/data"):
            (rootfs / folder).mkdir(parents=True)
        for link, target in LINKS.items():
            (rootfs / link).symlink_to(target)
        for path in ETC:
            here = rootfs / path[1:]
            here.parent.mkdir(parents=True, exist_ok=True)
            here.mkdir() if os.path.isdir(path) else here.touch()
        if script:
            shutil.copyfile(script, rootfs / "main.py")
        (bundle / "config.json").write_text(json.dumps(self.config(program)))

    @staticmethod
    def tmpfs(place, size):
        options = ["nosuid", "nodev", "mode=1777", f"size={size}"]
        return {"destination": place, "type": "tmpfs", "source": "tmpfs", "options": options}

    def config(self, program):
        ids = [{"containerID": 0, "hostID": FIRST_ID, "size": IDS}]
        kinds = ("user", "pid", "network", "ipc", "uts", "mount", "cgroup")
        shared = [{"destination": path, "type": "bind", "source": path,
                   "options": ["bind", "ro", "nosuid", "nodev"]} for path in ("/usr", *ETC)]
        return {
            "ociVersion": "1.0.0",
            "process": {
                "user": {"uid": 65534, "gid": 65534},
                "args": list(program),
                "env": ["PATH=/usr/bin:/bin", "LANG=C.UTF-8", *(f"{name}={value}" for name, value in ENVIRONMENT.items())],
                "cwd": "/mnt/data",
                "capabilities": {},
                "noNewPrivileges": True,
                "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 1024, "soft": 1024}],
            },
            "root": {"path": "rootfs", "readonly": True},
            "hostname": "cloche",
            "mounts": [*shared, self.tmpfs("/dev", "64k"), self.tmpfs("/dev/shm", "64m"),
                       self.tmpfs("/tmp", "100m"), self.tmpfs("/mnt/data", "100m")],
            "linux": {
                "uidMappings": ids,
                "gidMappings": ids,
                "resources": {
                    "memory": {"limit": MEMORY_BYTES},
                    "pids": {"limit": PROCESSES},
                    # shares as bench/run gives to cells, see favour_cells
                    "cpu": {"quota": 100000, "period": 100000, "shares": 40000},
                },
                "namespaces": [{"type": kind} for kind in kinds],
            },
        }


class Nsjail:
    name = "nsjail"
    wants_no_unified_tree = False

    def __init__(self, path):
        self.path = path

    def command(self, program, script=None):
        words = [self.path, "-Mo", "--really_quiet", "--hostname", "cloche", "--disable_proc",
                 "--skip_setsid", "--nice_level", "-20",
                 "--user", f"65534:{FIRST_ID}:1", "--group", f"65534:{FIRST_ID}:1",
                 "--cwd", "/mnt/data", "-R", "/usr"]
        for link, target in LINKS.items():
            words += ["-s", f"{target}:/{link}"]
        for device in ("null", "zero", "full", "random", "urandom"):
            words += ["-B", f"/dev/{device}"]
        for path in ETC:
            words += ["-R", path]
        words += ["-T", "/dev/shm", "-T", "/tmp", "-T", "/mnt/data"]
        words += ["--cgroup_mem_max", str(MEMORY_BYTES), "--cgroup_pids_max", str(PROCESSES),
                  "--cgroup_cpu_ms_per_sec", "1000", *self.cgroup_parents()]
        if script:
            words += ["-R", f"{script}:/main.py"]
        return (*words, "--", *program)

    @staticmethod
    def cgroup_parents():
        """nsjail makes its groups in a folder that has to be there: the trees' own roots here."""
        if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            return ["--use_cgroupv2", "--cgroupv2_mount", "/sys/fs/cgroup"]
        return ["--cgroup_mem_parent", "", "--cgroup_pids_parent", "", "--cgroup_cpu_parent", "",
                "--cgroup_cpu_mount", "/sys/fs/cgroup/cpu"]


def all_of(place, more):
    """Bubblewrap, crun, and what --peer named."""
    result = [Bubblewrap(), Crun(place)]
    if "nsjail" in more:
        result.append(Nsjail(more["nsjail"]))
    return result
