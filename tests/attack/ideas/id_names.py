# attacks: learn the host's users from /etc/passwd and /etc/group
# line: ids
import grp
import pwd
if pwd.getpwuid(65534).pw_name != "sandbox":
    escaped(f"65534 is {pwd.getpwuid(65534).pw_name}")
users = {entry.pw_name for entry in pwd.getpwall()}
if users - {"root", "sandbox", "nobody"}:
    escaped(f"users {users}")
groups = {entry.gr_name for entry in grp.getgrall()}
if groups - {"root", "sandbox", "nogroup", "nobody"}:
    escaped(f"groups {groups}")
verdict()
