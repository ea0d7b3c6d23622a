# attacks: 400 MB of ordinary memory
# line: memory
# expect: memory
# rootless: yes
block = bytearray(400 * 10**6)
block[::4096] = b"x" * len(block[::4096])
verdict()
