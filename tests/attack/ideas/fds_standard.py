# attacks: what can be done to descriptors 0 to 2: write to stdin, read stdout, reopen, relabel, signal others by them
# line: inheritance
import fcntl
for fd, name in ((0, "write"), (1, "read"), (2, "read")):
    wrong = (lambda: os.write(fd, b"x")) if name == "write" else (lambda: os.read(fd, 1))
    if name == "read":
        os.set_blocking(fd, False)
    fails(f"{name} on {fd}", wrong, errno.EBADF)
    os.set_blocking(fd, True)
for fd in (0, 1, 2):
    fails(f"fchown {fd}", lambda: os.fchown(fd, 0, 0))
    fails(f"seek {fd} to a file", lambda: os.ftruncate(fd, 0))
    fails(f"fchdir {fd}", lambda: os.fchdir(fd))
    fails(f"openat {fd}", lambda: os.open("..", os.O_RDONLY, dir_fd=fd))
try:
    fcntl.fcntl(1, fcntl.F_SETOWN, 1)  # allowed by the kernel; the signal is checked when it is sent
    fcntl.fcntl(1, fcntl.F_SETSIG, signal.SIGKILL)
except OSError:
    pass
verdict()
