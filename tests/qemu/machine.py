"""The host's side of the guest: packages, kernel, initramfs, boot.

We build on machines whose memory, pids and cpu controllers are cgroup v1, while our users have v2. So the v2 back end
is tried on Debian's stock kernel under QEMU. There is no KVM either: TCG runs about ten times slower than the machine
itself, which decides most things here:

- no disk: virtio and ext4 are modules of the stock kernel and would need module loading; an initramfs needs nothing;
- the initramfs is not compressed: QEMU hands it over by DMA, while gunzip would run in the guest;
- results come over a serial port of their own (ttyS1), so that no line of the kernel's falls into one of ours;
- one boot serves all tests.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPO = HERE.parent.parent
BUILD = Path(os.environ.get("CLOCHE_BIN", REPO / "build/cloche")).resolve().parent
CACHE = REPO / "build/qemu-cache"
CONSOLE = CACHE / "console.log"
PROGRAMS = ("cloche", "cloche-jaild", "cloche-init", "cloche-supervisor")

# A whole pass takes about two minutes; a busy host may double that. Beyond this the guest hangs.
DEADLINE_S = 420

COMMANDS = """bash basename cat chmod chroot cp date dirname echo env false head id ln ls mkdir mount mv
    newgidmap newuidmap printf ps rm seq sh sleep sort stat tail tee touch true umount uname wc""".split()

# Parts of the standard library that only make the initramfs larger.
STDLIB_LEFT_OUT = ("config-", "distutils", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter",
                   "turtledemo")

ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000::/home/ada:/bin/bash\n"
              "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "group": "root:x:0:\nada:x:1000:\nnogroup:x:65534:\n",
    "subuid": "ada:165536:65536\n",
    "subgid": "ada:165536:65536\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "hosts": "127.0.0.1 localhost\n",
    "hostname": "guest\n",
}


class Missing(Exception):
    """What the test needs is neither here nor to be had."""


def apt(*arguments, cwd=None):
    """Runs apt-get; a machine whose package lists are missing or old gets one update."""
    command = ["apt-get", "-qq", "-y", "-o", "APT::Sandbox::User=root", *arguments]
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for attempt in (1, 2):
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
        if done.returncode == 0:
            return
        if attempt == 1:
            subprocess.run(["apt-get", "-qq", "update"], env=environment, capture_output=True)
    raise Missing(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")


def need_package(package, program):
    if not shutil.which(program):
        apt("install", "--no-install-recommends", package)


def kernel_package():
    """The versioned package behind the name that always means Debian's current cloud kernel."""
    done = subprocess.run(["apt-cache", "depends", "linux-image-cloud-amd64"], capture_output=True, text=True)
    found = re.search(r"Depends: (linux-image-\S+-cloud-amd64)$", done.stdout, re.MULTILINE)
    return found.group(1) if found else None


def kernel():
    """Path of a stock vmlinuz, downloaded but not installed; the cached one is used without asking apt again."""
    CACHE.mkdir(parents=True, exist_ok=True)
    cached = sorted(CACHE.glob("vmlinuz-*"))
    if cached:
        return cached[-1]
    package = kernel_package()
    if not package:
        subprocess.run(["apt-get", "-qq", "update"], capture_output=True)
        package = kernel_package()
    if not package:
        raise Missing("apt knows no linux-image-cloud-amd64")
    work = CACHE / "unpack"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    apt("download", package, cwd=work)
    subprocess.run(["dpkg-deb", "-x", next(work.glob("*.deb")), work], check=True)
    image = next((work / "boot").glob("vmlinuz-*"))
    target = CACHE / image.name
    image.rename(target)
    shutil.rmtree(work)
    return target


class Initramfs:
    """Writes a cpio archive (newc, Documentation/driver-api/early-userspace/buffer-format.rst) without compression."""

    def __init__(self, path):
        self.out = open(path, "wb")
        self.seen = set()
        self.number = 0

    def entry(self, name, mode, data=b"", device=(0, 0), ids=(0, 0)):
        name = name.strip("/")
        if name in self.seen:
            return
        parent = os.path.dirname(name)
        if parent:
            self.entry(parent, stat.S_IFDIR | 0o755)
        self.seen.add(name)
        self.number += 1
        encoded = name.encode() + b"\0"
        fields = (self.number, mode, *ids, 1, 0, len(data), 0, 0, *device, len(encoded), 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self.out.write(head + bytes(-len(head) % 4))
        self.out.write(data)
        self.out.write(bytes(-len(data) % 4))

    def folder(self, name, mode=0o755, ids=(0, 0)):
        self.entry(name, stat.S_IFDIR | mode, ids=ids)

    def text(self, name, data, mode=0o644):
        self.entry(name, stat.S_IFREG | mode, data.encode())

    def file(self, source, name=None):
        """Takes a file or link of the host, under its own name unless another is given; links are followed by hand."""
        source = str(source)
        if name is None:
            # /lib is a link to /usr/lib: the file goes where it really is, the top links are made once in build().
            name = os.path.join(os.path.realpath(os.path.dirname(source)), os.path.basename(source))
        if os.path.islink(source):
            target = os.readlink(source)
            self.entry(name, stat.S_IFLNK | 0o777, target.encode())
            self.file(os.path.join(os.path.dirname(source), target))
            return
        mode = stat.S_IMODE(os.stat(source).st_mode)
        self.entry(name, stat.S_IFREG | mode, Path(source).read_bytes())

    def program(self, source, name=None):
        """A program or module and every library that ldd names for it (for a static one it names none)."""
        self.file(source, name)
        listed = subprocess.run(["ldd", source], capture_output=True, text=True).stdout
        for library in re.findall(r"(/\S+) \(0x", listed):
            self.file(library)

    def close(self):
        self.entry("TRAILER!!!", 0)
        self.out.write(bytes(-self.out.tell() % 512))
        self.out.close()


def add_python(image):
    image.program("/usr/bin/python3")
    real = os.path.realpath("/usr/bin/python3")
    library = Path("/usr/lib") / os.path.basename(real)
    for folder, folders, names in os.walk(library):
        if Path(folder) == library:
            folders[:] = [one for one in folders if not one.startswith(STDLIB_LEFT_OUT)]
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".so"):
                image.program(path)
            elif os.path.exists(path):
                image.file(path)


def add_programs(image):
    """Our programs, side by side as in the build folder. Returns whether they were there."""
    if not all((BUILD / name).exists() for name in PROGRAMS):
        return False
    for name in PROGRAMS:
        image.program(BUILD / name, f"opt/cloche/{name}")
    return True


def initramfs(path):
    """Builds the guest's file tree. Made anew for each boot: our programs change, and it takes two seconds."""
    need_package("uidmap", "newuidmap")
    image = Initramfs(path)
    for name in ("bin", "lib", "lib64", "sbin"):
        image.entry(name, stat.S_IFLNK | 0o777, f"usr/{name}".encode())
    for name in ("dev", "proc", "sys", "run", "mnt", "root", "usr/local/bin", "usr/sbin", "usr/lib64"):
        image.folder(name)
    image.folder("tmp", 0o1777)
    image.folder("home/ada", 0o755, (1000, 1000))
    image.entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    for name, data in ETC.items():
        image.text(f"etc/{name}", data)
    for name in COMMANDS:
        image.program(shutil.which(name, path="/usr/bin:/usr/sbin:/bin:/sbin"))
    add_python(image)
    add_programs(image)
    image.text("init", (HERE / "init.sh").read_text(), 0o755)
    for module in HERE.glob("guest*.py"):
        image.text(f"opt/guest/{module.name}", module.read_text())
    image.close()


class Boot:
    """What one life of the guest told: results by test name, and how long it took."""

    def __init__(self):
        self.results = {}
        self.ready_s = None

    def take(self, line, show):
        try:
            message = json.loads(line)
        except ValueError:
            return
        if show:
            print(*message.values(), flush=True)
        if "name" in message:
            self.results[message["name"]] = message
        elif "ready_s" in message:
            self.ready_s = message["ready_s"]

    def last_words(self, lines=15):
        if not CONSOLE.exists():
            return ""
        return "\n".join(CONSOLE.read_text(errors="replace").splitlines()[-lines:])


def boot(only="", show=False):
    """Boots, reads results until the guest powers off. `only` (comma-separated names) narrows the tests."""
    need_package("qemu-system-x86", "qemu-system-x86_64")
    vmlinuz = kernel()
    with tempfile.NamedTemporaryFile(prefix="initramfs-", dir=CACHE) as image:
        initramfs(image.name)
        return watch(command(vmlinuz, image.name, only), show)


def command(vmlinuz, image, only):
    # panic=-1 with -no-reboot: a guest that falls over ends QEMU at once. loglevel=5: each character costs time.
    options = f"console=ttyS0 panic=-1 loglevel=5 cloche.only={only}"
    return ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2G",
            "-kernel", vmlinuz, "-initrd", image, "-append", options,
            "-serial", f"file:{CONSOLE}", "-serial", "stdio"]


def watch(arguments, show):
    told = Boot()
    CONSOLE.unlink(missing_ok=True)
    machine = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    timer = threading.Timer(DEADLINE_S, machine.kill)
    timer.start()
    try:
        for line in machine.stdout:
            told.take(line, show)
        complaint = machine.stderr.read().decode(errors="replace").strip()
        if machine.wait() != 0 and not told.results:
            raise Missing(f"qemu-system-x86_64: {complaint[-300:]}")
    finally:
        timer.cancel()
        machine.kill()
        machine.wait()
    return told


if __name__ == "__main__":
    # For people: results as they come, without pytest. Arguments narrow the tests.
    boot(",".join(sys.argv[1:]), show=True)
