# attacks: 32-bit calls from a 64-bit program (int 0x80), whose numbers mean other things
# line: filter
# program: int80.c
# rootless: yes
os.chmod("int80", 0o755)
for number in ("20", "21", "26", "120", "310", "359"):
    done = subprocess.run(["./int80", number], capture_output=True)
    if done.returncode != -signal.SIGSYS:
        # A kernel without 32-bit support gives SIGSEGV before any filter is asked.
        if done.returncode != -signal.SIGSEGV:
            escaped(f"int 0x80 call {number}: {done.returncode} {done.stdout!r}")
verdict()
