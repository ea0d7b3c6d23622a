# attacks: the kernel's per-user limit on pipe pages, used up by a neighbour
# line: ids
import fcntl
ends = []
try:
    for _ in range(400):
        ends.append(os.pipe())
        fcntl.fcntl(ends[-1][1], 1031, 1 << 18)
except OSError as error:
    print(error)
print("READY", flush=True)
time.sleep(20)
