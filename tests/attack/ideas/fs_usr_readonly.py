# attacks: change the host's /usr
# line: namespaces
# rootless: yes
for mount in ("/", "/usr", "/etc", "/dev", "/run/cloche"):
    if not os.statvfs(mount).f_flag & os.ST_RDONLY:
        escaped(f"{mount} is writable")
target = "/usr/bin/env"
TRIES = {
    "open": lambda: os.open(target, os.O_RDWR), "append": lambda: os.open(target, os.O_WRONLY | os.O_APPEND),
    "truncate": lambda: os.truncate(target, 0), "chmod": lambda: os.chmod(target, 0o777), "utime": lambda: os.utime(target),
    "unlink": lambda: os.unlink(target), "rename": lambda: os.rename(target, "/usr/bin/env2"),
    "link": lambda: os.link(target, "/usr/bin/env2"), "symlink": lambda: os.symlink("x", "/usr/x"),
    "mkdir": lambda: os.mkdir("/usr/x"), "create": lambda: os.open("/usr/x", os.O_CREAT | os.O_WRONLY),
    "tmpfile": lambda: os.open("/usr/lib", os.O_TMPFILE | os.O_RDWR), "xattr": lambda: os.setxattr(target, "user.x", b"1"),
    "fifo": lambda: os.mkfifo("/usr/x"), "local": lambda: os.open("/usr/local/x", os.O_CREAT | os.O_WRONLY),
    "pyc": lambda: os.open("/usr/lib/python3/x.pyc", os.O_CREAT | os.O_WRONLY),
}
for name, action in TRIES.items():
    fails(f"{name} in /usr", action, EROFS, EACCES, EPERM, errno.ENOENT, errno.EXDEV)
verdict()
