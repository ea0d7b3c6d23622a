# attacks: leases and locks on files that the host shares with all jails
# line: neighbours
import fcntl
for path in ("/usr/bin/env", "/etc/passwd", "/usr/bin/python3"):
    fd = os.open(path, os.O_RDONLY)
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        fails(f"lease {kind} on {path}", lambda: fcntl.fcntl(fd, 1024, kind))
    fails(f"write lock on {path}", lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))
verdict()
