# attacks: type into the caller's terminal (TIOCSTI, TIOCLINUX), with high bits that the kernel cuts off
# line: filter
# rootless: yes
for fd in (0, 1, 2, 99):
    for name, request in (("TIOCSTI", 0x5412), ("TIOCLINUX", 0x541C)):
        for high in (0, 1 << 32, 1 << 63, 0xFFFFFFFF << 32):
            refused(f"{name} with {high:#x} on {fd}", sc(16, fd, request | high, b"x"), EPERM)
result, error = sc(16, 1, 0x541B, ctypes.c_int())  # FIONREAD stays allowed
if result == -1 and error == EPERM:
    escaped("the filter refuses every ioctl; this idea proves nothing")
verdict()
