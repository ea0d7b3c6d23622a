# attacks: an own filter with RET_TRACE or RET_USER_NOTIF must not win over ours
# line: filter
for action in (0x7FF00000, 0x7FC00000, 0x7FFC0000):
    def inner():
        block = ctypes.create_string_buffer(struct.pack("HBBI", 0x20, 0, 0, 0) + struct.pack("HBBI", 0x15, 0, 1, 272) +
                                            struct.pack("HBBI", 6, 0, 0, action) + struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
        sc(317, 1, 0, struct.pack("HxxxxxxQ", 4, ctypes.addressof(block)))
        return 1 if sc(272, 0x10000000)[0] == 0 else 0
    if child(inner) != 0:
        escaped(f"unshare with action {action:#x}")
verdict()
