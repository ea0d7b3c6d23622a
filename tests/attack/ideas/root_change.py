# attacks: chroot and pivot_root, and the walk out of a chroot
# line: namespaces
os.makedirs("r/old")
refused("chroot", sc(161, b"/mnt/data/r"), EPERM)
refused("chroot(.)", sc(161, b"."), EPERM)
refused("chroot(NULL)", sc(161, None), EPERM)
for new, old in ((b".", b"."), (b"/mnt/data", b"/mnt/data/r/old"), (b"/", b"/mnt/data"), (b"/mnt/data/r", b"/")):
    refused(f"pivot_root({new}, {old})", sc(155, new, old), EPERM)
verdict()
