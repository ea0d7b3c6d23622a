# attacks: descriptors that somebody left open, folders above all
# line: inheritance
# rootless: yes
import fcntl
import stat
for fd in range(3, 4096):
    try:
        fcntl.fcntl(fd, fcntl.F_GETFD)
    except OSError:
        continue
    escaped(f"descriptor {fd} is open: {stat.filemode(os.fstat(fd).st_mode)}")
for fd in (0, 1, 2):
    mode = os.fstat(fd).st_mode
    if stat.S_ISDIR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode) or os.isatty(fd):
        escaped(f"descriptor {fd} is {stat.filemode(mode)}")
if not (stat.S_ISFIFO(os.fstat(1).st_mode) and stat.S_ISFIFO(os.fstat(2).st_mode)):
    escaped("output is no pipe")
if (os.fstat(1).st_dev, os.fstat(1).st_ino) == (os.fstat(2).st_dev, os.fstat(2).st_ino):
    escaped("both streams are one pipe")
verdict()
