left, right = socket.socketpair()
try:
    for _ in range(4):
        socket.send_fds(left, [b"x"], [0] * 200)
except OSError as error:
    escaped(f"{error}: the neighbour has used up our share")
verdict()
