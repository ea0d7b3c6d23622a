# attacks: a file above 100 MiB by truncate, seek, fallocate
# line: rlimits
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = 100 << 20
for folder in ("/mnt/data", "/tmp", "/dev/shm"):
    fd = os.open(f"{folder}/big", os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, limit)
    fails("truncate", lambda: os.ftruncate(fd, limit + 1), errno.EFBIG)
    fails("write behind the end", lambda: os.pwrite(fd, b"x", limit), errno.EFBIG)
    fails("fallocate", lambda: os.posix_fallocate(fd, 0, limit + 1), errno.EFBIG)
verdict()
