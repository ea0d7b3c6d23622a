# What every Python idea may use; the runner puts it in front of the script. An idea calls escaped(...) for each hole
# that it finds and ends with verdict(); whatever else its last line says is a failure of the test.
import ctypes
import errno
import os
import signal
import socket
import struct
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
EPERM, ENOSYS, EACCES, EROFS = errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EROFS
_holes = []


def sc(number, *args):
    """A raw system call: (result, errno). Integers go in whole (64 bits), bytes and ctypes objects by address."""
    def machine(arg):
        if isinstance(arg, int):
            return ctypes.c_ulong(arg & (2**64 - 1))
        if isinstance(arg, (bytes, type(None))):
            return ctypes.c_char_p(arg)
        return arg if isinstance(arg, ctypes._Pointer) else ctypes.byref(arg)
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[machine(arg) for arg in args])
    return result, ctypes.get_errno() if result == -1 else 0


def escaped(what):
    _holes.append(str(what))


def refused(what, outcome, *errnos):
    """outcome of sc() must be a failure, with one of these errors when any are named."""
    result, error = outcome
    if result != -1:
        escaped(f"{what} succeeded ({result})")
    elif errnos and error not in errnos:
        escaped(f"{what}: {errno.errorcode.get(error, error)}, not {'/'.join(errno.errorcode[e] for e in errnos)}")


def fails(what, action, *errnos):
    """action() must raise an OSError, with one of these errors when any are named."""
    try:
        result = action()
    except OSError as error:
        if errnos and error.errno not in errnos:
            escaped(f"{what}: {error}")
    else:
        escaped(f"{what} succeeded ({result!r:.80})")


def child(action):
    """Runs action in a forked child; returns (exit status or -signal)."""
    pid = os.fork()
    if pid == 0:
        try:
            code = action()
        except BaseException as error:
            print(f"child: {error!r}", file=sys.stderr)
            code = 99
        os._exit(code if isinstance(code, int) else 0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def verdict():
    print("ESCAPED " + " ".join("; ".join(_holes).split())[:2000] if _holes else "SAFE", flush=True)
