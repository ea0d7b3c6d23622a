# attacks: children that go on printing and writing files after the script's end
# line: end
# within: 10
for number in range(4):
    if os.fork() == 0:
        os.setsid()
        out = open(f"grow{number}", "wb")
        while True:
            try:
                out.write(bytes(4096))
            except OSError:
                out.seek(0)
            os.write(2, b"still here\n" * 100)
time.sleep(0.3)
verdict()
