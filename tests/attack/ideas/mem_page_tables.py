# attacks: page tables: one page touched in every 2 MiB of a huge sparse mapping
# line: memory
# expect: memory
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
size = 240 << 30
area = libc.mmap(None, size, 1, 0x4022, -1, 0)
fill = ctypes.c_ubyte
for address in range(area, area + size, 2 << 20):
    fill.from_address(address).value  # the zero page: only the tables cost
verdict()
