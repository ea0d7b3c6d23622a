# attacks: give files to somebody else, or a group that one is not in
# line: ids
open("mine", "w").close()
for uid, gid in ((0, -1), (-1, 0), (1, 1), (1000, 1000), (65533, -1), (100000, 100000)):
    fails(f"chown {uid}:{gid}", lambda: os.chown("mine", uid, gid), EPERM, errno.EINVAL)
fails("chown of a system file", lambda: os.chown("/usr/bin/id", 65534, 65534))
verdict()
