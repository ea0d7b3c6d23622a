# attacks: raise the limits, for oneself and by one's number
# line: rlimits
import resource as r
for which in (r.RLIMIT_FSIZE, r.RLIMIT_CORE, r.RLIMIT_NOFILE, r.RLIMIT_MSGQUEUE, r.RLIMIT_MEMLOCK, r.RLIMIT_SIGPENDING,
              r.RLIMIT_NICE, r.RLIMIT_RTPRIO, r.RLIMIT_STACK):
    soft, hard = r.getrlimit(which)
    for pid in (0, os.getpid()):
        for value in (hard + 1, 2**64 - 1):
            if hard == -1:
                escaped(f"limit {which} is open")
                continue
            answer = sc(302, pid, which, struct.pack("QQ", value, value), None)
            if which == r.RLIMIT_CORE and answer[0] == 0 and r.getrlimit(which) == (1, 1):
                continue  # told yes, and nothing done
            refused(f"prlimit64({pid}, {which}, {value})", answer)
verdict()
