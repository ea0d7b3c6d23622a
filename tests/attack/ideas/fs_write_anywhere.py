# attacks: write in any folder but the home, /tmp and /dev/shm
# line: landlock
HOME = ("/mnt/data", "/tmp", "/dev/shm")
count = 0
for folder, names, files in os.walk("/"):
    names[:] = [n for n in names if os.path.join(folder, n) not in HOME and not os.path.islink(os.path.join(folder, n))]
    if folder.count("/") > 4 or count > 3000:
        names.clear()
    count += 1
    probe = os.path.join(folder, "probe")
    fails(f"write in {folder}", lambda: os.open(probe, os.O_CREAT | os.O_WRONLY))
    if os.access(folder, os.W_OK):
        escaped(f"{folder} says it is writable")
if count < 20:
    escaped(f"only {count} folders seen")
verdict()
