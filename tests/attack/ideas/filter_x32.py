# attacks: the x32 numbers (bit 30), under which some filters see unknown calls
# line: filter
# rootless: yes
for number in [0, 1, 2, 16, 39, 41, 56, 59, 62, 101, 165, 272, 298, 321] + list(range(512, 548)):
    for high in (0, 1 << 31, 1 << 32):
        refused(f"x32 call {number} high {high:#x}", sc(number | 0x40000000 | high, 0, 0, 0, 0, 0), ENOSYS)
verdict()
