# attacks: Landlock missing: at most 16 layers can be stacked, so fewer than 16 of our own tell that there was one
# line: landlock
libc.prctl(38, 1, 0, 0, 0)  # Landlock asks for no_new_privs
abi, error = sc(444, None, 0, 1)
layers = 0
while abi > 0 and layers < 32:
    ruleset, _ = sc(444, struct.pack("Q", 1), 8, 0)
    if sc(446, ruleset, 0)[0] != 0:
        break
    layers += 1
    os.close(ruleset)
if abi < 1 or layers < 1:
    escaped(f"Landlock cannot be asked: {abi} {errno.errorcode.get(error)}, {layers} layers; this idea proves nothing")
elif layers >= 16:
    escaped(f"{layers} layers could be added: none was there")
verdict()
