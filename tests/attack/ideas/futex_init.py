# attacks: make init the owner of our locks: priority inheritance looks its thread up by number alone
# line: init
LOCK_PI, UNLOCK_PI, TRYLOCK_PI, LOCK_PI2, PRIVATE = 6, 7, 8, 13 | 256, 128  # 256: the clock of time.time()
until = struct.pack("qq", int(time.time()) + 1, 0)
for flags in (0, PRIVATE):
    for operation in (LOCK_PI, TRYLOCK_PI, LOCK_PI2):
        for owner in (1, 1 | 0x40000000, 1 | 0x80000000):
            word = ctypes.c_uint32(owner)
            if sc(202, word, operation | flags, 0, until, 0, 0)[0] == 0 and owner == 1:
                escaped(f"operation {operation} took a lock of init's")
            sc(202, word, UNLOCK_PI | flags, 0, 0, 0, 0)
refused("get_robust_list of init", sc(274, 1, bytes(8), bytes(8)))


def hold():  # dies with waiters on a lock that names init
    word = ctypes.c_uint32(1)
    sc(202, word, LOCK_PI, 0, struct.pack("qq", int(time.time()) + 3, 0), 0, 0)


for _ in range(4):
    pid = os.fork()
    if pid == 0:
        hold()
        os._exit(0)
    time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
verdict()
