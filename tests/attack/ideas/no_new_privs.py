# attacks: no_new_privs and the filter missing, or taken off
# line: privileges
# rootless: yes
if sc(157, 39, 0, 0, 0, 0)[0] != 1:
    escaped("no_new_privs is off")
sc(157, 38, 0, 0, 0, 0)
if sc(157, 39, 0, 0, 0, 0)[0] != 1:
    escaped("no_new_privs can be taken off")
if sc(157, 21)[0] != 2:
    escaped(f"seccomp mode {sc(157, 21)}")
verdict()
