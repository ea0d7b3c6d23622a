# attacks: files of /proc/self that change rights or limits
# line: proc
# profile: roomy
TRIES = {"uid_map": b"0 0 1", "gid_map": b"0 0 1", "setgroups": b"allow", "oom_score_adj": b"-1000", "loginuid": b"0",
         "timens_offsets": b"monotonic 1 0", "attr/current": b"unconfined", "limits": b"x", "projid_map": b"0 0 1"}
first = int(open("/proc/self/oom_score_adj").read())
for name, content in TRIES.items():
    def write():
        fd = os.open(f"/proc/self/{name}", os.O_WRONLY)
        return os.write(fd, content)
    fails(f"write {name}", write)
if first < 0:
    escaped(f"oom_score_adj {first}: the kernel would rather kill others")
verdict()
