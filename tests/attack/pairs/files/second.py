for folder in ("/mnt/data", "/tmp", "/dev/shm"):
    if os.listdir(folder):
        escaped(f"{folder} holds {os.listdir(folder)}")
if os.listdir("/run/cloche") != ["main.py"] or "of-the-" + "first" in open("/run/cloche/main.py").read():
    escaped("the script of the other")
verdict()
