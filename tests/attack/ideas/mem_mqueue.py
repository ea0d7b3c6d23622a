# attacks: POSIX message queues
# line: denied calls
for name in (b"q", b"queue"):
    refused("mq_open", sc(240, name, 0o102, 0o600, None), EPERM, ENOSYS)
    refused("mq_unlink", sc(241, name), EPERM, ENOSYS)
verdict()
