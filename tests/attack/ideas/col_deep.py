# attacks: a tree deeper than PATH_MAX, with long names, and a file at its end
# line: reader
# within: 20
# rootless: yes
name = "d" * 200
depth = 0
try:
    for _ in range(3000):
        os.mkdir(name)
        os.chdir(name)
        depth += 1
except OSError as error:
    print(error)
open("bottom.txt", "w").write("deep")
if depth < 100:
    escaped(f"only {depth} folders; this idea proves nothing")
verdict()
