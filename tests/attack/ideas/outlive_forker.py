# attacks: a tree that forks faster than a list of pids can be killed
# line: end
# within: 8
def run_away():
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
            else:
                os._exit(0)
        except OSError:
            time.sleep(0.001)


for _ in range(5):
    if os.fork() == 0:
        run_away()
time.sleep(0.3)
verdict()
