# attacks: lay a filter that allows everything over ours; ask for a listener that answers calls
# line: filter
allow = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)
block = ctypes.create_string_buffer(allow)
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(block))
for flags in (0, 1, 2, 4, 8, 0x10):
    sc(317, 1, flags, program)
refused("unshare under an own filter", sc(272, 0x10000000), EPERM)
refused("ptrace under an own filter", sc(101, 0, 0, 0, 0), EPERM)
refused("clone3 under an own filter", sc(435, bytes(88), 88), ENOSYS)
verdict()
