# attacks: a file that is cut while somebody may have it mapped
# line: reader
import mmap
with open("m", "wb") as out:
    out.truncate(1 << 20)
fd = os.open("m", os.O_RDWR)
area = mmap.mmap(fd, 1 << 20)
if os.fork() == 0:
    os.setsid()
    while True:
        os.ftruncate(fd, 0)
        os.ftruncate(fd, 1 << 20)
area[0:4] = b"data"
verdict()
