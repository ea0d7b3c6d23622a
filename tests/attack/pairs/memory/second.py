block = bytearray(200 << 20)
block[::4096] = b"x" * len(block[::4096])
count = 0
try:
    while count < 15:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        count += 1
except OSError as error:
    escaped(f"only {count} processes beside the neighbour: {error}")
verdict()
