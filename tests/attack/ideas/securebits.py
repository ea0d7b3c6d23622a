# attacks: securebits not locked, or unlocked again
# line: privileges
bits, _ = sc(157, 27)
for name, bit in (("noroot", 0), ("no_setuid_fixup", 2), ("no_cap_ambient_raise", 6)):
    if not (bits >> bit & 1 and bits >> bit + 1 & 1):
        escaped(f"{name} is not set and locked: {bits:#x}")
if not bits >> 5 & 1:
    escaped(f"keep_caps is not locked: {bits:#x}")
for value in (0, 1, 0x2F, 0xFF):
    refused(f"PR_SET_SECUREBITS {value:#x}", sc(157, 28, value, 0, 0, 0), EPERM)
refused("PR_SET_KEEPCAPS", sc(157, 8, 1, 0, 0, 0))
verdict()
