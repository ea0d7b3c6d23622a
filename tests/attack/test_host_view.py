"""A run as the host sees it: ids, rights, namespaces, descriptors, environment, limits of every process in it."""
import errno
import os
import subprocess
import sys
from pathlib import Path

import host_view
import pytest
from runner import ENV_SECRET, first_line, stop
from traces import RESERVED_FROM, status_of

NO_CAPABILITIES = "0" * 16


class Seen:
    """One waiting run: the program's pid, the script's and those between."""

    def __init__(self, cloche, **options):
        script, name = host_view.waiting_script()
        self.child = cloche.start(script, json_answer=False, out=False, **options)
        try:
            assert first_line(self.child) == "READY"
            self.script = host_view.process_named(name)
            self.between = host_view.ancestors(self.script, self.child.pid)
        except BaseException:
            stop(self.child)
            raise

    @property
    def init(self):
        """Pid 1 of the script's pid namespace."""
        inner = host_view.namespaces(self.script)["pid"]
        for pid in host_view.pids():
            try:
                numbers = status_of(pid).get("NSpid", "").split()
                if numbers and numbers[-1] == "1" and host_view.namespaces(pid)["pid"] == inner:
                    return pid
            except OSError:
                continue
        raise AssertionError("the host finds no init of the cell")

    def uids(self):
        return {int(uid) for uid in status_of(self.script)["Uid"].split()}


@pytest.fixture
def seen(cloche):
    run = Seen(cloche)
    yield run
    stop(run.child)


@pytest.mark.both
def test_ids_on_the_host_are_reserved_ones(seen):
    status = status_of(seen.script)
    assert all(uid >= RESERVED_FROM for uid in seen.uids()), status["Uid"]
    assert all(int(gid) >= RESERVED_FROM for gid in status["Gid"].split()), status["Gid"]
    assert status["Groups"] == "", "the script has supplementary groups"


@pytest.mark.both
def test_two_runs_have_different_ids(cloche, seen):
    other = Seen(cloche)
    try:
        assert not seen.uids() & other.uids()
        inner, outer = host_view.namespaces(seen.script), host_view.namespaces(other.script)
        assert all(inner[kind] != outer[kind] for kind in inner), "the two runs share a namespace"
    finally:
        stop(other.child)


@pytest.mark.both
def test_ten_runs_at_once_have_ten_ids(cloche):
    runs = []
    try:
        for _ in range(10):
            runs.append(Seen(cloche))
        used = [uid for run in runs for uid in run.uids()]
        assert len(set(used)) == len(runs), sorted(used)
    finally:
        for run in runs:
            stop(run.child)


@pytest.mark.both
def test_the_script_has_no_rights(seen):
    status = status_of(seen.script)
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert status[name] == NO_CAPABILITIES, f"{name} {status[name]}"
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    assert status["SigBlk"] == NO_CAPABILITIES and status["SigPnd"] == NO_CAPABILITIES
    assert status["TracerPid"] == "0"


@pytest.mark.both
def test_every_namespace_is_an_own_one(seen):
    inner, host = host_view.namespaces(seen.script), host_view.namespaces("self")
    assert [kind for kind in inner if inner[kind] == host[kind]] == []


@pytest.mark.both
def test_descriptors_of_the_script_are_three_pipes(seen):
    found = host_view.descriptors(seen.script)
    assert set(found) == {0, 1, 2}, found
    assert found[0] in ("/dev/null", "/null") or found[0].startswith("pipe:"), found
    assert found[1].startswith("pipe:") and found[2].startswith("pipe:"), found


def test_init_holds_no_folder_and_no_file_of_the_host(seen):
    for number, target in host_view.descriptors(seen.init).items():
        assert target.startswith(("pipe:", "socket:", "anon_inode:", "/dev/null", "/null")), f"{number} is {target}"


@pytest.mark.both
def test_no_secret_of_the_caller_in_any_environment(seen):
    for pid in (seen.script, seen.init, *seen.between):
        held = Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
        assert ENV_SECRET.encode() not in held, f"{status_of(pid)['Name']} holds the caller's environment"


@pytest.mark.both
def test_init_is_not_a_process_of_the_scripts(seen):
    uids = set(status_of(seen.init)["Uid"].split())
    assert not uids & set(status_of(seen.script)["Uid"].split()), "init has the script's uid"
    assert status_of(seen.init)["NoNewPrivs"] == "1"


@pytest.mark.both
def test_init_keeps_no_rights_while_the_script_runs(seen):
    """All rights in the cell's user namespace are for the set-up only; afterwards init waits and reaps."""
    status = status_of(seen.init)
    assert {name: status[name] for name in ("CapPrm", "CapEff")} == {"CapPrm": NO_CAPABILITIES, "CapEff": NO_CAPABILITIES}
    assert status["Seccomp"] == "2"


@pytest.mark.both
def test_nobody_looks_into_init_while_the_script_runs(seen):
    """The kernel gives the files of an undumpable process to root of the namespace that its memory is from: jaild's."""
    jaild = int(status_of(status_of(seen.init)["PPid"])["Uid"].split()[0])
    assert os.stat(f"/proc/{seen.init}/mem").st_uid == jaild
    assert int(status_of(seen.init)["Uid"].split()[0]) != jaild


@pytest.mark.both
def test_the_maker_has_one_right_and_most_of_the_scripts_filter(seen):
    jaild = int(status_of(seen.init)["PPid"])
    children = Path(f"/proc/{jaild}/task/{jaild}/children").read_text().split()
    maker, = [pid for pid in children if Path(f"/proc/{pid}/cmdline").read_bytes() == b"cloche-make\0"]
    status = status_of(maker)
    assert {status[name] for name in ("CapPrm", "CapEff")} == {f"{1 << 21:016x}"}, status["CapEff"]  # SYS_ADMIN
    assert {status[name] for name in ("CapInh", "CapAmb")} == {NO_CAPABILITIES}
    assert host_view.namespaces(maker)["user"] == host_view.namespaces(jaild)["user"]
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    assert int(status["Seccomp_filters"]) == int(status_of(jaild)["Seccomp_filters"]) + 1
    assert int(status_of(seen.init)["Seccomp_filters"]) == int(status["Seccomp_filters"])
    assert int(status_of(seen.script)["Seccomp_filters"]) == int(status["Seccomp_filters"]) + 1
    # it hangs on jaild alone, and holds nothing of a cell
    held = [target.partition(":")[0] for _, target in sorted(host_view.descriptors(maker).items())]
    assert held[3:6] == ["socket", "net", "ipc"] and set(held[:3]) <= {"/dev/null", "/null"}, held
    assert [name.removeprefix("/dev") for name in held[6:]] == ["/", "/null", "/zero", "/full", "/random", "/urandom"]


def test_privileged_programs_hold_nothing_in_the_initial_namespace(seen):
    host = host_view.namespaces("self")["user"]
    for pid in (seen.init, *seen.between):
        status = status_of(pid)
        if host_view.namespaces(pid)["user"] == host:
            assert status["CapEff"] == NO_CAPABILITIES, f"{status['Name']} has {status['CapEff']} on the host"


# Enters the user namespace of a process, where it then has all rights, and makes one more namespace. Prints the errno.
UNSHARE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.setns(os.open(f"/proc/{sys.argv[1]}/ns/user", os.O_RDONLY), 0x10000000) < 0: sys.exit("setns")
print(ctypes.get_errno() if libc.unshare(int(sys.argv[2], 16)) < 0 else 0)
"""
NAMESPACES = {"user": "0x10000000", "pid": "0x20000000", "mnt": "0x20000", "net": "0x40000000", "ipc": "0x8000000",
              "uts": "0x4000000", "cgroup": "0x2000000", "time": "0x80"}


@pytest.mark.both
@pytest.mark.parametrize("kind", NAMESPACES)
def test_no_new_namespaces_by_sysctl_either(seen, kind):
    """The second lock, tried from within the cell's own user namespace with all rights there: the filter is not in the way."""
    tried = subprocess.run([sys.executable, "-c", UNSHARE, str(seen.script), NAMESPACES[kind]],
                           capture_output=True, text=True, check=True)
    assert tried.stdout.split() == [str(errno.ENOSPC)]


@pytest.mark.both
def test_the_sysctls_behind_it(seen):
    names = ["user", "pid", "mnt", "net", "ipc", "uts", "cgroup"]
    jaild = int(status_of(seen.init)["PPid"])
    for pid, kinds in ((seen.script, names), (jaild, ["time"])):
        files = [f"/proc/sys/user/max_{kind}_namespaces" for kind in kinds]
        read = subprocess.run(["nsenter", "--user", "--preserve-credentials", "-t", str(pid), "cat", *files],
                              capture_output=True, text=True, check=True)
        assert read.stdout.split() == ["0"] * len(kinds), dict(zip(kinds, read.stdout.split()))


def test_the_session_is_an_own_one(seen):
    session = Path(f"/proc/{seen.script}/stat").read_text().rsplit(")", 1)[1].split()
    assert int(session[3]) != int(Path(f"/proc/{seen.child.pid}/stat").read_text().rsplit(")", 1)[1].split()[3])
    assert session[4] == "0", "the script has a terminal"


def test_the_kernel_would_kill_the_script_before_the_host(seen):
    for pid in (seen.init, seen.script):
        assert Path(f"/proc/{pid}/oom_score_adj").read_text() == "500\n"


@pytest.mark.both
def test_limits_as_the_host_sees_them(seen):
    found = host_view.limits(seen.script)
    wanted = {"Max file size": "104857600", "Max core file size": "1", "Max open files": "1024", "Max msgqueue size": "0",
              "Max locked memory": "1048576", "Max pending signals": "256", "Max nice priority": "0",
              "Max realtime priority": "0"}
    assert {name: found[name] for name in wanted} == {name: (value, value) for name, value in wanted.items()}


@pytest.mark.both
def test_mounts_of_the_script(seen):
    """Everything is read-only or nosuid and nodev; device files are the only mounts with devices."""
    for line in Path(f"/proc/{seen.script}/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        where, options = before.split()[4], before.split()[5].split(",")
        kind = after.split()[0]
        assert kind not in ("proc", "sysfs", "cgroup", "cgroup2", "devtmpfs") or where.startswith("/dev/"), line
        assert "nosuid" in options, line
        assert "nodev" in options or where.startswith("/dev/"), line
        assert "ro" in options or where in ("/mnt/data", "/tmp", "/dev/shm"), line
        assert "shared:" not in before, "a mount is shared with the host: " + line


def test_root_of_the_script_shows_nothing_of_the_host(seen):
    names = set(Path(f"/proc/{seen.script}/root").iterdir())
    assert not {path.name for path in names} & {"root", "home", "work", "sys", "boot"}
