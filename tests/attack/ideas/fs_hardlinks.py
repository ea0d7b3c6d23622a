# attacks: hard links that lead out of the home, or tie the home to the host
# line: tmpfs
for source in ("/etc/passwd", "/usr/bin/id", "/dev/null", "/run/cloche/main.py"):
    for target in ("/mnt/data/h", "/tmp/h", "/dev/shm/h"):
        fails(f"link {source} {target}", lambda: os.link(source, target), errno.EXDEV, EPERM, EACCES)
open("x", "w").close()
for target in ("/tmp/x", "/dev/shm/x", "/usr/x", "/run/cloche/x"):
    fails(f"link to {target}", lambda: os.link("/mnt/data/x", target), errno.EXDEV, EPERM, EACCES, EROFS)
    fails(f"rename to {target}", lambda: os.rename("/mnt/data/x", target), errno.EXDEV, EPERM, EACCES, EROFS)
fd = os.open("/etc/passwd", os.O_RDONLY)
refused("linkat of a descriptor", sc(265, fd, b"", -100, b"h", 0x1000))
verdict()
