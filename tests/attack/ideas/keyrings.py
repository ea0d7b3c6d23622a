# attacks: the kernel's keyrings, which are counted by uid and may hold the caller's keys
# line: denied calls
for command in range(0, 33):
    refused(f"keyctl({command})", sc(250, command, 2**64 - 3, 0, 0, 0), EPERM)
refused("add_key", sc(248, b"user", b"n", b"x", 1, 2**64 - 3), EPERM)
refused("request_key", sc(249, b"user", b"n", None, 2**64 - 3), EPERM)
verdict()
