# attacks: more than 100 MiB in the home, by writes, fallocate, mmap
# line: tmpfs
total = 0
try:
    for number in range(4):
        with open(f"f{number}", "wb", buffering=0) as out:
            for _ in range(30):
                total += out.write(bytes(1 << 20))
except OSError as error:
    if error.errno != errno.ENOSPC:
        escaped(error)
if total > 100 << 20:
    escaped(f"{total} bytes fit")
fails("fallocate", lambda: os.posix_fallocate(os.open("g", os.O_CREAT | os.O_RDWR), 0, 50 << 20), errno.ENOSPC)
verdict()
