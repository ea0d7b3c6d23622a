# attacks: signals to init by every call that sends one
# line: init
# rootless: yes
for number in (0, 1, 2, 9, 11, 15, 19, 34):
    fails(f"kill init {number}", lambda: os.kill(1, number), EPERM)
    refused(f"tkill {number}", sc(200, 1, number), EPERM)
    refused(f"tgkill {number}", sc(234, 1, 1, number), EPERM)
    info = struct.pack("iii", number, 0, -1) + bytes(116)
    refused(f"rt_sigqueueinfo {number}", sc(129, 1, number, info), EPERM)
    refused(f"rt_tgsigqueueinfo {number}", sc(297, 1, 1, number, info), EPERM)
refused("get_robust_list of init", sc(274, 1, bytes(8), bytes(8)), EPERM)
verdict()
