# attacks: watch the neighbours through shared folders: inotify, fanotify, and dnotify, which hides in fcntl
# line: neighbours
# rootless: yes
import fcntl
refused("inotify_init", sc(253), EPERM)
refused("inotify_init1", sc(294, 0), EPERM)
refused("inotify_add_watch", sc(254, 0, b"/usr", 1), EPERM)
refused("inotify_rm_watch", sc(255, 0, 1), EPERM)
refused("fanotify_init", sc(300, 0, 0), EPERM)
refused("fanotify_mark", sc(301, 0, 1, 1, -100, b"/usr"))
signal.signal(signal.SIGIO, signal.SIG_IGN)
for path in ("/usr/bin", "/usr", "/"):
    fd = os.open(path, os.O_RDONLY)
    fails(f"dnotify on {path}", lambda: fcntl.fcntl(fd, 1026, 0x80000001))
verdict()
