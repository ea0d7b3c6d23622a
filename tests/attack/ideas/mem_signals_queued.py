# attacks: kernel memory in queued signals
# line: rlimits
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
count = 0
info = struct.pack("iii", 40, 0, -1) + bytes(116)
while count < 5000 and sc(129, os.getpid(), 40, info)[0] == 0:
    count += 1
if count > 256:
    escaped(f"{count} signals are queued")
verdict()
