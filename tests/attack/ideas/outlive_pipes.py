# attacks: a daemon that keeps stdout and stderr open: the answer must not wait for it
# line: end
# within: 8
# rootless: yes
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
os.wait()
verdict()
