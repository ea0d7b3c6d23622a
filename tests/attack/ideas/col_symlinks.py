# attacks: links to the host's files, by every kind of target, in place of results
# line: reader
# rootless: yes
TARGETS = ["/etc/passwd", "/root/cloche-test-secret", "../../../root/cloche-test-secret", "/proc/self/environ", "/", "/root",
           "/dev/zero", "/dev/random", "/proc/1/root/etc/shadow", "self", "/run/cloche/main.py", "/etc"]
os.mkdir("sub")
for number, target in enumerate(TARGETS):
    os.symlink(target, f"link{number}.txt")
    os.symlink(target, f"sub/link{number}.png")
os.symlink("self", "self")
os.symlink("/root", "folder")
os.symlink("..", "sub/up")
open("real.txt", "w").write("real")
verdict()
