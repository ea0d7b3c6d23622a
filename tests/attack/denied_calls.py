"""The denied system calls of security.md with their x86-64 numbers, and arguments that would work, or fail otherwise
than by EPERM, if no filter stood in the way (where the kernel allows that to an ordinary user at all)."""

NOWHERE = "NULL"  # a NULL pointer
BUFFER = "BUFFER"  # 4 KiB of zeros
SELF = "SELF"  # the script's own pid

CORE = {
    "mount": (165, NOWHERE, NOWHERE, NOWHERE, 0, NOWHERE), "umount2": (166, NOWHERE, 0xFFFF),
    "pivot_root": (155, NOWHERE, NOWHERE), "chroot": (161, NOWHERE), "fsopen": (430, NOWHERE, 0xFFFF),
    "fsconfig": (431, -1, 99, 0, 0, 0), "fsmount": (432, -1, 0xFFFF, 0), "fspick": (433, -1, NOWHERE, 0xFFFF),
    "open_tree": (428, -100, "/usr", 0), "move_mount": (429, -1, NOWHERE, -1, NOWHERE, 0xFFFF),
    "mount_setattr": (442, -1, NOWHERE, 0, BUFFER, 8), "unshare": (272, 0), "setns": (308, -1, 0),
    "ptrace": (101, 0, 0, 0, 0), "process_vm_readv": (310, SELF, BUFFER, 0, BUFFER, 0, 0),
    "process_vm_writev": (311, SELF, BUFFER, 0, BUFFER, 0, 0), "pidfd_getfd": (438, -1, 0, 0),
    "kcmp": (312, SELF, SELF, 0, 0, 0), "process_madvise": (440, -1, BUFFER, 0, 20, 0), "bpf": (321, 0, NOWHERE, 0),
    "perf_event_open": (298, NOWHERE, 0, -1, -1, 0), "userfaultfd": (323, 1), "io_uring_setup": (425, 1, BUFFER),
    "io_uring_enter": (426, -1, 0, 0, 0, 0, 0), "io_uring_register": (427, -1, 0, 0, 0), "keyctl": (250, 0, -3, 0, 0, 0),
    "add_key": (248, NOWHERE, NOWHERE, NOWHERE, 0, -3), "request_key": (249, NOWHERE, NOWHERE, NOWHERE, -3),
    "open_by_handle_at": (304, -1, NOWHERE, 0), "name_to_handle_at": (303, -100, "/usr", BUFFER, BUFFER, 0),
    "kexec_load": (246, 0, 0, NOWHERE, 0), "kexec_file_load": (320, -1, -1, 0, NOWHERE, 0),
    "init_module": (175, NOWHERE, 0, NOWHERE), "finit_module": (313, -1, NOWHERE, 0), "delete_module": (176, NOWHERE, 0),
    "create_module": (174, NOWHERE, 0), "iopl": (172, 99), "ioperm": (173, 0, 0, 0), "modify_ldt": (154, 0, BUFFER, 16),
    "reboot": (169, 0, 0, 0, 0), "swapon": (167, NOWHERE, 0x7FFFFFFF), "swapoff": (168, NOWHERE),
    "quotactl": (179, 0, NOWHERE, 0, NOWHERE), "quotactl_fd": (443, -1, 0, 0, NOWHERE), "acct": (163, NOWHERE),
    "settimeofday": (164, NOWHERE, NOWHERE), "clock_settime": (227, 0, NOWHERE), "clock_adjtime": (305, 0, NOWHERE),
    "adjtimex": (159, BUFFER), "sethostname": (170, NOWHERE, -1), "setdomainname": (171, NOWHERE, -1),
    "syslog": (103, 10, NOWHERE, 0), "vhangup": (153,), "nfsservctl": (180, 0, NOWHERE, NOWHERE),
    "lookup_dcookie": (212, 0, NOWHERE, 0), "fanotify_init": (300, 0xFFFFFFFF, 0),
}
HARDENING = {
    "personality": (135, 0x40000), "inotify_init": (253,), "inotify_init1": (294, 0), "inotify_add_watch": (254, -1, "/usr", 1),
    "inotify_rm_watch": (255, -1, 1), "mbind": (237, 0, 0, 0, NOWHERE, 0, 0), "set_mempolicy": (238, 0, NOWHERE, 0),
    "get_mempolicy": (239, NOWHERE, NOWHERE, 0, 0, 0), "migrate_pages": (256, 0, 0, NOWHERE, NOWHERE),
    "move_pages": (279, 0, 0, NOWHERE, NOWHERE, NOWHERE, 0), "memfd_secret": (447, 0), "mq_open": (240, "q", 0, 0, NOWHERE),
    "mq_unlink": (241, "q"), "mq_timedsend": (242, -1, NOWHERE, 0, 0, NOWHERE),
    "mq_timedreceive": (243, -1, NOWHERE, 0, NOWHERE, NOWHERE), "mq_notify": (244, -1, NOWHERE),
    "mq_getsetattr": (245, -1, NOWHERE, NOWHERE), "vmsplice": (278, 1, NOWHERE, 0, 0), "remap_file_pages": (216, 0, 0, 0, 0, 0),
    "uselib": (134, NOWHERE), "ustat": (136, 0, BUFFER), "sysfs": (139, 3), "fanotify_mark": (301, -1, 0, 0, -1, NOWHERE),
    "set_mempolicy_home_node": (450, 0, 0, 0, 0), "open_tree_attr": (467, -100, "/usr", 0, BUFFER, 32),
}
# Written for this table: every call in a child of its own, so that one that kills does not end the others.
SCRIPT = """
import json
BUFFER = ctypes.create_string_buffer(4096)
found = {}
for name, (number, *args) in json.loads(TABLE).items():
    words = [{"NULL": 0, "BUFFER": ctypes.addressof(BUFFER), "SELF": None}.get(a, a) for a in args]
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        words = [os.getpid() if w is None else w.encode() if isinstance(w, str) else w for w in words]
        os.write(writer, repr(sc(number, *words)).encode())
        os._exit(0)
    os.close(writer)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    said = os.read(reader, 100).decode()
    os.close(reader)
    found[name] = list(eval(said)) if said else [None, status]
print(json.dumps(found))
"""


def script(prelude):
    import json
    table = json.dumps({**CORE, **HARDENING})
    return prelude + f"TABLE = {table!r}\n" + SCRIPT
