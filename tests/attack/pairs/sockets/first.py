# attacks: listeners of another session: abstract names, loopback ports
# line: landlock
ends = []
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    end = socket.socket(socket.AF_UNIX, kind)
    end.bind(f"\0cloche-pair-{int(kind)}")
    end.listen() if kind == socket.SOCK_STREAM else None
    ends.append(end)
ends.append(socket.create_server(("127.0.0.1", 17601)))
ends.append(socket.create_server(("0.0.0.0", 17602)))
print("READY", flush=True)
time.sleep(20)
