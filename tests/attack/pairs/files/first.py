# attacks: files of another session: home, /tmp, /dev/shm, the script itself
# line: namespaces
for folder in ("/mnt/data", "/tmp", "/dev/shm"):
    open(f"{folder}/of-the-first", "w").write("secret of the first")
print("READY", flush=True)
time.sleep(20)
