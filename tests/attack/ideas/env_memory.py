# attacks: the caller's secrets in the run's own memory: the stack above the environment, the heap, the libraries' data
# line: inheritance
# rootless: yes
# args: {secret}
needle = sys.argv[1].encode()  # backwards, so that the needle is not found in itself
libc.getauxval.restype = ctypes.c_ulong
reader, writer = os.pipe()


def page(address):
    """One page of memory or nothing: write() answers EFAULT where there is none."""
    count = libc.write(writer, ctypes.c_void_p(address), 4096)
    return os.read(reader, count) if count > 0 else b""


libc.sbrk.restype = ctypes.c_ulong
tops = {"stack": libc.getauxval(31), "random": libc.getauxval(25), "heap": libc.sbrk(0), "program": libc.getauxval(3),
        "libc": ctypes.cast(libc.printf, ctypes.c_void_p).value, "loader": libc.getauxval(7)}
seen = 0
for name, top in tops.items():
    before = b""
    for address in range((top & ~4095) - (2 << 20), (top & ~4095) + (2 << 20), 4096):
        now = page(address)
        seen += len(now)
        if needle in (before[-64:] + now)[::-1]:
            escaped(f"the caller's secret is in memory near {name}")
            break
        before = now
if seen < 1 << 20:
    escaped(f"only {seen} bytes could be read; this idea proves nothing")
verdict()
