# attacks: io_uring, which makes calls that no filter sees
# line: denied calls
# rootless: yes
params = ctypes.create_string_buffer(256)
for entries in (0, 1, 8, 1 << 32 | 1):
    refused(f"io_uring_setup({entries})", sc(425, entries, params), EPERM)
refused("io_uring_enter", sc(426, 0, 1, 0, 0, None, 0), EPERM)
for opcode in (0, 9, 13, 1 << 31):
    refused(f"io_uring_register({opcode})", sc(427, -1, opcode, None, 0), EPERM)
verdict()
