# attacks: call numbers above 32 bits, of which the kernel looks at the low half only
# line: filter
for number in (101, 155, 161, 165, 166, 248, 250, 272, 298, 308, 310, 321, 323, 425, 428, 430, 442):
    for high in (1 << 32, 1 << 63, 0xFFFFFFFF << 32):
        refused(f"call {number} high {high:#x}", sc(number | high, 0, 0, 0, 0, 0), EPERM, ENOSYS)
verdict()
