# attacks: the extension of the zygotes, loaded by the script, which serves it a request of its own
# line: zygote
# rootless: yes
sys.path.insert(0, "/etc/cloche")
import fcntl

import cloche_zygote as native

MAGIC = 0x31475A43
for has_leaf, tasks in (0, 0), (1, 0), (0, 2):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    low, ours = ours, socket.socket(fileno=fcntl.fcntl(ours.fileno(), fcntl.F_DUPFD, 50))  # 3 is for the other end
    low.close()
    if os.fork() == 0:
        os.dup2(theirs.fileno(), 3)
        place = os.open("/mnt/data", os.O_RDONLY)
        pidfd = sc(434, 1, 0)[0]  # of init: may be had, and is no way in
        fds = [pidfd if pidfd >= 0 else place, os.dup(ours.fileno()), *[place] * (has_leaf + tasks)]
        socket.send_fds(ours, [struct.pack("<IIIII", MAGIC, 7, has_leaf, tasks, 0)], fds)
        os.close(fds[1]), ours.close()  # with the last end of the other side it ends
        try:
            native.serve()
            os._exit(77)  # we are a copy, with rights
        except BaseException:
            os._exit(0)
    ours.close(), theirs.close()
    status = os.waitstatus_to_exitcode(os.wait()[1])
    if status == 77:
        escaped(f"the script served itself ({has_leaf}, {tasks})")
header = struct.pack("<Ii", 0x20080522, 0)
sets = ctypes.create_string_buffer(24)
if sc(125, header, sets)[0] != 0 or any(sets.raw):
    escaped("capabilities")
verdict()
