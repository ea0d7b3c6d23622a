# attacks: kernel memory in Landlock rules and in filters of our own
# line: memory
# expect: ok,memory
import resource
fds = []
home = os.open(".", os.O_RDONLY)
for number in range(600):
    fd, _ = sc(444, struct.pack("QQQ", 1 << 1, 0, 0), 8, 0)
    if fd < 0:
        break
    fds.append(fd)
    sc(445, fd, 1, struct.pack("=Qi", 1 << 1, home), 0)


def own_filters():
    code = struct.pack("HBBI", 6, 0, 0, 0x7FFF0000)
    block = ctypes.create_string_buffer(code)
    sc(157, 38, 1, 0, 0, 0)
    added = 0
    while sc(317, 1, 0, struct.pack("HxxxxxxQ", 1, ctypes.addressof(block)))[0] == 0 and added < 20000:
        added += 1
    return 1 if added >= 20000 else 0


for _ in range(3):
    if child(own_filters) != 0:
        escaped("filters without end")
verdict()
