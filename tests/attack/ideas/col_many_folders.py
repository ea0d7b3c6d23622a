# attacks: thousands of folders, wide and nested
# line: reader
# within: 30
try:
    for outer in range(100):
        for inner in range(100):
            os.makedirs(f"w{outer}/v{inner}")
    open("w99/v99/f", "w").close()
except OSError as error:
    print(error)
verdict()
