# attacks: a far jump into the 32-bit code segment, then a 32-bit call
# line: filter
# program: farjump.c
os.chmod("farjump", 0o755)
status = subprocess.run(["./farjump"], capture_output=True).returncode
if status not in (-signal.SIGSYS, -signal.SIGSEGV, -signal.SIGBUS):
    escaped(f"ended with {status}")
verdict()
