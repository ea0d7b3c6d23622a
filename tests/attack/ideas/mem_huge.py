# attacks: huge pages, which no memory group counts; merged pages, which tell of the neighbours'
# line: memory
for flags in (0x22 | 0x40000, 0x22 | 0x40000 | 21 << 26, 0x22 | 0x40000 | 30 << 26):
    refused(f"mmap with {flags:#x}", sc(9, 0, 2 << 20, 3, flags, -1, 0))
refused("memfd_create MFD_HUGETLB", sc(319, b"x", 4))
refused("shmget SHM_HUGETLB", sc(29, 0, 2 << 20, 0o4000 | 0o1000 | 0o600))
refused("prctl PR_SET_MEMORY_MERGE", sc(157, 67, 1, 0, 0, 0))
verdict()
