# attacks: files of the host outside of /usr
# line: namespaces
# rootless: yes
ABSENT = ["/root", "/home", "/work", "/proc/self", "/proc/1", "/sys", "/boot", "/srv", "/opt", "/media", "/var/lib", "/var/log",
          "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/subuid", "/etc/machine-id", "/etc/resolv.conf",
          "/etc/crontab", "/run/docker.sock", "/run/systemd", "/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda",
          "/dev/kvm", "/dev/fuse", "/dev/net", "/dev/pts", "/dev/vsock", "/dev/loop-control", "/lost+found", "/.dockerenv"]
for path in ABSENT:
    if os.path.lexists(path):
        escaped(f"{path} exists")
TOP = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "dev", "mnt", "run", "tmp", "var", "opt", "proc"}
if set(os.listdir("/")) - TOP:
    escaped(f"in /: {set(os.listdir('/')) - TOP}")
if os.path.exists("/proc") and os.listdir("/proc"):
    escaped(f"/proc holds {os.listdir('/proc')}")
if os.listdir("/mnt") != ["data"] or set(os.listdir("/run")) - {"cloche"}:
    escaped(f"{os.listdir('/mnt')} {os.listdir('/run')}")
if set(os.listdir("/run/cloche")) - {"main.py"}:
    escaped(f"/run/cloche: {os.listdir('/run/cloche')}")
verdict()
