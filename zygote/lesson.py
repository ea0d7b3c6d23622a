"""What every run does: a zygote learns from it which pages that writes (src/zygote/hot.c)."""
print(6 * 7)
