# attacks: a daemon: double fork, own session, closed descriptors, every signal ignored
# line: end
# within: 8
# rootless: yes
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        os.closerange(0, 3)
        while True:
            time.sleep(10)
    os._exit(0)
os.wait()
verdict()
