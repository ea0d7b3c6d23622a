"""What the stock kernel itself offers, checked without our programs: when these fail, the others say nothing."""

import ctypes
import errno
import os
import signal
import time

from guest_table import guest_test

LIBC = ctypes.CDLL(None, use_errno=True)
ROOT = "/sys/fs/cgroup"
CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUSER = 0x00020000, 0x02000000, 0x10000000
CLONE_INTO_CGROUP = 0x200000000
SYS_PIVOT_ROOT, SYS_PIDFD_OPEN, SYS_CLONE3, SYS_OPENAT2, SYS_LANDLOCK_CREATE = 155, 434, 435, 437, 444
RESOLVE_BENEATH = 0x08


def syscall(number, *arguments):
    """Returns the result, or minus errno."""
    result = LIBC.syscall(ctypes.c_long(number), *arguments)
    return result if result >= 0 else -ctypes.get_errno()


def words(path):
    with open(path) as file:
        return file.read().split()


@guest_test
def kernel_is_debians():
    release = os.uname().release
    assert release.endswith("-cloud-amd64"), release
    major, minor = (int(part) for part in release.split(".")[:2])
    assert (major, minor) >= (5, 14), release
    return release


@guest_test
def only_cgroup_v2():
    with open("/proc/mounts") as mounts:
        kinds = {line.split()[2] for line in mounts}
    assert "cgroup2" in kinds and "cgroup" not in kinds, kinds
    with open("/proc/self/cgroup") as own:
        assert own.read().strip() == "0::/session.scope"


@guest_test
def controllers_are_there():
    there = words(f"{ROOT}/cgroup.controllers")
    assert {"memory", "pids", "cpu"} <= set(there), there
    enabled = words(f"{ROOT}/cgroup.subtree_control")
    assert {"memory", "pids", "cpu"} <= set(enabled), enabled
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max", "cgroup.kill"):
        assert os.path.exists(f"{ROOT}/session.scope/{name}"), name
    return " ".join(there)


@guest_test
def landlock_is_on():
    abi = syscall(SYS_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    assert abi >= 1, os.strerror(-abi)
    return f"ABI {abi}"


@guest_test
def openat2_and_pidfd():
    how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, RESOLVE_BENEATH)
    folder = os.open("/usr", os.O_RDONLY)
    inside = syscall(SYS_OPENAT2, folder, b"bin", ctypes.byref(how), ctypes.c_size_t(24))
    outside = syscall(SYS_OPENAT2, folder, b"../etc", ctypes.byref(how), ctypes.c_size_t(24))
    assert inside >= 0, os.strerror(-inside)
    assert outside == -errno.EXDEV, outside
    pidfd = syscall(SYS_PIDFD_OPEN, os.getpid(), 0)
    assert pidfd >= 0, os.strerror(-pidfd)
    for descriptor in (folder, inside, pidfd):
        os.close(descriptor)


@guest_test
def namespaces_and_pivot_root():
    """The guest's own root must be fit for both, or every jail would fail for a reason of this test's making."""
    child = os.fork()
    if child == 0:
        status = LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNS)
        os._exit(ctypes.get_errno() if status else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, f"unshare: {os.strerror(status)}"
    child = os.fork()
    if child == 0:
        os._exit(pivot())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, f"pivot_root: {os.strerror(status)}"


def pivot():
    ms_rec_private, mnt_detach = 0x44000, 2
    for result in (
        LIBC.unshare(CLONE_NEWNS),
        LIBC.mount(None, b"/", None, ctypes.c_ulong(ms_rec_private), None),
        LIBC.mount(b"tmpfs", b"/mnt", b"tmpfs", ctypes.c_ulong(0), None),
    ):
        if result:
            return ctypes.get_errno()
    os.chdir("/mnt")
    if syscall(SYS_PIVOT_ROOT, b".", b".") or LIBC.umount2(b".", mnt_detach):
        return ctypes.get_errno()
    return 0


def clone_into(descriptor):
    """A child that is born in the cgroup and sleeps. Its first instruction after the call is in Python: good enough for
    a process without threads that does nothing but pause."""
    arguments = (ctypes.c_uint64 * 11)(CLONE_INTO_CGROUP, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, descriptor)
    child = syscall(SYS_CLONE3, ctypes.byref(arguments), ctypes.c_size_t(88))
    if child == 0:
        LIBC.pause()
        os._exit(0)
    return child


@guest_test
def clone_into_cgroup_and_kill():
    folder = f"{ROOT}/probe"
    os.mkdir(folder)
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        child = clone_into(descriptor)
        os.close(descriptor)
        assert child > 0, os.strerror(-child)
        with open(f"/proc/{child}/cgroup") as place:
            assert place.read().strip() == "0::/probe"
        with open(f"{folder}/cgroup.kill", "w") as kill:
            kill.write("1")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert words(f"{folder}/cgroup.events")[:2] == ["populated", "0"]
    finally:
        time.sleep(0.1)
        os.rmdir(folder)
