# attacks: nothing; an ordinary clone and fork must go on working, or the tests of clone prove nothing
# line: filter
pid, _ = sc(56, 17, 0, 0, 0, 0)
if pid == 0:
    os._exit(7)
if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 7 or child(lambda: 5) != 5:
    escaped("plain clone does not work")
verdict()
