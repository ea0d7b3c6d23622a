# attacks: the widest answer: a thousand long names of control characters, both streams and the report full of them
# line: supervisor
import codecs
import mmap
here = os.open(".", os.O_RDONLY)
for _ in range(14):
    os.mkdir(b"\1" * 255, dir_fd=here)
    inner = os.open(b"\1" * 255, os.O_RDONLY, dir_fd=here)
    os.close(here)
    here = inner
for number in range(1100):
    os.close(os.open(b"%04d" % number + b"\2" * 190 + b"\xff", os.O_CREAT | os.O_WRONLY, dir_fd=here))
try:
    memory = codecs.lookup_error("cloche.report").__self__  # how the bootstrap keeps it before Python 3.13
except LookupError:
    memory = mmap.mmap(-1, 256 * 1024)
memory.seek(0)
for tag in (1, 2, 3):
    memory.write(bytes([tag]) + (87000).to_bytes(4, "little") + b"\1" * 87000)
for _ in range(40):
    os.write(1, b"\1" * 65536)
    os.write(2, b"\1" * 65536)
os.write(1, b"\n")
verdict()
