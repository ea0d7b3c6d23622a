signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
info = struct.pack("iii", 40, 0, -1) + bytes(116)
count = 0
while count < 1000 and sc(129, os.getpid(), 40, info)[0] == 0:
    count += 1
if count < 200:
    escaped(f"only {count} signals can be queued: the neighbour has used up our share")
verdict()
