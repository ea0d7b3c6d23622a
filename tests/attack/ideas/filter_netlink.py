# attacks: netlink protocols beside route: generic, uevent, audit, netfilter, sock_diag, crypto
# line: filter
# rootless: yes
for protocol in list(range(1, 33)) + [255]:
    for kind in (2, 3, 2 | 0o2000000):
        for high in (0, 1 << 32, 0xFFFFFFFF << 32):
            refused(f"netlink {protocol} type {kind} high {high:#x}", sc(41, 16 | high, kind, protocol | high),
                    EPERM, EACCES, errno.EPROTONOSUPPORT, errno.EAFNOSUPPORT)
fd, error = sc(41, 16, 3, 0)
if fd < 0:
    escaped("netlink route does not work; this idea proves nothing")
verdict()
