# attacks: fork until it fails: 15 more than the script
# line: cgroup
# rootless: yes
count = 0
try:
    while count < 200:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        count += 1
except OSError as error:
    if error.errno != errno.EAGAIN:
        escaped(error)
if count != 15:
    escaped(f"{count} processes")
verdict()
