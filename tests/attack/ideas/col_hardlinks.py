# attacks: one file of 60 MiB under 30 names: the caller's disk must not hold it 30 times
# line: reader
# within: 20
with open("one.bin", "wb") as out:
    for _ in range(60):
        out.write(os.urandom(4096) * 256)
for number in range(30):
    os.link("one.bin", f"name{number}.bin")
verdict()
