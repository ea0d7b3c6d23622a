# attacks: the loader's variables with setuid programs; execution of a file without the x bit
# line: privileges
import glob
for loader in glob.glob("/lib64/ld-linux*") + glob.glob("/lib/ld-linux*"):
    done = subprocess.run([loader, "/usr/bin/id", "-u"], capture_output=True, text=True)
    if done.stdout.strip() not in ("65534", ""):  # a 32-bit loader does not start
        escaped(f"{loader}: {done.stdout}")
done = subprocess.run(["/usr/bin/id", "-u"], capture_output=True, text=True, env={"LD_PRELOAD": "/mnt/data/x.so", "LD_AUDIT": "x"})
if done.stdout.strip() != "65534":
    escaped(done.stdout)
verdict()
