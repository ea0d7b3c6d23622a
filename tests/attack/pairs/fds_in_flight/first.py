# attacks: the kernel's per-user limit on descriptors in flight, used up by a neighbour
# line: ids
ends = []
try:
    for _ in range(200):
        ends.append(socket.socketpair())
        socket.send_fds(ends[-1][0], [b"x"], [0] * 200)
except OSError as error:
    print(error)
print("READY", flush=True)
time.sleep(20)
