# attacks: have the kernel load modules on the host: socket types, bridge and vlan ioctls, TCP options
# line: filter
for family in (socket.AF_INET, socket.AF_INET6):
    for kind in (3, 4, 5, 6, 7, 10):
        refused(f"socket({family}, {kind}, 0)", sc(41, family, kind, 0))
plain = socket.socket()
for request in (0x8940, 0x8941, 0x89A0, 0x89A1, 0x8982, 0x8983, 0x8940 | 1 << 40):
    refused(f"ioctl {request:#x}", sc(16, plain.fileno(), request, b"br0" + bytes(61)), EPERM)
for option in (13, 14, 31, 32, 38, 39, 40):
    refused(f"TCP option {option}", sc(54, plain.fileno(), 6, option, bytes(256), 256), EPERM, errno.ENOPROTOOPT)
verdict()
