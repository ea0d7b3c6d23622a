# attacks: ptrace and the calls that read other processes
# line: dumpable
# rootless: yes
pid = os.fork()
if pid == 0:
    time.sleep(30)
    os._exit(0)
word = struct.pack("QQ", 0, 0)
for target in (1, pid, os.getpid(), os.getppid()):
    for request in (0, 16, 0x4206, 0x4200):
        refused(f"ptrace({request:#x}, {target})", sc(101, request, target, 0, 0), EPERM)
    buffer = ctypes.create_string_buffer(8)
    vector = struct.pack("QQ", ctypes.addressof(buffer), 8)
    refused(f"process_vm_readv({target})", sc(310, target, vector, 1, vector, 1, 0), EPERM)
    refused(f"process_vm_writev({target})", sc(311, target, vector, 1, vector, 1, 0), EPERM)
    refused(f"kcmp({target})", sc(312, target, os.getpid(), 1, 0, 0), EPERM)
os.kill(pid, 9)
verdict()
