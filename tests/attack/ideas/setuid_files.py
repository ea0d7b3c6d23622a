# attacks: setuid and setgid programs of the host's /usr, and own ones
# line: privileges
# rootless: yes
import shutil
import stat
for where in ("/", "/usr", "/usr/bin", "/mnt/data", "/tmp", "/dev/shm", "/run/cloche"):
    if not os.statvfs(where).f_flag & os.ST_NOSUID:
        escaped(f"{where} is not nosuid")
for name in ("su", "passwd", "newuidmap", "chfn", "mount", "umount", "sudo", "fusermount3"):
    path = shutil.which(name)
    if path and os.stat(path).st_mode & stat.S_ISUID:
        done = subprocess.run([path, "--help"], capture_output=True, timeout=5)
        if name == "su":
            done = subprocess.run([path, "-c", "id -u"], capture_output=True, timeout=5, stdin=subprocess.DEVNULL)
            if done.stdout.strip() == b"0":
                escaped("su gave root")
shutil.copy("/usr/bin/id", "id")
os.chmod("id", 0o6755)
if subprocess.run(["./id", "-u"], capture_output=True, text=True).stdout.strip() != "65534":
    escaped("an own setuid copy changed the uid")
fails("chown to root", lambda: os.chown("id", 0, 0), EPERM, errno.EINVAL)
verdict()
