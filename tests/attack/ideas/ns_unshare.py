# attacks: unshare of every kind of namespace, alone, together, with high bits
# line: namespaces
# rootless: yes
KINDS = [0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
for kind in KINDS + [0x10020000, 0x7E020080, 0x10000000 | 0x200]:
    for high in (0, 1 << 32, 0xFFFFFFFF << 32):
        refused(f"unshare({kind | high:#x})", sc(272, kind | high), EPERM)
verdict()
