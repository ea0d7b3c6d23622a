# attacks: open our streams anew through /proc/self/fd and change what stands behind them
# line: names
# profile: roomy
# stdin: what was typed
import fcntl
for flags in (os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_TRUNC):
    try:
        fd = os.open("/proc/self/fd/0", flags)
    except OSError:
        continue
    fails("write to stdin", lambda: os.write(fd, b"x"))
    fails("cut of stdin", lambda: os.ftruncate(fd, 0))
    fails("growth of stdin", lambda: os.ftruncate(fd, 1 << 20))
    fails("seals of stdin", lambda: fcntl.fcntl(fd, 1033, 1))
if b"what was typed" not in os.read(0, 64):
    escaped("stdin has changed")
for fd in (1, 2):
    fails(f"growth of {fd}", lambda: os.ftruncate(fd, 1 << 20))
verdict()
