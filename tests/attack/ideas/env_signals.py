# attacks: signal state, umask, timers, session and terminal of the caller
# line: inheritance
if signal.pthread_sigmask(signal.SIG_BLOCK, []):
    escaped("signals are blocked")
OWN = {signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ}  # Python's own
for number in set(signal.Signals) - OWN:
    if signal.getsignal(number) not in (signal.SIG_DFL, None):
        escaped(f"{number!r} is {signal.getsignal(number)}")
if signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0):
    escaped("a timer runs")
if os.umask(0o22) not in (0o22, 0o27, 0o77):
    escaped("umask of the caller")
if os.getsid(0) == 0 or os.getpgid(0) == 0:
    escaped("session or group of somebody outside")
for fd in (0, 1, 2):
    fails(f"terminal on {fd}", lambda: os.tcgetpgrp(fd))
fails("/dev/tty", lambda: os.open("/dev/tty", os.O_RDWR))
verdict()
