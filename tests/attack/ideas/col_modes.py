# attacks: files that one may not read, and setuid files that would be root's on the host
# line: reader
# rootless: yes
for mode in (0, 0o4755, 0o2755, 0o6777, 0o1777, 0o777, 0o400):
    open(f"m{mode:o}", "w").write("own")
    os.chmod(f"m{mode:o}", mode)
    os.mkdir(f"d{mode:o}")
    open(f"d{mode:o}/f", "w").write("own")
    os.chmod(f"d{mode:o}", mode)
verdict()
