# attacks: sockets of the host's services, by path and by abstract name
# line: namespaces
NAMES = ["/run/docker.sock", "/var/run/docker.sock", "/run/systemd/private", "/run/dbus/system_bus_socket", "/dev/log",
         "/run/cloche/jaild.sock", "/run/cloche.sock", "/tmp/.X11-unix/X0", "\0/tmp/.X11-unix/X0", "\0/org/freedesktop/dbus",
         "\0cloche", "\0/containerd-shim", "\0", "/run/user/1000/bus", "/run/snapd.socket"]
for name in NAMES:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as end:
            fails(f"connect {name!r}", lambda: end.connect(name))
verdict()
