# attacks: use up inodes: in the home, /tmp and /dev/shm
# line: tmpfs
for folder in ("/tmp", "/dev/shm", "/mnt/data"):
    count = 0
    try:
        while count < 40000:
            os.close(os.open(f"{folder}/n{count}", os.O_CREAT | os.O_WRONLY))
            count += 1
    except OSError as error:
        if error.errno != errno.ENOSPC:
            escaped(f"{folder}: {error}")
    if count >= 17000:
        escaped(f"{count} files in {folder}")
    for number in range(count):
        os.unlink(f"{folder}/n{number}")
verdict()
