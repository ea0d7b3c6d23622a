# attacks: prctl options that are refused, with high bits
# line: denied calls
# rootless: yes
OPTIONS = {"PR_SET_MM": 35, "PR_SET_SECUREBITS": 28, "PR_CAP_AMBIENT": 47, "PR_CAPBSET_DROP": 24,
           "PR_SET_PTRACER": 0x59616D61}
for name, option in OPTIONS.items():
    for high in (0, 1 << 32, 0xFFFFFFFF << 32):
        for arg in (0, 1, 4, 0xFFFFFFFFFFFFFFFF):
            refused(f"{name}({arg:#x}) high {high:#x}", sc(157, option | high, arg, 0, 0, 0), EPERM)
verdict()
