for pid in range(2, 3000):
    if pid != os.getpid():
        fails(f"signal to {pid}", lambda: os.kill(pid, signal.SIGUSR1), errno.ESRCH)
try:
    os.kill(-1, signal.SIGUSR1)
except OSError:
    pass
fd, _ = sc(434, 1, 0)
refused("pidfd_getfd", sc(438, fd, 0, 0), EPERM)
verdict()
