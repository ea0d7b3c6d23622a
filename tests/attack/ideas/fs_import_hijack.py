# attacks: a module in the home that shadows the standard library is the script's own business, and only his
# line: names
for name in ("sitecustomize", "usercustomize", "os", "encodings", "ctypes"):
    open(f"{name}.py", "w").write("print('hijacked', flush=True)\n")
done = subprocess.run([sys.executable, "-c", "import os; print(os.getresuid())"], capture_output=True, text=True)
if "(65534, 65534, 65534)" not in done.stdout:
    escaped(done.stdout + done.stderr)
verdict()
