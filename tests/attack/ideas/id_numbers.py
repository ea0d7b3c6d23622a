# attacks: be somebody else: root, another user, another group
# line: ids
# rootless: yes
if os.getresuid() + os.getresgid() != (65534,) * 6:
    escaped(f"ids {os.getresuid()} {os.getresgid()}")
if set(os.getgroups()) - {65534}:
    escaped(f"groups {os.getgroups()}")
for uid in (0, 1, 1000, 100000, 65533, 2**32 - 2):
    for name, call in (("setuid", 105), ("setgid", 106)):
        refused(f"{name}({uid})", sc(call, uid))
    for name, call in (("setreuid", 113), ("setregid", 114)):
        refused(f"{name}({uid})", sc(call, uid, uid))
    for name, call in (("setresuid", 117), ("setresgid", 119)):
        refused(f"{name}({uid})", sc(call, uid, uid, uid))
    sc(122, uid)  # setfsuid and setfsgid answer the old id only
    sc(123, uid)
    if sc(122, 2**32 - 1)[0] != 65534 or sc(123, 2**32 - 1)[0] != 65534:
        escaped(f"setfsuid or setfsgid({uid}) worked")
refused("setgroups(root)", sc(116, 1, struct.pack("I", 0)))
refused("setgroups(none)", sc(116, 0, None))
verdict()
