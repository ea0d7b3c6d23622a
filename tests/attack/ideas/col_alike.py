# attacks: names that become one name once they are repaired, and names that the numbering would choose
# line: reader
NAMES = [b"a\xff", b"a\xfe", b"a\xef\xbf\xbd", b"a\xed\xb0\x80", b"b.txt", b"b (2).txt", b"b (3).txt", b"B.txt", b"b.txt ",
         b"x" * 251 + b".txt", b"x" * 247 + b" (2).txt", "\u00e9".encode(), "e\u0301".encode()]
for name in NAMES:
    with open(name, "wb") as out:
        out.write(name)
    folder = b"in " + name[:240]
    os.makedirs(folder, exist_ok=True)
    with open(folder + b"/" + name, "wb") as out:
        out.write(name)
verdict()
