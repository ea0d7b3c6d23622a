"""Profile roomy, root file systems of one's own, streaming, two runs at once."""
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from runner import first_line, stop

ROOMY_LIMITS = """
import os, time
n = 0
try:
    while n < 400:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        n += 1
except OSError:
    pass
print(n, os.cpu_count(), os.statvfs('/mnt/data').f_blocks * os.statvfs('/mnt/data').f_frsize >> 20)
"""


@pytest.mark.both
def test_roomy_has_more_of_everything(cloche):
    run = cloche.run(ROOMY_LIMITS, profile="roomy")
    assert run.text.split() == ["255", str(min(2, os.cpu_count())), "512"], run.explain()


@pytest.mark.both
def test_roomy_has_a_proc_that_shows_own_processes_only(cloche):
    run = cloche.run("import os\nprint([n for n in os.listdir('/proc') if n.isdigit()] == [str(os.getpid())], "
                     "open('/proc/self/comm').read().strip())\n", profile="roomy")
    assert run.text.startswith("True "), run.explain()


def test_roomy_bash_has_process_substitution(cloche):
    assert cloche.bash("cat <(echo yes)\necho err > /dev/stderr || true\n", profile="roomy").text == "yes\n"


def test_roomy_holds_one_GiB(cloche, checked):
    script = ("import mmap\nm = mmap.mmap(-1, {} << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\nm.madvise(23)\n"
              "for i in range(0, len(m), 4096):\n    m[i] = 1\n")
    assert checked(cloche.run(script.format(900), profile="roomy"))["outcome"] == "ok"
    assert checked(cloche.run(script.format(1100), profile="roomy"))["end"]["reason"] == "memory"


@pytest.mark.both
def test_strict_is_the_default(cloche):
    script = "import os\nprint(os.path.exists('/proc/self'), os.statvfs('.').f_blocks * os.statvfs('.').f_frsize >> 20)\n"
    assert cloche.run(script).text == cloche.run(script, profile="strict").text == "False 100\n"


def copy_with_libraries(program, root):
    """Copies a program and the libraries that it needs to the same places below root."""
    found = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.split()
    for path in {str(Path(program).resolve()), *[word for word in found if word.startswith("/")]}:
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return root / str(Path(program).resolve()).lstrip("/")


@pytest.fixture
def tiny_root(cloche):
    """A root file system that holds bash, cat and a mark."""
    root = cloche.folder / "root"
    for folder in ("usr/bin", "usr/lib", "usr/lib64", "etc"):
        (root / folder).mkdir(parents=True)
    for link in ("bin", "lib", "lib64"):
        (root / link).symlink_to(f"usr/{link}")
    for name in ("/bin/bash", "/bin/cat", "/bin/ls"):
        copy_with_libraries(name, root)
    (root / "usr/mark").write_text("of the tiny root\n")
    for folder, _, files in os.walk(root):
        cloche.identity.own(folder)
        for name in files:
            cloche.identity.own(Path(folder) / name) if not (Path(folder) / name).is_symlink() else None
    return root


@pytest.mark.both
def test_rootfs_of_ones_own(cloche, tiny_root):
    run = cloche.bash("cat /usr/mark\n[ -e /usr/bin/python3 ] && echo the host shows\n[ -w /usr ] && echo writable\n"
                      "echo x 2>/dev/null > /usr/mark && echo written\necho done\n", extra=["--rootfs", tiny_root])
    assert run.text == "of the tiny root\ndone\n", run.explain()
    assert (tiny_root / "usr/mark").read_text() == "of the tiny root\n"


@pytest.mark.both
def test_links_of_an_image_lead_to_the_image_and_never_to_the_host(cloche, tiny_root):
    """They were followed in the host's tree while /etc was copied."""
    (cloche.folder / "host").mkdir()
    secret = cloche.folder / "host/secret"
    secret.write_text("of the host\n")
    etc = tiny_root / "etc"
    (etc / "os-release").symlink_to(secret)
    (etc / "mime.types").symlink_to("../" * 40 + str(secret).lstrip("/"))
    (etc / "services").symlink_to("/proc/self/root" + str(secret))
    (etc / "protocols").symlink_to("/etc/hostname")
    (etc / "ssl").symlink_to("/etc/ssl")
    (etc / "fonts").symlink_to(secret.parent)
    (etc / "texmf").symlink_to("../../host")
    (etc / "passwd").symlink_to("/etc/passwd")
    (etc / "debian_version").symlink_to("/usr/mark")
    run = cloche.bash("for f in os-release mime.types services protocols ssl fonts texmf passwd debian_version\n"
                      "do [ -e /etc/$f ] && echo $f; done\ncat /etc/debian_version\n"
                      "while read -r line; do echo $line; done < /etc/passwd\n", extra=["--rootfs", tiny_root])
    assert run.text.split("\n")[:3] == ["passwd", "debian_version", "of the tiny root"], run.explain()
    assert len(run.text.splitlines()) == 5 and "sandbox:x:65534" in run.text, run.explain()


def test_rootfs_without_the_language_says_so(cloche, tiny_root):
    run = cloche.run("print(1)\n", extra=["--rootfs", tiny_root], json_answer=False)
    assert run.status in (2, 125) and b"python" in run.stderr.lower(), run.explain()


@pytest.mark.both
def test_output_arrives_while_the_run_goes_on(cloche):
    child = cloche.start("import time\nprint('first')\ntime.sleep(2)\nprint('second')\n", json_answer=False)
    try:
        began = time.monotonic()
        assert first_line(child) == "first"
        early = time.monotonic() - began
        said, _ = child.communicate(timeout=10)
        assert said == b"second\n"
        assert early < time.monotonic() - began - 1, "the first line came with the end"
    finally:
        stop(child)


def test_both_streams_arrive_in_step(cloche):
    """Printed on one stream and then, after a pause, on the other: joined by the caller, the order is kept."""
    script = "import sys, time\nfor n in range(4):\n    print(n, file=(sys.stdout, sys.stderr)[n % 2], flush=True)\n    time.sleep(0.15)\n"
    argv = cloche.argv(script, json_answer=False)
    done = subprocess.run(argv, cwd=cloche.folder, env=cloche.environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=20)
    assert done.stdout.split()[:4] == [b"0", b"1", b"2", b"3"]


@pytest.mark.both
def test_twelve_starts_at_once_and_again(cloche):
    """Every start sweeps what dead ones left, and must not take for dead what another one is just making."""
    for _ in range(2):
        script = "import os\nopen('mark', 'x').write('{0}')\nprint({0}, os.listdir('.'))\n"
        children = [cloche.start(script.format(n), json_answer=False, out=False) for n in range(12)]
        ended = [(*child.communicate(timeout=40), child.returncode) for child in children]
        for number, (said, errors, status) in enumerate(ended):
            assert status == 0, errors
            assert said.decode() == f"{number} ['mark']\n"
