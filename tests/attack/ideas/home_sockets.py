# attacks: a socket with a name in the home, which a live interpreter of the session would find, and be handed descriptors by
# line: landlock
# rootless: yes
import errno
import stat

os.mkdir("folder")
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    for name in ("s", "/mnt/data/s", "folder/s", "/mnt/data/../data/folder/s"):
        with socket.socket(socket.AF_UNIX, kind) as end:
            fails(f"bind {name}", lambda: end.bind(name), errno.EACCES)
    for place in ("/tmp", "/dev/shm"):  # the cell's own: programs that talk to themselves need it
        with socket.socket(socket.AF_UNIX, kind) as end:
            end.bind(f"{place}/s")
        for move in (os.rename, os.link):
            fails(f"{move.__name__} from {place}", lambda: move(f"{place}/s", "s"), errno.EXDEV, errno.EACCES)
        os.unlink(f"{place}/s")
fails("mknod", lambda: os.mknod("s", stat.S_IFSOCK | 0o600), errno.EACCES, errno.EPERM)
verdict()
