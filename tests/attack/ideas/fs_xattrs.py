# attacks: memory in extended attributes, which no size limit of tmpfs counts
# line: tmpfs
total = 0
for number in range(20000):
    try:
        if number % 100 == 0:
            open(f"f{number // 100}", "w").close()
        os.setxattr(f"f{number // 100}", f"user.a{number % 100}", b"x" * 32000)
    except OSError:
        break
    total += 32000
if total > 64 << 20:
    escaped(f"{total >> 20} MiB of attributes")
verdict()
