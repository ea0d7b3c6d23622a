# attacks: the new mount calls: fsopen, fsconfig, fsmount, fspick, open_tree, move_mount, mount_setattr, open_tree_attr
# line: namespaces
# rootless: yes
here = 2**64 - 100  # AT_FDCWD
for kind in (b"tmpfs", b"proc", b"ext4", b"overlay"):
    refused(f"fsopen({kind})", sc(430, kind, 0), EPERM)
refused("fsconfig", sc(431, 0, 6, None, None, 0), EPERM)
refused("fsmount", sc(432, 0, 0, 0), EPERM)
for path in (b"/", b"/mnt/data", b"/usr"):
    refused(f"fspick({path})", sc(433, here, path, 0), EPERM)
    for flags in (0, 1, 1 | 0x8000):
        refused(f"open_tree({path}, {flags})", sc(428, here, path, flags), EPERM)
    refused(f"move_mount({path})", sc(429, here, path, here, b"/mnt/data", 0), EPERM)
    attr = struct.pack("4Q", 0, 1, 0, 0)
    refused(f"mount_setattr({path})", sc(442, here, path, 0x8000, attr, 32), EPERM)
    result, error = sc(467, here, path, 1, attr, 32)
    if result != -1:
        escaped(f"open_tree_attr({path}) succeeded")
verdict()
