# attacks: System V segments, semaphores and queues, POSIX shared memory of another session
# line: namespaces
number = libc.shmget(4711, 4096, 0o1666)
libc.semget(4711, 1, 0o1666)
libc.msgget(4711, 0o1666)
libc.shm_open(b"/pair", os.O_CREAT | os.O_RDWR, 0o666)
print("READY" if number >= 0 else "no segment", flush=True)
time.sleep(20)
