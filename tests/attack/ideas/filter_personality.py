# attacks: personalities that weaken the address space or change the architecture
# line: denied calls
for value in (0x0040000, 0x0400000, 0x0008, 0x0100000, 0x4000000, 0x1000000, 0x0200000, 0x8000000, 0x0020000, 1):
    for high in (0, 1 << 32):
        refused(f"personality({value | high:#x})", sc(135, value | high), EPERM)
result, error = sc(135, 0xFFFFFFFF)
if result not in (0, -1):
    escaped(f"the personality is {result:#x}")
verdict()
