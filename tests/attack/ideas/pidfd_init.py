# attacks: init and neighbours by pidfd: take their descriptors, signal them, release their memory
# line: init
# rootless: yes
for pid in [1, os.getppid()] + list(range(2, 8)):
    if pid == os.getpid() or pid == 0:
        continue
    fd, _ = sc(434, pid, 0)
    if fd < 0:
        continue
    for number in range(0, 64):
        refused(f"pidfd_getfd({pid}, {number})", sc(438, fd, number, 0), EPERM)
    for number in (0, 9, 15, 19, 34):
        refused(f"pidfd_send_signal({pid}, {number})", sc(424, fd, number, None, 0), EPERM)
    refused(f"process_madvise({pid})", sc(440, fd, None, 0, 20, 0), EPERM)
    refused(f"process_mrelease({pid})", sc(448, fd, 0))
verdict()
