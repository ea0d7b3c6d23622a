# attacks: variables of the caller in the environment of the run
# line: inheritance
# rootless: yes
ALLOWED = {"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR", "MPLBACKEND", "MPLCONFIGDIR", "XDG_CACHE_HOME", "PYTHONUNBUFFERED",
           "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_NUM_THREADS",
           "VECLIB_MAXIMUM_THREADS", "PYTHON_CPU_COUNT"}
if set(os.environ) - ALLOWED:
    escaped(f"variables {sorted(set(os.environ) - ALLOWED)}")
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
index = 0
while environ[index]:
    if environ[index].split(b"=")[0].decode() not in ALLOWED:
        escaped(f"the C library has {environ[index][:20]!r}")
    index += 1
verdict()
