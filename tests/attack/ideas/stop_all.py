# attacks: SIGSTOP to everything, oneself included: the run must end by its time limit
# line: end
# expect: timeout
# timeout: 2
# within: 10
# rootless: yes
for _ in range(3):
    if os.fork() == 0:
        while True:
            time.sleep(1)
os.kill(-1, signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
verdict()
