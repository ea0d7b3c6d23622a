"""Reads the ideas: scripts with a header of `# key: value` comments.

attacks  what the script tries                      line      the line of security.md (a key of LINES)
expect   ok (default), error, memory, timeout, any; several with commas
profile  another profile than strict                timeout   seconds of --timeout
within   seconds after which the run has hung       stdin     text given with --stdin
program  a C file of programs/, given with --file   rootless  yes: part of the sample that normal runs try rootless
args     words after --; {hostname} is the host's name, {secret} the planted environment secret backwards
status   the exit status of the script that belongs to expect: error
"""
import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PRELUDE = (HERE / "prelude.py").read_text()
KEYS = {"attacks", "line", "expect", "profile", "timeout", "within", "stdin", "program", "rootless", "args", "status"}
LINES = {
    "namespaces": "own pid, mount, net, ipc, uts, user namespace; read-only root",
    "ids": "host ids of the session's own, no groups",
    "privileges": "no_new_privs, empty capability sets, locked securebits",
    "filter": "seccomp filter",
    "second lock": "user.max_*_namespaces at 0",
    "reader": "file reader by openat2",
    "names": "nothing of the supervisor goes through a name in the home",
    "inheritance": "descriptors, environment, signal state, session from an explicit list",
    "init": "a tiny init of ours as pid 1",
    "end": "end of a run: kill, wait until empty, answer",
    "cgroup": "one cgroup per session",
    "zygote": "preloaded interpreter in a jail of its own",
    "tmpfs": "size and nr_inodes on every writable place",
    "rlimits": "resource limits",
    "fail closed": "a missing protection stops the start",
    "supervisor": "it must outlive its jails; caps on buffers",
    "landlock": "second wall for paths, signals, abstract sockets",
    "dumpable": "init and its neighbours cannot be read, signalled or limited",
    "neighbours": "inotify and its kin show nothing of others",
    "proc": "no /proc, or only own processes",
    "denied calls": "the list of denied system calls",
    "memory": "memory of a session",
}


@dataclass
class Idea:
    path: Path
    header: dict
    body: str

    @property
    def name(self):
        return self.path.stem

    @property
    def language(self):
        return "bash" if self.path.suffix == ".sh" else "python"

    @property
    def script(self):
        return self.body if self.language == "bash" else PRELUDE + self.body

    @property
    def expect(self):
        return {word.strip() for word in self.header.get("expect", "ok").split(",")}


def read(path):
    body = path.read_text()
    header = {}
    for line in body.splitlines():
        match = re.match(r"# (\w+): (.*)", line)
        if not match:
            break
        header[match[1]] = match[2].strip()
    unknown = set(header) - KEYS
    assert not unknown and header.get("attacks") and header.get("line") in LINES, f"{path}: header {header}"
    return Idea(path, header, body)


def read_all(folder="ideas"):
    return [read(path) for path in sorted((HERE / folder).iterdir()) if path.suffix in (".py", ".sh")]
