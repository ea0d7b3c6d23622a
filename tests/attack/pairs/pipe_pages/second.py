import fcntl
reader, writer = os.pipe()
if fcntl.fcntl(writer, 1032) != 65536:
    escaped(f"a new pipe holds {fcntl.fcntl(writer, 1032)} bytes: the neighbour has used up our share")
fcntl.fcntl(writer, 1031, 1 << 20)
if fcntl.fcntl(writer, 1032) != 1 << 20:
    escaped("a pipe cannot be made larger")
verdict()
