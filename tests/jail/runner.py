"""Runs build/cloche the way a person would, and reads back everything that person can see.

An Identity says who the person is (root, or the ordinary user of account.py); a Cloche joins an identity with a
folder of its own. Secrets are planted in the caller's environment and in /root, so that every answer can be searched
for them.
"""
import hashlib
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("CLOCHE_BIN", REPO / "build/cloche"))
ENV_SECRET = "tok-" + secrets.token_hex(16)
# The same for all who test on this machine at once.
FILE_SECRET = "key-" + hashlib.sha256(Path("/proc/sys/kernel/random/boot_id").read_bytes()).hexdigest()[:32]
SECRET_FILE = Path("/root/cloche-test-secret")
CALLER_ENV = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LANG": "C.UTF-8",
    "TERM": "xterm",
    "SECRET_TOKEN": ENV_SECRET,
    "AWS_SECRET_ACCESS_KEY": ENV_SECRET,
    "LD_LIBRARY_PATH_HINT": ENV_SECRET,
}


class Identity:
    """Root: nothing to change before the program is executed."""

    name = "root"
    uid = 0
    home = "/root"

    def wrap(self, argv):
        return [str(part) for part in argv]

    def own(self, path):
        """Makes path a folder that this person may use."""


@dataclass
class Run:
    status: int
    stdout: bytes
    stderr: bytes
    wall: float
    out: Path
    answer: dict = None

    @property
    def text(self):
        """What the script printed, whichever way it was asked for."""
        return self.answer["stdout"]["text"] if self.answer else self.stdout.decode(errors="replace")

    @property
    def last_line(self):
        lines = self.text.rstrip("\n").split("\n")
        return lines[-1]

    def files(self):
        """Regular files of --out: relative path -> content."""
        return {str(p.relative_to(self.out)): p.read_bytes() for p in sorted(self.out.rglob("*"))
                if p.is_file() and not p.is_symlink()}

    def changes(self):
        """The answer's list of files: path -> created, modified or deleted."""
        return {f["path"]: f["change"] for f in self.answer["files"] if f.get("path")}

    def explain(self):
        return (f"status {self.status}, {self.wall:.2f} s\nstdout: {self.stdout[-3000:]!r}\n"
                f"stderr: {self.stderr[-3000:]!r}")


class Cloche:
    def __init__(self, identity, tmp_path):
        self.identity = identity
        self.folder = tmp_path if identity.uid == 0 else Path(tempfile.mkdtemp(prefix="cloche-test-"))
        self.folder.chmod(0o755)
        identity.own(self.folder)
        self.out = self.folder / "out"
        self._names = iter(range(10**6))

    def close(self):
        if self.identity.uid != 0:
            shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, name, content):
        """Puts a file of this name into the person's folder and returns its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def argv(self, script, *, json_answer=True, language=None, files=(), out=True, profile=None, timeout=None,
             stdin=None, env=(), args=(), extra=()):
        """script: a Path is used as it is, "-" too; text is written to a file without an extension that tells."""
        if isinstance(script, str) and script != "-":
            suffix = {"bash": "sh", "python": "py", None: "py"}[language]
            script = self.file(f"script-{next(self._names)}.{suffix}", script)
        argv = [PROGRAM, "run"]
        argv += ["--json"] if json_answer else []
        argv += ["--language", language] if language else []
        for path in files:
            argv += ["--file", path]
        argv += ["--out", self.out] if out else []
        argv += ["--profile", profile] if profile else []
        argv += ["--timeout", str(timeout)] if timeout else []
        argv += ["--stdin", stdin] if stdin else []
        for pair in env:
            argv += ["-e", pair]
        argv += [*extra, script]
        argv += ["--", *args] if args else []
        return self.identity.wrap(argv)

    def environ(self):
        return {**CALLER_ENV, "HOME": self.identity.home}

    def start(self, script, **options):
        """A run that goes on while the test looks at it: a Popen with its pipes open."""
        return subprocess.Popen(self.argv(script, **options), cwd=self.folder, env=self.environ(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    def run(self, script, *, typed=None, within=60, **options):
        """Runs to the end. typed: bytes for the program's own stdin. within: seconds, after which it has hung."""
        return self._finish(self.argv(script, **options), typed, within, options.get("json_answer", True))

    def bash(self, script, **options):
        return self.run(script, language="bash", **options)

    def command(self, *args, within=30):
        """Any other command line of the program."""
        return self._finish(self.identity.wrap([PROGRAM, *args]), None, within, False)

    def _finish(self, argv, typed, within, json_answer):
        began = time.monotonic()
        child = subprocess.Popen(argv, cwd=self.folder, env=self.environ(), start_new_session=True,
                                 stdin=subprocess.PIPE if typed is not None else subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            stdout, stderr = child.communicate(typed, timeout=within)
        except subprocess.TimeoutExpired:
            stop(child)
            stdout, stderr = child.communicate()
            raise AssertionError(f"cloche did not end within {within} s; stderr: {stderr[-2000:]!r}") from None
        wall = time.monotonic() - began
        run = Run(child.returncode, stdout, stderr, wall, self.out)
        if json_answer and stdout:
            run.answer = json.loads(stdout)
        return run


def stop(child):
    """Ends a program that we started, politely first."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if child.poll() is None:
            os.kill(child.pid, number)
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                continue


def first_line(child, within=20):
    """Waits for one line of a started run's stdout; byte by byte, so that what follows stays in the pipe."""
    line, fd, deadline = b"", child.stdout.fileno(), time.monotonic() + within
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([fd], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"no line arrived while the run was going on, only {line!r}"
        byte = os.read(fd, 1)
        assert byte, f"the run ended after {line!r}: {child.stderr.read().decode(errors='replace')}"
        line += byte
    return line.decode(errors="replace").rstrip("\n")
