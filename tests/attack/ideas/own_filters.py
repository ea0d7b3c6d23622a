# attacks: filters of one's own: code in memory that is one for the host, and a log without a limit
# line: filter
refused("seccomp", sc(317, 1, 0, bytes(16)))
refused("prctl PR_SET_SECCOMP", sc(157, 22, 2, bytes(16), 0, 0))
plain = socket.socket()
for option in (26, 50, 51, 52):
    refused(f"SOL_SOCKET option {option}", sc(54, plain.fileno(), 1, option, bytes(16), 16), EPERM)
plain.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
verdict()
