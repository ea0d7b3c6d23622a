# attacks: as many files as there are inodes
# line: reader
# within: 30
count = 0
try:
    while True:
        os.close(os.open(f"n{count:05d}.txt", os.O_CREAT | os.O_WRONLY))
        count += 1
except OSError as error:
    print(count, error)
verdict()
