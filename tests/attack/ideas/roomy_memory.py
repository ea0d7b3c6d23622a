# attacks: more than 1 GiB with the roomy profile
# line: memory
# profile: roomy
# expect: memory
import mmap
area = mmap.mmap(-1, 1300 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area.madvise(23)  # MADV_POPULATE_WRITE
for offset in range(0, 1300 << 20, 4096):
    area[offset] = 1
verdict()
