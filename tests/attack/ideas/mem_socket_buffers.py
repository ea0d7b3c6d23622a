# attacks: kernel memory in socket buffers, in several processes
# line: cgroup
# expect: ok,memory
def fill():
    pairs = []
    try:
        for _ in range(480):
            pairs.append(socket.socketpair())
            pairs[-1][0].setblocking(False)
            pairs[-1][0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            try:
                while True:
                    pairs[-1][0].send(bytes(32768))
            except BlockingIOError:
                pass
    except OSError as error:
        print(error)
    time.sleep(1)


workers = [os.fork() or (fill(), os._exit(0)) for _ in range(4)]
for pid in workers:
    os.waitpid(pid, 0)
verdict()
