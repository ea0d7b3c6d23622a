# attacks: kernel memory in pipes, as large as they go
# line: cgroup
# expect: ok,memory
import fcntl
ends = []
try:
    for _ in range(480):
        ends.append(os.pipe())
        try:
            fcntl.fcntl(ends[-1][1], 1031, 1 << 20)
        except OSError:
            pass
        os.set_blocking(ends[-1][1], False)
        try:
            while True:
                os.write(ends[-1][1], bytes(65536))
        except BlockingIOError:
            pass
except OSError as error:
    print(error)
verdict()
