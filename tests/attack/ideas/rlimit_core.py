# attacks: lower RLIMIT_CORE below 1, which lets the kernel start the host's core handler as root
# line: rlimits
import resource

for limit in ((0, 1), (0, 0)):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, limit)
    except (OSError, ValueError):
        pass
    sc(160, 4, struct.pack("QQ", *limit))
    sc(302, 0, 4, struct.pack("QQ", *limit), None)
    if resource.getrlimit(resource.RLIMIT_CORE) != (1, 1):
        escaped(f"the core limit became {resource.getrlimit(resource.RLIMIT_CORE)}")
verdict()
