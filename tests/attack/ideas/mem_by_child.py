# attacks: memory in a child: the whole run ends, not the child alone
# line: memory
# expect: memory
if os.fork() == 0:
    block = bytearray(400 * 10**6)
    block[::4096] = b"x" * len(block[::4096])
os.wait()
time.sleep(3)
verdict()
