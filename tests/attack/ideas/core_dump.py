# attacks: a crash whose core goes into a file or to the host's crash handler, which runs as root
# line: rlimits
for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGQUIT):
    code = child(lambda: os.kill(os.getpid(), number))
    if code != -number:
        escaped(f"signal {number}: {code}")
left = [name for name in os.listdir(".") if "core" in name]
if left:
    escaped(f"core files: {left}")
verdict()
