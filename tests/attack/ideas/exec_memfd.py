# attacks: a program in a memfd, sealed and not, run without a name; it must have no more rights than the script
# line: privileges
# rootless: yes
fd = os.memfd_create("id", 0)
with open("/usr/bin/id", "rb") as source:
    os.write(fd, source.read())
os.fchmod(fd, 0o6755)
reader, writer = os.pipe()
pid = os.fork()
if pid == 0:
    os.dup2(writer, 1)
    argv = (ctypes.c_char_p * 3)(b"id", b"-u", None)
    empty = (ctypes.c_char_p * 1)(None)
    sc(322, fd, b"", argv, empty, 0x1000)
    os._exit(9)
os.waitpid(pid, 0)
os.close(writer)
if os.read(reader, 100).strip() not in (b"65534", b""):
    escaped("a program in a memfd has other rights")
verdict()
