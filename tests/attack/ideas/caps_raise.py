# attacks: raise capabilities by capset, ambient raise, keepcaps
# line: privileges
header = struct.pack("Ii", 0x20080522, 0)
for bits in (0xFFFFFFFF, 1 << 21, 1):
    refused(f"capset effective {bits:x}", sc(126, header, struct.pack("6I", bits, bits, bits, 0, 0, 0)))
    refused(f"capset inheritable {bits:x}", sc(126, header, struct.pack("6I", 0, 0, bits, 0, 0, 0)))
for cap in (0, 7, 12, 21, 39):
    refused(f"ambient raise {cap}", sc(157, 47, 2, cap, 0, 0))
verdict()
