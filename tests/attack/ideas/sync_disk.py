# attacks: has the disk that /usr lies on write out its cache, again and again
# line: denied calls
host, own = os.open("/usr/bin/env", os.O_RDONLY), os.open("x", os.O_RDWR | os.O_CREAT, 0o600)
for name, number in (("fsync", 74), ("fdatasync", 75), ("sync", 162), ("syncfs", 306)):
    for fd in (host, own, -1):  # the kernel would know that -1 is none: it has not been asked
        if sc(number, fd) != (0, 0):
            escaped(f"{name}({fd}) reached the kernel")
verdict()
