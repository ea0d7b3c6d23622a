# attacks: the kernel's per-user limit on queued signals, used up by a neighbour
# line: ids
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
info = struct.pack("iii", 40, 0, -1) + bytes(116)
while sc(129, os.getpid(), 40, info)[0] == 0:
    pass
print("READY", flush=True)
time.sleep(20)
