# attacks: memory in memfds
# line: memory
# expect: memory
for number in range(10):
    fd = os.memfd_create(f"m{number}")
    for _ in range(90):
        os.write(fd, bytes(1 << 20))
verdict()
