# attacks: execute a 32-bit program
# line: filter
# rootless: yes
code = bytes.fromhex("b814000000 cd80 31db b801000000 b32a cd80".replace(" ", ""))  # getpid(); exit(42)
base, size = 0x08048000, 52 + 32 + len(code)
head = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + 84, 52, 0, 0, 52, 32, 1, 0, 0, 0)
load = struct.pack("<8I", 1, 0, base, base, size, size, 5, 4096)
with open("elf32", "wb") as out:
    out.write(head + load + code)
os.chmod("elf32", 0o755)
try:
    status = subprocess.run(["./elf32"]).returncode
    if status not in (-signal.SIGSYS, -signal.SIGSEGV):
        escaped(f"a 32-bit program ended with {status}")
except OSError as error:
    if error.errno not in (errno.ENOEXEC, EACCES):
        escaped(error)
verdict()
