# attacks: a stopped child that outlives the script
# line: end
# within: 8
pid = os.fork()
if pid == 0:
    os.setsid()
    os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(60)
os.waitpid(pid, os.WUNTRACED)
verdict()
