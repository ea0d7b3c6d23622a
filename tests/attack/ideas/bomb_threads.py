# attacks: threads, which count as processes
# line: cgroup
import threading
stop = threading.Event()
count = 0
try:
    while count < 200:
        threading.Thread(target=stop.wait, daemon=True).start()
        count += 1
except RuntimeError:
    pass
if count > 15:
    escaped(f"{count} threads")
stop.set()
verdict()
