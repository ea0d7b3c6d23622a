for name, found in (("segment", libc.shmget(4711, 0, 0)), ("semaphore", libc.semget(4711, 0, 0)),
                    ("queue", libc.msgget(4711, 0)), ("shm_open", libc.shm_open(b"/pair", os.O_RDWR, 0))):
    if found != -1:
        escaped(f"the other's {name}")
verdict()
