# attacks: clone with every CLONE_NEW* bit, alone, with others, with high bits that a 64-bit compare would miss
# line: filter
# rootless: yes
KINDS = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
for kind in KINDS + [0x10020000, 0x7E020000, 0x20000 | 0x200]:
    for extra in (0, 17, 0x100, 1 << 32, 1 << 63, 0xFFFFFFFF << 32):
        flags = kind | extra
        result, error = sc(56, flags & ~0x100, 0, 0, 0, 0)
        if result == 0:
            os._exit(0)
        if result > 0:
            escaped(f"clone({flags:#x}) made a child")
        elif error != EPERM:
            escaped(f"clone({flags:#x}): {errno.errorcode.get(error)}")
verdict()
