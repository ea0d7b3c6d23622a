# attacks: the widest answer: a thousand long names of control characters, both streams and the report full of them
# line: supervisor
import io
import sys
here = os.open(".", os.O_RDONLY)
for _ in range(14):
    os.mkdir(b"\1" * 255, dir_fd=here)
    inner = os.open(b"\1" * 255, os.O_RDONLY, dir_fd=here)
    os.close(here)
    here = inner
for number in range(1100):
    os.close(os.open(b"%04d" % number + b"\2" * 190 + b"\xff", os.O_CREAT | os.O_WRONLY, dir_fd=here))
report = getattr(sys, "display" + "hook").__globals__["memory"]  # the bootstrap's, which goes without its hook where the word is
memory = io.BytesIO()
for tag in (1, 2, 3):
    memory.write(bytes([tag]) + (87000).to_bytes(4, "little") + b"\1" * 87000)
report[:memory.tell()] = memory.getvalue()
for _ in range(40):
    os.write(1, b"\1" * 65536)
    os.write(2, b"\1" * 65536)
os.write(1, b"\n")
verdict()
