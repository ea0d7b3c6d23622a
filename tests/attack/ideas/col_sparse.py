# attacks: 3 GB of holes: the caller's disk must not be filled with zeros
# line: reader
# within: 20
for number in range(30):
    with open(f"hole{number}.bin", "wb") as out:
        out.truncate(100 << 20)
verdict()
