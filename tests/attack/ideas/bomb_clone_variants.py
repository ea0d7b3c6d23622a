# attacks: processes by vfork-like clones, which some limits miss
# line: cgroup
count = 0
for _ in range(40):
    pid, error = sc(56, 17 | 0x8000, 0, 0, 0, 0)  # CLONE_PARENT: init's child
    if pid == 0:
        time.sleep(20)
        os._exit(0)
    if pid < 0:
        break
    count += 1
if count > 15:
    escaped(f"{count} processes")
verdict()
