# attacks: an own Landlock domain cannot give back what was taken
# line: landlock
ruleset, _ = sc(444, struct.pack("QQQ", 0x1FFF, 0, 0), 8, 0)
if ruleset >= 0:
    for path in ("/", "/usr", "/mnt/data"):
        fd = os.open(path, os.O_PATH)
        sc(445, ruleset, 1, struct.pack("<Qi", 0x1FFF, fd), 0)
    sc(446, ruleset, 0)
for path in ("/x", "/usr/x", "/etc/x", "/dev/x", "/run/x", "/mnt/x", "/run/cloche/x"):
    fails(f"write {path}", lambda: open(path, "w"))
verdict()
