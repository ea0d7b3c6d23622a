# attacks: what a copy was handed to become the script: sockets, pagemaps, descriptors under any number, forged words on them
# line: zygote
# rootless: yes
import array

for fd in range(3, 70000):
    try:
        os.fstat(fd)
        escaped(f"descriptor {fd}")
    except OSError:
        pass
# words that init would believe, on descriptors that it may have had
for number in 3, 4, 5:
    ours, theirs = (end.detach() for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    if theirs == number:
        theirs = os.dup(theirs)
    if ours != number:
        os.dup2(ours, number)
    for kind in range(8):
        os.write(number, struct.pack("<IiIiQQ", kind, 0, 0, 0, 0, 0))
    os.closerange(3, 32)
try:
    escaped(os.open("/proc/self/pagemap", os.O_RDONLY))
except OSError:
    pass
# nothing of ours in flight either: a socket that we did not make cannot be received from
probe, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
probe.setblocking(False)
try:
    probe.recvmsg(100, socket.CMSG_LEN(100 * array.array("i").itemsize))
    escaped("a message from nobody")
except BlockingIOError:
    pass
verdict()
