# attacks: socket options that load modules, mark packets, pass limits or leave the network namespace
# line: namespaces
ON = struct.pack("I", 1)
tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
six = socket.socket(socket.AF_INET6)
TRIALS = [(tcp, 1, 36, "SO_MARK"), (tcp, 1, 1, "SO_DEBUG"), (tcp, 1, 32, "SO_SNDBUFFORCE"), (tcp, 1, 33, "SO_RCVBUFFORCE"),
          (tcp, 6, 19, "TCP_REPAIR"), (tcp, 0, 19, "IP_TRANSPARENT"), (tcp, 0, 16, "IP_IPSEC_POLICY"),
          (tcp, 0, 17, "IP_XFRM_POLICY"), (tcp, 0, 64, "IPT_SO_SET_REPLACE"), (six, 41, 64, "IP6T_SO_SET_REPLACE"),
          (six, 41, 75, "IPV6_TRANSPARENT"), (tcp, 1, 50, "SO_ATTACH_BPF"), (tcp, 1, 52, "SO_ATTACH_REUSEPORT_EBPF"),
          (tcp, 1, 69, "SO_BUSY_POLL_BUDGET over 8"),
          (tcp, 6, 8, "TCP_LINGER2"), (tcp, 6, 18, "TCP_USER_TIMEOUT"), (tcp, 6, 45, "TCP_RTO_MIN_US"),
          (udp, 17, 100, "UDP_ENCAP"), (tcp, 0, 200, "MRT_INIT"), (six, 41, 200, "MRT6_INIT")]
for end, level, option, name in TRIALS:
    value = struct.pack("I", 4096) if option == 69 else ON
    fails(name, lambda: end.setsockopt(level, option, value))
group, index = socket.inet_pton(socket.AF_INET6, "ff02::5:77"), struct.pack("I", 1)
fails("IPV6_ADD_MEMBERSHIP", lambda: six.setsockopt(41, 20, group + index), errno.ENODEV)
fails("IP_ADD_MEMBERSHIP", lambda: udp.setsockopt(0, 35, bytes([239, 1, 2, 3]) + bytes(4) + index), errno.ENODEV)
address = struct.pack("=HHI", socket.AF_INET6, 0, 0) + group + bytes(4)
fails("MCAST_JOIN_GROUP", lambda: six.setsockopt(41, 42, struct.pack("=II", 1, 0) + address.ljust(128, b"\0")), errno.ENODEV)
fails("SO_TIMESTAMPING", lambda: udp.setsockopt(1, 37, struct.pack("I", 2)))
for end, level, option in ((udp, 0, 11), (six, 41, 25)):  # ignored
    end.setsockopt(level, option, 1)
    if end.getsockopt(level, option):
        escaped(f"RECVERR of level {level}")
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
probe.bind(("127.0.0.1", 0))
probe.connect(probe.getsockname())
probe.sendmsg([b"x"], [(1, 37, struct.pack("I", 2))])  # time stamps asked for along with what is sent
time.sleep(0.1)
fails("queue of errors", lambda: probe.recvmsg(100, 500, 0x2000 | 0x40), errno.EAGAIN)
many = struct.pack("=QiiI4x", 20, 41, 52, 64) * 2700  # control messages that change nothing
fails("IPV6_2292PKTOPTIONS", lambda: six.setsockopt(41, 6, many))
label = socket.inet_pton(socket.AF_INET6, "::1") + struct.pack(">I", 77) + struct.pack("=BBHHHI", 0, 255, 3, 60, 60, 0)
fails("IPV6_FLOWLABEL_MGR", lambda: six.setsockopt(41, 32, label))
fails("SO_PRIORITY 7", lambda: tcp.setsockopt(1, 12, struct.pack("I", 7)))
for level, option, name in ((6, 31, b"cloche-none"), (6, 13, b"cloche-none"), (6, 31, b"smc")):
    fails(f"option {option} with {name}", lambda: tcp.setsockopt(level, option, name))
for end in (tcp, udp, six):
    refused("SIOCGSKNS", sc(16, end.fileno(), 0x894C, 0), EPERM)
    for call in (0x89A0, 0x89A1, 0x8914, 0x8924, 0x8922, 0x8923, 0x8955, 0x890B, 0x8943):
        refused(f"socket ioctl {call:#x}", sc(16, end.fileno(), call, b"lo".ljust(64, b"\0")))
verdict()
