# attacks: a writable place without a limit on bytes or inodes
# line: tmpfs
# rootless: yes
MIB = 1 << 20
for path, size, inodes in (("/mnt/data", 100, 17000), ("/tmp", 100, 4096), ("/dev/shm", 64, 17000)):
    about = os.statvfs(path)
    if about.f_blocks * about.f_frsize != size * MIB:
        escaped(f"{path} has {about.f_blocks * about.f_frsize} bytes")
    if not 0 < about.f_files <= inodes:
        escaped(f"{path} has {about.f_files} inodes")
    if not about.f_flag & os.ST_NOSUID or not about.f_flag & 4:
        escaped(f"{path} has flags {about.f_flag:#x}")
verdict()
