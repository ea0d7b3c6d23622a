# attacks: host paths in argv, sys.path, the auxiliary vector, the script's own name
# line: inheritance
libc.getauxval.restype = ctypes.c_ulong
shown = [sys.executable, *sys.argv[:1], *sys.orig_argv, *sys.path, os.getcwd(), __file__]
for kind in (31, 15):  # AT_EXECFN, AT_PLATFORM
    address = libc.getauxval(kind)
    if address:
        shown.append(ctypes.string_at(address).decode())
for text in shown:
    if any(part in text for part in ("/work", "/root", "/home", "/var", "/tmp", "pytest", "build")):
        escaped(f"a host path: {text}")
for kind, name in ((11, "uid"), (12, "euid"), (13, "gid"), (14, "egid")):
    if libc.getauxval(kind) not in (65534, 0):
        escaped(f"the auxiliary vector shows {name} {libc.getauxval(kind)}")
if sys.path[0] != "/mnt/data" or os.getcwd() != "/mnt/data":
    escaped(f"starts in {os.getcwd()} with {sys.path[0]}")
verdict()
