# attacks: names that flip between file, link and folder while the results are collected
# line: reader
# rootless: yes
SECRET = b"/root/cloche-test-secret"
os.mkdir("d")
open("d/f", "w").write("own")
os.mkdir("e")
os.symlink("/root", "l")
open("f", "w").write("own")
os.symlink(SECRET, "s")
open("d/cloche-test-secret", "w").write("own")
for first, second in ((b"f", b"s"), (b"d", b"l"), (b"d/f", b"s"), (b"e", b"l")):
    if os.fork() == 0:
        os.setsid()
        while True:
            sc(316, -100, first, -100, second, 2)  # RENAME_EXCHANGE
time.sleep(0.2)
verdict()
