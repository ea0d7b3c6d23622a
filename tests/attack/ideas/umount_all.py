# attacks: take mounts away to see what lies under them
# line: namespaces
for path in (b"/", b"/usr", b"/etc", b"/dev", b"/dev/shm", b"/dev/null", b"/tmp", b"/mnt/data", b"/run/cloche"):
    for flags in (0, 1, 2, 4, 8, 2 | 8):
        refused(f"umount2({path}, {flags})", sc(166, path, flags), EPERM)
verdict()
