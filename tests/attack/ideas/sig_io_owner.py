# attacks: let the kernel send the signals: SIGIO, SIGURG and SIGKILL in its place, owned by init or a whole group
# line: init
# rootless: yes
import fcntl
F_SETOWN, F_SETSIG, F_SETOWN_EX = 8, 10, 15
for owner in (1, -1):
    for number in (9, 19, 15, 0):
        ends = [*os.pipe(), *[end.detach() for end in socket.socketpair()]]
        for fd in ends:
            try:
                fcntl.fcntl(fd, F_SETOWN, owner)
                fcntl.fcntl(fd, F_SETSIG, number)
                fcntl.fcntl(fd, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
            except OSError as error:
                print(error)
        for fd in (ends[1], ends[2], ends[3]):
            os.write(fd, b"x")
        for fd in ends:
            os.close(fd)
for fd in (0, 1, 2):  # and by our streams, whose other ends others hold
    for owner in (1, -1):
        for call, value in ((F_SETOWN, owner), (F_SETSIG, 9), (F_SETOWN_EX, struct.pack("ii", 1, 1))):
            try:
                fcntl.fcntl(fd, call, value)
            except OSError:
                pass
    try:
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_ASYNC)
    except OSError:
        pass
for _ in range(50):
    os.write(1, b"x" * 4000 + b"\n")
time.sleep(0.2)
verdict()
