# attacks: the clocks, the host's name
# line: denied calls
spec = struct.pack("qq", 0, 0)
for clock in range(12):
    refused(f"clock_settime({clock})", sc(227, clock, spec), EPERM)
refused("settimeofday", sc(164, spec, None), EPERM)
refused("adjtimex", sc(159, bytes(512)), EPERM)
refused("clock_adjtime", sc(305, 0, bytes(512)), EPERM)
refused("sethostname", sc(170, b"owned", 5), EPERM)
refused("setdomainname", sc(171, b"owned", 5), EPERM)
verdict()
