# attacks: write to every descriptor number as if it were our report or control channel
# line: inheritance
for fd in range(3, 1024):
    for message in (b"\0" * 64, b'{"stage":"setup"}'):
        try:
            os.write(fd, message)
            escaped(f"descriptor {fd} took a message")
        except OSError:
            pass
verdict()
