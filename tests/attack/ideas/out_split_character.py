# attacks: characters cut in two by the writes, and by the cut between head and tail
# line: supervisor
text = "\u0416\U0001f600\u4e2d".encode()
for _ in range(3):
    for byte in text:
        os.write(1, bytes([byte]))
        time.sleep(0.001)
os.write(1, text * 300000)
print()
verdict()
