# attacks: the /proc of the roomy profile: other processes, kernel files
# line: proc
# profile: roomy
# rootless: yes
pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
if not pids or set(pids) - {os.getpid()}:
    escaped(f"processes {pids}")
if os.path.exists("/proc/1/status"):
    escaped("init shows")
for name in ("sys", "kcore", "kmsg", "sysrq-trigger", "keys", "timer_list", "kallsyms", "meminfo"):
    path = f"/proc/{name}"
    if os.path.exists(path):
        escaped(f"{path} exists")
extra = {name for name in os.listdir("/proc") if not name.isdigit()} - {"self", "thread-self", "mounts", "net"}
if extra:
    escaped(f"/proc has {sorted(extra)}")
verdict()
