# attacks: a limit that was not set
# line: rlimits
# rootless: yes
import resource as r
MIB = 1 << 20
EXACT = {r.RLIMIT_FSIZE: 100 * MIB, r.RLIMIT_CORE: 1, r.RLIMIT_NOFILE: 1024, r.RLIMIT_MSGQUEUE: 0, r.RLIMIT_MEMLOCK: MIB,
         r.RLIMIT_SIGPENDING: 256, r.RLIMIT_NICE: 0, r.RLIMIT_RTPRIO: 0}
for which, wanted in EXACT.items():
    if r.getrlimit(which) != (wanted, wanted):
        escaped(f"limit {which}: {r.getrlimit(which)}, not {wanted}")
soft, hard = r.getrlimit(r.RLIMIT_STACK)
if not (8 * MIB <= soft <= 64 * MIB and 8 * MIB <= hard <= 64 * MIB):
    escaped(f"stack {soft} {hard}")
verdict()
