# attacks: socket families beside unix, inet and inet6, with high bits too
# line: filter
# rootless: yes
for family in list(range(0, 64)) + [255, 65535, 0x7FFFFFFF]:
    if family in (1, 2, 10):
        continue
    for kind in (1, 2, 3, 5, 10):
        for high in (0, 1 << 32, 0xFFFFFFFF << 32):
            for number in (41, 53):  # socket, socketpair
                pair = (ctypes.c_int * 2)()
                outcome = sc(number, family | high, kind, 0, pair)
                refused(f"call {number}: family {family} type {kind} high {high:#x}", outcome, EPERM, EACCES,
                        errno.EAFNOSUPPORT)
for family in (1, 2, 10):
    socket.socket(family, socket.SOCK_STREAM).close()
verdict()
