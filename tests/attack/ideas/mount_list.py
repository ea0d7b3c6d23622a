# attacks: learn the host's paths and devices from statmount and listmount
# line: namespaces
args = struct.pack("IIQQQ", 32, 0, 0xFFFFFFFFFFFFFFFF, 0, 0)
ids = (ctypes.c_uint64 * 64)()
count, _ = sc(458, args, ids, 64, 0)
for index in range(max(count, 0)):
    buffer = ctypes.create_string_buffer(8192)
    result, _ = sc(457, struct.pack("IIQQQ", 32, 0, ids[index], 0x7FF, 0), buffer, 8192, 0)
    if result == 0:
        for word in (b"/work", b"/var/lib", b"/root", b"/home", b"/dev/vda", b"/dev/sd", b"/tmp/"):
            if word in buffer.raw:
                escaped(f"statmount shows {word!r}")
verdict()
