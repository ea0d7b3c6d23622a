# attacks: huge argument lists and environments
# line: rlimits
for argument in (["x" * 131071], ["x" * 131072], ["x" * 100000] * 20, ["x"] * 100000, ["x" * 100000] * 200):
    try:
        done = subprocess.run(["/bin/true", *argument])
        if done.returncode != 0:
            escaped(f"ended with {done.returncode}")
    except OSError as error:
        if error.errno not in (errno.E2BIG, errno.ENOMEM):
            escaped(error)
verdict()
