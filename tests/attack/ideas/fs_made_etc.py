# attacks: the host's /etc
# line: namespaces
ALLOWED = {"passwd", "group", "hosts", "nsswitch.conf", "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "fonts",
           "matplotlibrc", "ssl", "mime.types", "localtime", "timezone", "protocols", "services", "host.conf", "magic",
           "python3", "python3.11", "python3.13", "ImageMagick-6", "ca-certificates", "locale.alias"}
if set(os.listdir("/etc")) - ALLOWED:
    escaped(f"/etc has {sorted(set(os.listdir('/etc')) - ALLOWED)}")
if os.path.exists("/etc/ssl/private") and os.listdir("/etc/ssl/private"):
    escaped("/etc/ssl/private")
for folder, names, files in os.walk("/etc"):
    for name in files:
        if name.endswith(".key") or "private" in folder:
            escaped(f"{folder}/{name}")
verdict()
