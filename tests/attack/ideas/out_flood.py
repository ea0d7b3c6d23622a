# attacks: 200 MB on stdout: printing never ends a run
# line: supervisor
# within: 40
# rootless: yes
block = b"x" * 999 + b"\n"
block *= 1000
for _ in range(200):
    os.write(1, block)
verdict()
