# attacks: netlink, whose answers lie in memory that is charged to nobody: route, generic, uevent, audit, netfilter, sock_diag, crypto
# line: filter
# rootless: yes
for protocol in list(range(33)) + [255]:
    for kind in (2, 3, 2 | 0o2000000):
        for high in (0, 1 << 32, 0xFFFFFFFF << 32):
            refused(f"netlink {protocol} type {kind} high {high:#x}", sc(41, 16 | high, kind, protocol | high),
                    EPERM, EACCES, errno.EPROTONOSUPPORT, errno.EAFNOSUPPORT)
verdict()
