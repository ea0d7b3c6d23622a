# attacks: kill everything that can be seen, again and again
# line: init
# rootless: yes
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
    pid = os.fork()
    if pid == 0:
        time.sleep(10)
        os._exit(0)
    try:
        os.kill(-1, number)  # everything but the caller and init
    except OSError as error:
        if error.errno not in (EPERM, errno.ESRCH):
            escaped(error)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
for pid in range(2, 400):
    if pid != os.getpid():
        try:
            os.kill(pid, signal.SIGKILL)
            escaped(f"there was a process {pid}")
        except OSError as error:
            if error.errno != errno.ESRCH:
                escaped(f"there is a process {pid}: {error}")
verdict()
