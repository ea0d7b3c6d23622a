# attacks: more descriptors than RLIMIT_NOFILE, by dup2 and by passing them
# line: rlimits
count = 0
try:
    while count < 5000:
        os.open("/dev/null", os.O_RDONLY)
        count += 1
except OSError as error:
    if error.errno != errno.EMFILE:
        escaped(error)
if count > 1024:
    escaped(f"{count} descriptors")
fails("dup2 above the limit", lambda: os.dup2(0, 1024), errno.EBADF)
verdict()
