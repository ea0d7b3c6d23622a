# attacks: clone3, whose flags a filter cannot read
# line: filter
# rootless: yes
for flags in (0, 0x10000000, 0x20000000, 0x40000000, 0x80, 0x100000000, 0x200000000):
    for size in (64, 80, 88, 0, 4096):
        args = struct.pack("11Q", flags, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0) + bytes(4096)
        result, error = sc(435, args, size)
        if result == 0:
            os._exit(0)
        if result > 0 or error != ENOSYS:
            escaped(f"clone3({flags:#x}, {size}): {result} {errno.errorcode.get(error)}")
refused("clone3(NULL)", sc(435, None, 64), ENOSYS)
verdict()
