# attacks: make interfaces, addresses and routes by ioctl (netlink: filter_netlink)
# line: namespaces
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
refused("SIOCSIFFLAGS", sc(16, end.fileno(), 0x8914, struct.pack("16sH22x", b"lo", 0)))
fails("SO_MARK", lambda: end.setsockopt(socket.SOL_SOCKET, 36, 5))
fails("SO_RCVBUFFORCE", lambda: end.setsockopt(socket.SOL_SOCKET, 33, 1 << 30))
verdict()
