# attacks: walk above the root by .., descriptors, fchdir, a moved folder
# line: namespaces
root = os.stat("/")
for path in ("/..", "/../../..", "/mnt/data/../../../..", "/usr/bin/../../../.."):
    about = os.stat(path)
    if (about.st_dev, about.st_ino) != (root.st_dev, root.st_ino):
        escaped(f"{path} is above the root")
fd = os.open("/", os.O_RDONLY)
up = os.stat("../../..", dir_fd=fd)
if (up.st_dev, up.st_ino) != (root.st_dev, root.st_ino):
    escaped("a descriptor leads above the root")
os.makedirs("a/b")
inner = os.open("a/b", os.O_RDONLY)
os.rename("a/b", "b")
os.fchdir(inner)
for _ in range(20):
    os.chdir("..")
if os.getcwd() != "/":
    escaped(f"a moved folder led to {os.getcwd()}")
verdict()
