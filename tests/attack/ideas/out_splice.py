# attacks: output that is no copy: splice, tee, sendfile, packets, pages that change behind the reader
# line: supervisor
# within: 15
import fcntl
import mmap
import threading
with open("page", "wb+") as page:
    page.truncate(1 << 20)
    memory = mmap.mmap(page.fileno(), 1 << 20)
    over = threading.Event()

    def change():
        while not over.is_set():
            memory[:4096] = os.urandom(4096)

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(20):
        os.sendfile(1, page.fileno(), 0, 1 << 20)
        os.splice(page.fileno(), 2, 1 << 20, offset_src=0)
    over.set()
    thread.join()
inner, outer = os.pipe()
os.write(outer, b"t" * 60000)
for _ in range(20):
    sc(276, inner, 1, 60000, 2)  # tee
try:
    fcntl.fcntl(1, fcntl.F_SETFL, os.O_DIRECT)
except OSError:
    pass
for _ in range(2000):
    os.write(1, b"packet")
fails("read of our own output", lambda: os.read(1, 1))
os.unlink("page")
os.write(1, b"\n")
verdict()
