for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    end = socket.socket(socket.AF_UNIX, kind)
    fails("the other's abstract socket", lambda: end.connect(f"\0cloche-pair-{int(kind)}"))
for port in (17601, 17602):
    fails(f"the other's port {port}", lambda: socket.create_connection(("127.0.0.1", port), 2))
    fails(f"the other's port {port} by IPv6", lambda: socket.create_connection(("::1", port), 2))
verdict()
