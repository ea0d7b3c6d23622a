# attacks: host paths, names and secrets in /proc/self
# line: proc
# profile: roomy
# args: {hostname}
for name in ("mountinfo", "mounts", "environ", "cmdline", "cgroup", "maps", "status", "stat", "mountstats"):
    try:
        text = open(f"/proc/self/{name}", errors="replace").read()
    except OSError:
        continue
    for word in ("/work", "/root", "/home", "/var/lib", "SECRET", "/process_api", "cloche-jaild", "build/", "rootless-test"):
        if word in text:
            escaped(f"{name} shows {word}")
status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
WANTED = {"NoNewPrivs": "1", "Seccomp": "2", "CapEff": "0" * 16, "CapPrm": "0" * 16, "CapBnd": "0" * 16, "CapInh": "0" * 16,
          "CapAmb": "0" * 16}
for name, value in WANTED.items():
    if status[name] != value:
        escaped(f"{name} is {status[name]}")
verdict()
