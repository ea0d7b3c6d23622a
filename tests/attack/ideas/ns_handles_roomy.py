# attacks: the handles below /proc/self/ns, opened and asked for their parents and owners
# line: proc
# profile: roomy
for name in os.listdir("/proc/self/ns"):
    try:
        fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
    except OSError:
        continue
    refused(f"setns {name}", sc(308, fd, 0), EPERM)
    refused(f"parent of {name}", sc(16, fd, 0xB702, 0))
    user = sc(16, fd, 0xB701, 0)[0]
    if user >= 0:
        refused(f"parent of the owner of {name}", sc(16, user, 0xB702, 0))
    fails(f"/proc/1/ns/{name}", lambda: os.open(f"/proc/1/ns/{name}", os.O_RDONLY))
for place in ("root", "cwd", "exe", "fd", "map_files", "ns"):
    fails(f"/proc/1/{place}", lambda: os.listdir(f"/proc/1/{place}"))
verdict()
