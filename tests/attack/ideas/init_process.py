# attacks: pid 1 is no interpreter: it reaps, and is nobody of ours
# line: init
if os.getpid() == 1:
    escaped("the script is pid 1")
try:
    os.getpgid(1)
    os.sched_getaffinity(1)
except OSError:
    pass
for _ in range(100):  # orphans; they fill 16 pids at once unless somebody reaps them
    if child(lambda: os.fork() and 0) != 0:
        escaped("fork failed")
        break
    time.sleep(0.002)
verdict()
