# attacks: any capability in any of the five sets
# line: privileges
# rootless: yes
header = struct.pack("Ii", 0x20080522, 0)
data = ctypes.create_string_buffer(24)
sc(125, header, data)
sets = struct.unpack("6I", data.raw)
if any(sets):
    escaped(f"capget {sets}")
for cap in range(64):
    bound, _ = sc(157, 23, cap, 0, 0, 0)  # PR_CAPBSET_READ; EINVAL above the last one
    if bound == 1:
        escaped(f"capability {cap} in the bounding set")
    ambient, _ = sc(157, 47, 1, cap, 0, 0)  # PR_CAP_AMBIENT_IS_SET
    if ambient == 1:
        escaped(f"capability {cap} in the ambient set")
verdict()
