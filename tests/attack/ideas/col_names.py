# attacks: names that a list, a terminal or a shell would misread
# line: reader
# rootless: yes
NAMES = [b"line\nbreak.txt", b"\x1b[31mred\x1b[0m", b"\xff\xfe\xfa", b"-rf", b"--out", b"...", b". .", b"~", b"$(id)", b"`id`", b"'", b'"',
         b"a\\b", b"\x01\x02", b"\x7f", b"x" * 255, "\u202egnp.exe".encode(), "\u0416".encode() * 127, b"name (2).txt", b"name.txt",
         b"con", b"nul.txt", b" ", b"trail ", b"\xed\xa0\x80", b"..a", b"%2e%2e%2f", b"*", b"a\tb", b"\r\n", b".hidden"]
for name in NAMES:
    with open(name, "wb") as out:
        out.write(b"own")
    os.mkdir(b"dir " + name[:200])
    with open(b"dir " + name[:200] + b"/" + name, "wb") as out:
        out.write(b"own")
verdict()
