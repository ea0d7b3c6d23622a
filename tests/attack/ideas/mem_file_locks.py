# attacks: kernel memory in file locks, one per byte
# line: cgroup
# expect: ok,memory,timeout
# timeout: 3
import fcntl
out = open("locks", "w+b")
for number in range(60000):
    try:
        fcntl.lockf(out, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * number)
    except OSError:
        break
verdict()
