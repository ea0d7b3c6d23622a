# attacks: busy threads that ignore SIGALRM, SIGTERM and all the others
# line: end
# expect: timeout
# timeout: 1
# within: 8
import threading
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
def burn():
    for _ in iter(int, 1):
        pass


for _ in range(6):
    threading.Thread(target=burn).start()
