# attacks: memory in datagrams that nobody reads, whose buffers another counter holds
# line: memory
# expect: ok,memory
LIMIT = 256 << 20
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
ends = []
for _ in range(200):
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
    end.bind(("127.0.0.1", 0))
    end.setblocking(False)
    ends.append(end)
    for _ in range(64):
        try:
            out.sendto(bytes(60000), end.getsockname())
        except OSError:
            break
held = 0
for end in ends:
    try:
        while True:
            held += len(end.recv(65536))
    except BlockingIOError:
        pass
print(held >> 20, "MiB were held")
if held > LIMIT:
    escaped(f"{held >> 20} MiB of datagrams")
verdict()
