# attacks: move the mount points themselves away, or put links in their place
# line: names
os.mkdir("x")
for path in ("/mnt/data", "/mnt", "/tmp", "/dev/shm", "/dev", "/run/cloche", "/run", "/usr", "/etc"):
    fails(f"rename {path}", lambda: os.rename(path, path + ".old"))
    fails(f"rmdir {path}", lambda: os.rmdir(path))
    refused(f"exchange {path}", sc(316, -100, path.encode(), -100, b"/mnt/data/x", 2))
for path in ("/", "/mnt", "/dev", "/run/cloche", "/usr", "/etc"):
    fails(f"chmod {path}", lambda: os.chmod(path, 0o777))
fails("link beside /mnt/data", lambda: os.symlink("/etc", "/mnt/other"))
verdict()
