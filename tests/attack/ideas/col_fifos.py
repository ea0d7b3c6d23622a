# attacks: fifos and nodes that would make a reader wait for ever
# line: reader
# within: 10
# rootless: yes
os.makedirs("sub/deep")
for number in range(20):
    os.mkfifo(f"fifo{number}.png")
    os.mkfifo(f"sub/deep/fifo{number}.csv", 0o666)
try:
    os.mknod("white.png", 0o20000, 0)
except OSError:
    pass
if os.fork() == 0:
    os.setsid()
    fd = os.open("fifo0.png", os.O_RDWR)
    time.sleep(30)
verdict()
