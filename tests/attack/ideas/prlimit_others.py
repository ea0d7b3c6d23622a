# attacks: limits of init, of neighbours, of all pids that exist here
# line: dumpable
# rootless: yes
own = {os.getpid()}
for pid in range(1, 64):
    if pid in own:
        continue
    for resource in (0, 4, 7):
        result, error = sc(302, pid, resource, struct.pack("QQ", 1, 1), None)
        if result == 0:
            escaped(f"prlimit64 set limit {resource} of {pid}")
refused("prlimit64 read of init", sc(302, 1, 7, None, bytes(16)))
verdict()
