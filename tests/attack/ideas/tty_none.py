# attacks: a terminal to be had: the caller's, a new one, a controlling one
# line: inheritance
# rootless: yes
import fcntl
for path in ("/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ptmx", "/dev/pts/0", "/dev/pts/ptmx", "/dev/vcs",
             "/dev/ttyS0", "/dev/hvc0"):
    fails(f"open {path}", lambda: os.open(path, os.O_RDWR | os.O_NOCTTY))
    fails(f"open {path} to read", lambda: os.open(path, os.O_RDONLY))
for fd in (0, 1, 2):
    if os.isatty(fd):
        escaped(f"{fd} is a terminal")
    for call in (0x540E, 0x540F, 0x5410, 0x5412, 0x5413, 0x5429, 0x541C, 0x541D, 0x5441):
        refused(f"terminal ioctl {call:#x} on {fd}", sc(16, fd, call, bytes(64)))
if os.getsid(0) == 0:
    escaped(f"session {os.getsid(0)} is of another namespace")
verdict()
