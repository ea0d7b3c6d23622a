# attacks: any way out: routes, interfaces, addresses, raw sockets
# line: namespaces
# rootless: yes
for index in range(2, 200):
    fails(f"interface {index}", lambda: socket.if_indextoname(index))
TARGETS = [(socket.AF_INET, ("1.1.1.1", 80)), (socket.AF_INET, ("10.0.0.1", 80)), (socket.AF_INET, ("169.254.169.254", 80)),
           (socket.AF_INET, ("192.168.1.1", 22)), (socket.AF_INET6, ("2606:4700:4700::1111", 80)),
           (socket.AF_INET6, ("fe80::1", 80, 0, 1))]
for family, address in TARGETS:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(family, kind) as end:
            end.settimeout(2)
            fails(f"connect {address}", lambda: end.connect(address), errno.ENETUNREACH, EPERM, errno.EADDRNOTAVAIL,
                  errno.EHOSTUNREACH, EACCES)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    fails("broadcast", lambda: end.sendto(b"x", ("255.255.255.255", 9)))
for protocol in (1, 6, 17, 255):
    fails(f"raw socket {protocol}", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, protocol))
    fails(f"raw socket 6 {protocol}", lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, protocol))
verdict()
