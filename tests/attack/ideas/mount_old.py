# attacks: the old mount call: new file systems, binds, remounts, propagation
# line: namespaces
# rootless: yes
os.mkdir("m")
TRIES = [
    (b"none", b"/mnt/data/m", b"tmpfs", 0), (b"proc", b"/mnt/data/m", b"proc", 0), (b"sys", b"/mnt/data/m", b"sysfs", 0),
    (b"/", b"/mnt/data/m", None, 4096), (b"/usr", b"/mnt/data/m", None, 4096 | 16384), (b"none", b"/", None, 32),
    (b"none", b"/usr", None, 32 | 4096), (b"none", b"/", None, 1 << 20), (b"none", b"/", None, 1 << 18),
    (b"/mnt/data/m", b"/", None, 8192), (b"o", b"/mnt/data/m", b"overlay", 0), (b"c", b"/mnt/data/m", b"cgroup2", 0),
    (b"none", b"/mnt/data", None, 32), (b"f", b"/mnt/data/m", b"fuse", 0), (b"d", b"/mnt/data/m", b"devpts", 0),
    (b"m", b"/mnt/data/m", b"mqueue", 0), (None, None, None, 0),
]
for source, target, kind, flags in TRIES:
    refused(f"mount({source}, {target}, {kind}, {flags})", sc(165, source, target, kind, flags, None), EPERM)
    refused(f"mount with the magic {target}", sc(165, source, target, kind, flags | 0xC0ED0000, None), EPERM)
verdict()
