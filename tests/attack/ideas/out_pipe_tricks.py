# attacks: the output pipes' flags and sizes, which are shared with the reader
# line: supervisor
import fcntl
for fd in (1, 2):
    for size in (4096, 1 << 20, 1 << 30):
        try:
            fcntl.fcntl(fd, 1031, size)
        except OSError:
            pass
    for flags in (os.O_NONBLOCK, os.O_NONBLOCK | 0o20000 | 0o40000, 0):
        try:
            fcntl.fcntl(fd, fcntl.F_SETFL, flags)
        except OSError:
            pass
for _ in range(300):
    os.write(1, b"a" * 4000 + b"\n")
verdict()
