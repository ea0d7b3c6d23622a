# attacks: a report whose lengths and tags lie to its reader
# line: supervisor
import sys
memory = getattr(sys, "display" + "hook").__globals__["memory"]  # the bootstrap's, which goes without its hook where the word is
size = len(memory)
LIES = [b"\x01\xff\xff\xff\xff", b"\x01" + (size - 5).to_bytes(4, "little"), b"\x01" + (size - 4).to_bytes(4, "little"),
        b"\xff\0\0\0\0", b"\x04\0\0\0\0", b"\x01\xfb\xff\xff\x7f", b"\x03\0\0\0\x80"]
lie = LIES[os.getrandom(1)[0] % len(LIES)]
memory[:] = b"\x01" * size
if os.getrandom(1)[0] % 2:
    memory[:5] = lie
else:
    memory[:] = (b"\x01\0\0\0\0" * (size // 5 + 1))[:size]
    memory[size // 5 * 5 - 5:size // 5 * 5] = lie


def resize(to):
    try:
        memory.resize(to)
    except ValueError as error:  # from 3.13 on
        raise OSError from error


fails("resize of the report", lambda: resize(4096))
fails("growth of the report", lambda: resize(size * 4))
verdict()
