# attacks: ioctls and times that change a file of the host through a descriptor for reading
# line: landlock
import fcntl
for path in ("/usr", "/usr/bin/env", "/usr/bin/python3", "/etc/ssl/certs", "/etc/passwd", "/"):
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        continue
    CALLS = {"SETFLAGS": 0x40086602, "SETVERSION": 0x40087602, "FSSETXATTR": 0x401C5820, "FITRIM": 0xC0185879,
             "FIFREEZE": 0xC0045877, "FITHAW": 0xC0045878, "FIBMAP": 1, "ENABLE_VERITY": 0x40806685, "FICLONE": 0x40049409,
             "ENCRYPTION_POLICY": 0x800C6613, "RESIZE_FS": 0x40086610, "GROUP_EXTEND": 0x40086607, "MIGRATE": 0x6609,
             "SWAP_BOOT": 0x6611, "SHUTDOWN": 0x8004587D, "SETFSLABEL": 0x41009432, "SETFSUUID": 0x4008662C,
             "CHECKPOINT": 0x4004662B, "CLEAR_ES_CACHE": 0x6628, "MOVE_EXT": 0xC028660F}
    for name, call in CALLS.items():
        refused(f"{name} of {path}", sc(16, fd, call, bytes(512)))
    fails(f"times of {path}", lambda: os.utime(fd))
    fails(f"mode of {path}", lambda: os.fchmod(fd, 0o777))
    fails(f"attribute of {path}", lambda: os.setxattr(fd, "user.cloche", b"x"))
    fails(f"length of {path}", lambda: os.ftruncate(fd, 0))
    fails(f"space of {path}", lambda: os.posix_fallocate(fd, 0, 1))
    fails(f"lease on {path}", lambda: fcntl.fcntl(fd, 1024, fcntl.F_RDLCK))
verdict()
