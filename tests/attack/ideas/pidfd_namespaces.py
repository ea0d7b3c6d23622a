# attacks: namespaces by pidfd and ioctl, which needs no /proc: init's, the parents of our own, and who lives in them
# line: namespaces
own = os.pidfd_open(os.getpid())
init = sc(434, 1, 0)[0]
for number in range(1, 11):  # PIDFD_GET_*_NAMESPACE
    if init >= 0:
        refused(f"namespace {number} of init", sc(16, init, 0xFF00 + number, 0))
    fd = sc(16, own, 0xFF00 + number, 0)[0]
    if fd < 0:
        continue
    for kind in (0, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x80):
        refused(f"setns {number} as {kind:#x}", sc(308, fd, kind), EPERM)
    refused(f"parent of namespace {number}", sc(16, fd, 0xB702, 0))
    user = sc(16, fd, 0xB701, 0)[0]  # the user namespace that owns it: ours, or none
    if user >= 0:
        refused(f"owner's parent, {number}", sc(16, user, 0xB702, 0))
        refused(f"owner's owner, {number}", sc(16, user, 0xB701, 0))
    for step in (0x8010B70B, 0x8010B70C):  # the next and the previous mount namespace
        refused(f"neighbour of namespace {number}", sc(16, fd, step, bytes(64)))
    for pid in (1, 2, 1000):  # our numbers and the host's for each other
        for ask in (0x8004B706, 0x8004B707):
            if number not in (5, 6):
                refused(f"pid {pid} by {ask:#x}", sc(16, fd, ask, pid))
refused("setns by pidfd of init", sc(308, init, 0x20000000), EPERM)
verdict()
