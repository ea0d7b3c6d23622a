# attacks: lock more memory than RLIMIT_MEMLOCK
# line: rlimits
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
area = libc.mmap(None, 4 << 20, 3, 0x22, -1, 0)
refused("mlock 4 MiB", sc(149, area, 4 << 20))
refused("mlockall", sc(151, 3))
refused("memfd_secret", sc(447, 0), EPERM, ENOSYS)
verdict()
