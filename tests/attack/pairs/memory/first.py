# attacks: the memory and processor share of a neighbour
# line: cgroup
block = bytearray(200 << 20)
block[::4096] = b"x" * len(block[::4096])
pids = [os.fork() or time.sleep(20) for _ in range(14)]
print("READY", flush=True)
time.sleep(20)
