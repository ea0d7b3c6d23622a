# attacks: memory in System V segments, which outlive their processes
# line: memory
# expect: memory
libc.shmat.restype = ctypes.c_void_p
for _ in range(8):
    number = libc.shmget(0, 64 << 20, 0o1600)
    address = libc.shmat(number, None, 0)
    if number < 0 or address == 2**64 - 1:
        escaped("no segment; this idea proves nothing")
        break
    ctypes.memset(address, 1, 64 << 20)
verdict()
