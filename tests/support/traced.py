"""A process that is stopped at its system calls, to end it between two of them. ptrace(2)"""
import ctypes
import os
import signal

CLONE3 = 435  # on every machine

_SEIZE, _INTERRUPT, _SYSCALL, _SYSCALL_INFO = 0x4206, 0x4207, 24, 0x420E
_GOOD = 1  # PTRACE_O_TRACESYSGOOD
_ENTRY, _EXIT = 1, 2
_WALL = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


class _Info(ctypes.Structure):
    """struct ptrace_syscall_info, as far as it is read here; data is a call's number or, behind it, its result."""

    _fields_ = [("op", ctypes.c_uint8), ("padding", ctypes.c_uint8 * 3), ("arch", ctypes.c_uint32),
                ("ip", ctypes.c_uint64), ("sp", ctypes.c_uint64), ("data", ctypes.c_int64), ("rest", ctypes.c_uint64 * 8)]


def _ptrace(request, pid, address=0, data=0):
    result = _libc.ptrace(request, pid, address, data)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")
    return result


class Held:
    """Lets the process go on; once it is dead it stays a zombie, and its pid namespace, until the end."""

    def __init__(self, pid):
        self.pid = pid

    def __enter__(self):
        _ptrace(_SEIZE, self.pid)

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, _WALL)


class Traced:
    """Stops the process; kills it at the end. For one thread of the test: the kernel knows the tracer by it."""

    def __init__(self, pid):
        self.pid = pid

    def __enter__(self):
        _ptrace(_SEIZE, self.pid, 0, _GOOD)
        _ptrace(_INTERRUPT, self.pid)
        self._wait()
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, _WALL)

    def _wait(self):
        _, status = os.waitpid(self.pid, _WALL)
        assert os.WIFSTOPPED(status), f"it has ended: {status:#x}"

    def system_call(self, number):
        """Goes on until it has made this one. Returns its result; the process stands right behind it."""
        info, called = _Info(), None
        while True:
            _ptrace(_SYSCALL, self.pid)
            self._wait()
            _ptrace(_SYSCALL_INFO, self.pid, ctypes.sizeof(info), ctypes.addressof(info))
            if info.op == _ENTRY:
                called = info.data
            elif info.op == _EXIT and called == number:
                return info.data
