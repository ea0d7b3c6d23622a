# attacks: device nodes: others than the five, changed ones
# line: namespaces
WANTED = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9)}
found = set(os.listdir("/dev")) - {"shm"}
for name in found & {"fd", "stdin", "stdout", "stderr"}:  # links that lead nowhere without /proc
    if not os.readlink(f"/dev/{name}").startswith("/proc/self/fd") or os.path.exists(f"/dev/{name}"):
        escaped(f"/dev/{name} leads somewhere")
    found.remove(name)
if found != set(WANTED):
    escaped(f"/dev holds {sorted(found ^ set(WANTED))} more or less")
for name, number in WANTED.items():
    about = os.stat(f"/dev/{name}")
    if (os.major(about.st_rdev), os.minor(about.st_rdev)) != number:
        escaped(f"/dev/{name} is {about.st_rdev:x}")
    fails(f"chmod /dev/{name}", lambda: os.chmod(f"/dev/{name}", 0o600))
    fails(f"utime /dev/{name}", lambda: os.utime(f"/dev/{name}"))
    fails(f"unlink /dev/{name}", lambda: os.unlink(f"/dev/{name}"))
open("/dev/null", "w").write("x")
with open("/dev/urandom", "rb") as source:
    for request, size in ((0x5203, 8), (0x40045201, 4), (0x5204, 0), (0x5206, 0), (0x5207, 0)):
        refused(f"random ioctl {request:#x}", sc(16, source.fileno(), request, bytes(16)))
verdict()
