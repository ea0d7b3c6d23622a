# attacks: kernel memory in small objects: sockets, epolls, eventfds, timers, memfds
# line: cgroup
# expect: ok,memory
import select
for make in (lambda: socket.socket().detach(), lambda: sc(290, 0, 0)[0], lambda: sc(283, 1, 0)[0],
             lambda: os.memfd_create("m"), lambda: sc(282, -1, bytes(8), 8, 0)[0], lambda: sc(213, 1)[0]):
    def fill():
        for _ in range(1100):
            if make() < 0:
                return 0
        return 1
    for _ in range(2):
        code = child(fill)
        if code == 1:
            escaped("more than 1,100 descriptors")
timers = 0
while timers < 5000 and sc(222, 1, None, bytes(8))[0] == 0:
    timers += 1
if timers >= 5000:
    escaped("no limit on timers")
verdict()
