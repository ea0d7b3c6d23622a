# attacks: forged credentials in a message, and descriptors passed in circles
# line: ids
left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
right.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
for pid, uid, gid in ((1, 0, 0), (os.getpid(), 0, 65534), (1, 65534, 65534), (os.getpid(), 65534, 0)):
    forged = [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, struct.pack("iII", pid, uid, gid))]
    fails(f"credentials {pid} {uid} {gid}", lambda: left.sendmsg([b"x"], forged), EPERM, errno.ESRCH, errno.EINVAL)
for _ in range(200):  # sockets in flight in their own queues: only the collector can free them
    one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        socket.send_fds(one, [b"x"], [one.fileno(), two.fileno()] * 20)
    except OSError:
        break
verdict()
