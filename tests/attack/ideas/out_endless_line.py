# attacks: 60 MB without a line end
# line: supervisor
for _ in range(60):
    os.write(1, b"z" * 10**6)
print()
verdict()
