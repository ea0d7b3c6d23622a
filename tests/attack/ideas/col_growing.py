# attacks: files that grow, shrink and vanish while they are read
# line: reader
# within: 10
for number in range(4):
    if os.fork() == 0:
        os.setsid()
        while True:
            with open(f"grow{number}", "wb") as out:
                out.write(bytes(1 << 20))
            os.truncate(f"grow{number}", 0)
            os.unlink(f"grow{number}")
time.sleep(0.2)
verdict()
