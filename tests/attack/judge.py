"""What the host checks after every idea, whatever the idea itself says."""
import os
import stat
import subprocess

from runner import ENV_SECRET, FILE_SECRET, REPO

OUT_MAX_BYTES = 256 << 20
REASON_OF = {"ok": "exit", "error": "exit", "memory": "memory", "timeout": "timeout"}


def disk_bytes(folder):
    return int(subprocess.run(["du", "-s", "--block-size=1", folder], capture_output=True, check=True,
                              text=True).stdout.split()[0])


def _entries(folder):
    """Every entry below folder, by descriptor, so that trees deeper than PATH_MAX are walked too."""
    stack = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY)]
    try:
        while stack:
            here = stack.pop()
            with os.scandir(here) as found:
                for entry in found:
                    about = os.stat(entry.name, dir_fd=here, follow_symlinks=False)
                    yield here, entry.name, about
                    if stat.S_ISDIR(about.st_mode):
                        stack.append(os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here))
            os.close(here)
    finally:
        for left in stack:
            os.close(left)


def _content(here, name):
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=here)
    with os.fdopen(fd, "rb") as stream:
        return stream.read(4 << 20)


def check_out(cloche):
    """--out holds plain files of the caller's, without special bits or host secrets, and not too much of them."""
    problems = []
    if not cloche.out.exists():
        return problems
    for here, name, about in _entries(cloche.out):
        shown = repr(name)
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            problems.append(f"--out holds {stat.filemode(about.st_mode)} {shown}")
            continue
        if about.st_mode & 0o7000:
            problems.append(f"--out holds {shown} with mode {about.st_mode:o}")
        if about.st_uid != cloche.identity.uid:
            problems.append(f"--out holds {shown} of uid {about.st_uid}")
        if stat.S_ISREG(about.st_mode) and about.st_size < 1 << 20:
            content = _content(here, name)
            if FILE_SECRET.encode() in content or b"root:x:0:" in content and b"/root:/bin/bash" in content:
                problems.append(f"--out holds a file of the host as {shown}")
    if disk_bytes(cloche.out) > OUT_MAX_BYTES:
        problems.append(f"--out takes {disk_bytes(cloche.out) >> 20} MiB of the disk")
    return problems


def check_secrets(run):
    """Nothing that the run shows may hold a secret of the caller."""
    shown = run.stdout + run.stderr
    return [f"the answer shows {secret[:8]}..." for secret in (ENV_SECRET, FILE_SECRET) if secret.encode() in shown]


def check_outside(cloche, before):
    """Nothing but --out may have come into the caller's folder."""
    now = {path.name for path in cloche.folder.iterdir()}
    allowed = {"out"} | {name for name in now if name.startswith("script-")}
    return [f"{name} was written beside --out" for name in now - before - allowed]


def check_end(idea, run):
    """The run ended as the idea's header says, and an idea that ended by itself says SAFE."""
    end = run.answer["end"]
    how = end["reason"]
    if how == "exit":
        how = "ok" if end["code"] == 0 else "error"
    problems = []
    if "any" not in idea.expect and how not in idea.expect:
        problems.append(f"ended by {end}, expected {sorted(idea.expect)}")
    if how in ("ok", "error") and run.last_line != "SAFE":
        problems.append(f"its last line is {run.last_line!r}")
    if "ESCAPED" in run.last_line and how not in ("ok", "error"):
        problems.append(f"it says {run.last_line!r}")
    if how == "error" and "status" in idea.header and end["code"] != int(idea.header["status"]):
        problems.append(f"exit code {end['code']}, not {idea.header['status']}")
    return problems


def compile_program(name, folder):
    """Builds a program of programs/ for the jail: static, so that it needs nothing there."""
    target = folder / name.removesuffix(".c")
    source = REPO / "tests/attack/programs" / name
    subprocess.run(["gcc", "-static", "-O1", "-Wall", "-Werror", "-fcf-protection=none", "-o", target, source],
                   check=True, capture_output=True)
    return target
