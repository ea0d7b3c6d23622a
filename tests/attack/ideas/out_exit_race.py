# attacks: output that is still in the pipe when everybody dies
# line: end
os.write(1, b"w" * 60000 + b"\n")
verdict()
os._exit(0)
