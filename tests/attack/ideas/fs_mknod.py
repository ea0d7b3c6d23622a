# attacks: make device nodes
# line: tmpfs
for folder in ("/mnt/data", "/tmp", "/dev/shm"):
    for kind in (0o20000, 0o60000):
        for number in (os.makedev(1, 1), os.makedev(1, 3), os.makedev(5, 0), os.makedev(8, 0), os.makedev(254, 0)):
            fails(f"mknod in {folder}", lambda: os.mknod(f"{folder}/n", kind | 0o666, number), EPERM)
    try:
        os.mknod(f"{folder}/white", 0o20000 | 0o666, 0)  # an overlay's whiteout: no rights needed, must not open
    except OSError:
        continue
    fails(f"open of a node in {folder}", lambda: os.open(f"{folder}/white", os.O_RDONLY))
    if not os.statvfs(folder).f_flag & 4:
        escaped(f"{folder} is not nodev")
verdict()
