# attacks: the host's /etc
# line: namespaces
# args: {hostname}
ALLOWED = {"passwd", "group", "hosts", "nsswitch.conf", "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "fonts",
           "matplotlibrc", "ssl", "mime.types", "localtime", "timezone", "protocols", "services", "host.conf", "magic",
           "python3", "ImageMagick-6", "ca-certificates", "locale.alias", "cloche", "debian_version", "os-release", "hostname", "shells"}
if set(os.listdir("/etc")) - ALLOWED:
    escaped(f"/etc has {sorted(set(os.listdir('/etc')) - ALLOWED)}")
if os.path.exists("/etc/ssl/private") and os.listdir("/etc/ssl/private"):
    escaped("/etc/ssl/private")
for folder, names, files in os.walk("/etc"):
    for name in files:
        if name.endswith(".key") or "private" in folder:
            escaped(f"{folder}/{name}")
for name in ("hostname", "hosts", "timezone"):
    if os.path.exists(f"/etc/{name}") and sys.argv[1] in open(f"/etc/{name}").read().split():
        escaped(f"the host's name is in /etc/{name}")
verdict()
