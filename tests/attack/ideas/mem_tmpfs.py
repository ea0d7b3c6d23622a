# attacks: memory in files: home, /tmp and /dev/shm together
# line: memory
# expect: memory
# rootless: yes
for folder in ("/dev/shm", "/tmp", "/mnt/data"):
    try:
        with open(f"{folder}/f", "wb", buffering=0) as out:
            while True:
                out.write(bytes(1 << 20))
    except OSError as error:
        print(folder, error)
block = bytearray(100 << 20)
block[::4096] = b"x" * len(block[::4096])
verdict()
