# attacks: Landlock missing: a second domain's depth tells that there is a first (at most 16 can be stacked)
# line: landlock
abi, error = sc(444, None, 0, 1)
layers = 0
while abi > 0 and layers < 32:
    ruleset, _ = sc(444, struct.pack("Q", 1), 8, 0)
    if sc(446, ruleset, 0)[0] != 0:
        break
    layers += 1
    os.close(ruleset)
if abi < 1:
    escaped(f"the kernel has no Landlock here: {error}")
elif layers >= 16:
    escaped(f"{layers} layers could be added: none was there")
verdict()
