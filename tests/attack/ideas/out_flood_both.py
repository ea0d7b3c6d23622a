# attacks: both streams at once, from several processes
# line: supervisor
# within: 40
for stream in (1, 2, 1, 2):
    if os.fork() == 0:
        for _ in range(300):
            os.write(stream, b"y" * 65535 + b"\n")
        os._exit(0)
for _ in range(4):
    os.wait()
print()
verdict()
