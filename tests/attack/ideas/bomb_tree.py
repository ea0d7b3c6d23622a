# attacks: a fork bomb whose every child forks on
# line: cgroup
# expect: timeout
# timeout: 2
# within: 10
while True:
    try:
        os.fork()
    except OSError:
        pass
