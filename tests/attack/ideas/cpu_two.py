# attacks: more than one processor's time, on all processors
# line: cgroup
try:
    os.sched_setaffinity(0, range(64))
except OSError:
    pass


def burn():
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        pass


began = os.times()
workers = [os.fork() or (burn(), os._exit(0)) for _ in range(4)]
for pid in workers:
    os.waitpid(pid, 0)
now = os.times()
used = now.children_user + now.children_system
if used > (now.elapsed - began.elapsed) * 1.25 + 0.2:
    escaped(f"{used:.2f} s of processor time in {now.elapsed - began.elapsed:.2f} s")
verdict()
