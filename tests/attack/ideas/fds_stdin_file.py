# attacks: the file given with --stdin, as a descriptor of the host's file system
# line: inheritance
# stdin: typed by the caller
if sys.stdin.readline() != "typed by the caller\n":
    escaped("stdin was not given")
for name, action in (("write", lambda: os.write(0, b"x")), ("truncate", lambda: os.ftruncate(0, 0)),
                     ("chmod", lambda: os.fchmod(0, 0o666))):
    fails(f"{name} of the caller's file", action)
verdict()
