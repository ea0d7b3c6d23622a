# attacks: make interfaces, addresses and routes by netlink and ioctl
# line: namespaces
link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
link.settimeout(2)


def ask(kind, flags, body):
    link.send(struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body)
    answer = link.recv(65536)
    return struct.unpack("i", answer[16:20])[0] if struct.unpack("H", answer[4:6])[0] == 2 else 0


def attr(kind, data):
    return struct.pack("HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


for kind in (b"dummy", b"veth", b"bridge", b"vxlan"):
    body = struct.pack("BxHiII", 0, 0, 0, 0, 0) + attr(3, b"x0\0") + attr(18, attr(1, kind))
    if ask(16, 0x605, body) != -EPERM:
        escaped(f"a {kind} interface was made")
if ask(20, 0x605, struct.pack("BBBBI", 2, 8, 0, 0, 1) + attr(2, bytes([10, 9, 9, 9]))) != -EPERM:
    escaped("an address was added")
if ask(24, 0x605, struct.pack("BBBBBBBBI", 2, 0, 0, 0, 254, 3, 0, 1, 0) + attr(4, struct.pack("I", 1))) != -EPERM:
    escaped("a route was added")
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
refused("SIOCSIFFLAGS", sc(16, end.fileno(), 0x8914, struct.pack("16sH22x", b"lo", 0)))
fails("SO_MARK", lambda: end.setsockopt(socket.SOL_SOCKET, 36, 5))
fails("SO_RCVBUFFORCE", lambda: end.setsockopt(socket.SOL_SOCKET, 33, 1 << 30))
verdict()
