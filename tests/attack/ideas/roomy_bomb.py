# attacks: processes and memory of the roomy profile: 256 and 1 GiB
# line: cgroup
# profile: roomy
count = 0
try:
    while count < 400:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        count += 1
except OSError as error:
    if error.errno != errno.EAGAIN:
        escaped(error)
if count != 255:
    escaped(f"{count} processes")
verdict()
