# attacks: the magic links of /proc/self: root, cwd, exe, fd, ns
# line: proc
# profile: roomy
# rootless: yes
root = os.stat("/")
for name in ("root", "root/..", "root/proc/self/root"):
    about = os.stat(f"/proc/self/{name}")
    if (about.st_dev, about.st_ino) != (root.st_dev, root.st_ino):
        escaped(f"{name} leads elsewhere")
fails("write to exe", lambda: os.open("/proc/self/exe", os.O_WRONLY))
for kind in os.listdir("/proc/self/ns"):
    fd = os.open(f"/proc/self/ns/{kind}", os.O_RDONLY)
    refused(f"setns {kind}", sc(308, fd, 0), EPERM)
for fd in (0, 1, 2):
    target = os.readlink(f"/proc/self/fd/{fd}")
    if not target.startswith("pipe:") and target != "/dev/null":
        escaped(f"descriptor {fd} is {target}")
verdict()
