# attacks: the script's own file and its folder
# line: names
for path in ("/run/cloche/main.py", "/run/cloche/other"):
    for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_TRUNC):
        fails(f"open {path}", lambda: os.open(path, flags), EROFS, EACCES, errno.ENOENT)
fails("unlink", lambda: os.unlink("/run/cloche/main.py"))
fails("chmod", lambda: os.chmod("/run/cloche/main.py", 0o666))
if "attacks: the script's own file" not in open("/run/cloche/main.py").read():
    escaped("the script is not at /run/cloche/main.py")
verdict()
