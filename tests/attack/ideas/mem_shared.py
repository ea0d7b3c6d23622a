# attacks: memory in shared mappings, kept by children that do nothing
# line: memory
# expect: memory
import mmap
for _ in range(4):
    area = mmap.mmap(-1, 100 << 20)
    if os.fork() == 0:
        time.sleep(20)
    for offset in range(0, 100 << 20, 4096):
        area[offset] = 1
verdict()
