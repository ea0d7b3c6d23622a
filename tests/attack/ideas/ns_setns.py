# attacks: join another namespace by a pidfd, a folder, any descriptor
# line: namespaces
for pid in (1, os.getpid(), os.getppid()):
    fd, _ = sc(434, pid, 0)
    for mask in (0x20000, 0x10000000, 0x7E020080, 0):
        refused(f"setns(pidfd of {pid}, {mask:#x})", sc(308, fd if fd >= 0 else 0, mask), EPERM)
for path in ("/", "/mnt/data", "/usr"):
    fd = os.open(path, os.O_RDONLY)
    refused(f"setns({path})", sc(308, fd, 0), EPERM)
refused("setns(-1)", sc(308, -1, 0), EPERM)
verdict()
