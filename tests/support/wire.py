"""A client of cloche-jaild, written against src/wire/message.h alone: it can say all that the protocol knows, and,
with send(), what it does not.

Every request has one answer with its number (seq); call() waits for it and keeps what comes meanwhile for others. A
refusal is raised as Refused. Answers are dictionaries of the struct's fields.
"""
import contextlib
import enum
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import tables

VERSION = 1
PATH_SIZE = 4097
HEADER = struct.Struct("<HHI")
ANSWER_WITHIN_S = 20
MFD_FLAGS = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
PACKAGE_MAGIC = 0x31504C43
SOCKET_FD = 3  # as cloche has it
REPORT_SIZE = 1024 * 1024
REPORT_BEGUN = 7  # src/wire/report.h
LANGUAGES = {"python": 0, "bash": 1, "program": 2}
ENTRY = struct.Struct("<IHBBIIQQqq2QII")
KINDS = ("file", "folder", "link", "other")
LIST_HASH, LIST_SETTLE, LIST_TARGETS = 1, 2, 4
MAKE_FOLDER, MAKE_LINK, MAKE_SAME = range(3)
LIVE_RESET = 1
WARM = {"none": 0, "small": 1, "data": 2}


Type = enum.IntEnum("Type", tables.types())


class End(enum.IntEnum):
    EXIT = 0
    SIGNAL = 1
    TIMEOUT = 2
    MEMORY = 3
    CANCELLED = 4


_FIELDS = {
    Type.FAILED: ("<iI", "error stage"),
    Type.DONE: ("<", ""),
    Type.STATUS_IS: ("<6I3Q128s", "backend protections landlock_abi sessions cells spares spares_taken spares_missed spares_lost "
                     "zygotes"),
    Type.SESSION_IS: ("<Q", "session"),
    Type.RUN_STARTED: ("<QQQII", "run start_us at_us interpreter lost"),
    Type.RUN_ENDED: ("<QIiQQQ2I2H3I2Q", "run end code wall_us cpu_us memory_peak_bytes memory_peak_is_rss advice "
                                          "is_kept is_home_empty lost interpreter lost_before start_us at_us"),
    Type.FILE_IS: ("<QqQ", "size_bytes mtime_ns inode"),
    Type.UPLOAD_IS: ("<Q", "upload"),
    Type.LISTING_IS: ("<IIQ", "entries is_truncated size_bytes"),
}


class Interpreter(enum.IntEnum):
    OWN = 0
    NEW = 1
    REUSED = 2


class Lost(enum.IntEnum):
    NOTHING = 0
    REQUEST = 1
    TIMEOUT = 2
    MEMORY = 3
    CANCELLED = 4
    CRASH = 5


class Refused(Exception):
    """FAILED: error is an errno, stage the number of a stage or 0."""

    def __init__(self, error, stage):
        super().__init__(f"{errno.errorcode.get(error, error)} at stage {stage}")
        self.error, self.stage = error, stage


class Gone(Exception):
    """The connection has ended."""


class Message(dict):
    def __init__(self, kind, seq, fields, fds):
        super().__init__(fields)
        self.kind, self.seq, self.fds = kind, seq, fds


def _decode(data, fds):
    kind, version, seq = HEADER.unpack_from(data)
    assert version == VERSION
    form, names = _FIELDS[Type(kind)]
    assert len(data) == HEADER.size + struct.calcsize(form), f"{Type(kind).name} of {len(data)} bytes"
    return Message(Type(kind), seq, dict(zip(names.split(), struct.unpack_from(form, data, HEADER.size))), fds)


def header(kind, seq, version=VERSION):
    return HEADER.pack(kind, version, seq)


def limits_pack(limits):
    return struct.pack(f"<{len(tables.limits())}Q", *[limits[name] for name in tables.limits()])


def open_body(key, limits, reserved=bytes(7)):
    return key.encode().ljust(129, b"\0") + reserved + limits_pack(limits)


def spares_body(count, limits, reserved=0):
    return struct.pack("<II", count, reserved) + limits_pack(limits)


def file_body(session, path, mode=0, reserved=0, padding=bytes(7)):
    path = os.fsencode(path)
    return struct.pack("<QII", session, mode, reserved) + path.ljust(PATH_SIZE, b"\0") + padding


def make_body(session, kind, path, text="", mode=0, mtime_ns=0, padding=bytes(7)):
    names = os.fsencode(path) + b"\0" + os.fsencode(text)
    return struct.pack("<QqII", session, mtime_ns, kind, mode) + names.ljust(PATH_SIZE, b"\0") + padding


def memfd(data, seals=SEALS):
    fd = os.memfd_create("test", MFD_FLAGS)
    os.write(fd, data)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def package(code, language="python", args=(), env=()):
    """The bytes of a package (wire/package_form.h)."""
    code = code.encode() if isinstance(code, str) else code
    strings = b"".join(os.fsencode(word) + b"\0" for word in (*args, *env))
    head = struct.pack("<6I", PACKAGE_MAGIC, LANGUAGES[language], len(args), len(env), len(strings), len(code))
    return head + strings + code


def report():
    fd = os.memfd_create("report", MFD_FLAGS)
    os.ftruncate(fd, REPORT_SIZE)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return fd


def report_records(fd):
    """{tag: bytes} of a report's records."""
    data, at, found = os.pread(fd, REPORT_SIZE, 0), 0, {}
    while at + 5 <= len(data) and data[at]:
        size = int.from_bytes(data[at + 1:at + 5], "little")
        found[data[at]] = data[at + 5:at + 5 + size]
        at += 5 + size
    return found


def report_read(fd):
    """{tag: text} of them, without the time that the script began."""
    return {tag: data.decode(errors="replace") for tag, data in report_records(fd).items() if tag != REPORT_BEGUN}


class Run:
    """A run under way: its own ends of the pipes, and what jaild says of it."""

    def __init__(self, jaild, seq, out, err, report=-1):
        self.jaild, self.seq, self.out, self.err, self.report = jaild, seq, out, err, report
        self.start = self.end = None
        self._buffer = b""

    def started(self, within=ANSWER_WITHIN_S):
        """RUN_STARTED, or what the end of a short live call tells of its start."""
        if not self.start:
            self.start = said = self.jaild.answer(self.seq, (Type.RUN_STARTED, Type.RUN_ENDED), within)
            if said.kind == Type.RUN_ENDED:
                assert said["interpreter"] != Interpreter.OWN, "an end without a start"
                self.end, self.start = said, Message(said.kind, said.seq, {**said, "lost": said["lost_before"]}, [])
        return self.start

    def ended(self, within=ANSWER_WITHIN_S):
        self.started(within)
        if not self.end:
            self.end = self.jaild.answer(self.seq, Type.RUN_ENDED, within)
            assert self.end["interpreter"] == Interpreter.OWN, "the start is told twice"
        return self.end

    def line(self, within=ANSWER_WITHIN_S):
        """The next line of stdout, without its end."""
        deadline = time.monotonic() + within
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.out], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"no line of output within {within} s, but {self._buffer!r}"
            chunk = os.read(self.out, 65536)
            assert chunk, f"the output ended: {self._buffer!r}, stderr {self.errors()!r}"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace")

    def text(self):
        """All of stdout until its end."""
        while chunk := os.read(self.out, 65536):
            self._buffer += chunk
        return self._buffer.decode(errors="replace")

    def begun_ns(self):
        """When the script began, of a run that has ended; None if it is not told."""
        told = report_records(self.report).get(REPORT_BEGUN)
        return told if told is None else int.from_bytes(told, "little")

    def errors(self):
        os.set_blocking(self.err, False)
        try:
            return os.read(self.err, 65536)
        except BlockingIOError:
            return b""

    def rest(self):
        """What the pipes hold now, and the report's records: the ends of a live call stay open."""
        texts = []
        for fd in self.out, self.err:
            os.set_blocking(fd, False)
            data = b""
            with contextlib.suppress(BlockingIOError):
                while chunk := os.read(fd, 65536):
                    data += chunk
            texts.append(data.decode(errors="replace"))
        return self._buffer.decode(errors="replace") + texts[0], texts[1], report_read(self.report)

    def both(self, within=ANSWER_WITHIN_S):
        """All of stdout and of stderr until their ends, in bytes."""
        found = {self.out: [self._buffer], self.err: []}
        left, deadline = set(found), time.monotonic() + within
        while left:
            ready, _, _ = select.select(left, [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"the output has not ended within {within} s"
            for fd in ready:
                chunk = os.read(fd, 65536)
                found[fd].append(chunk)
                left -= set() if chunk else {fd}
        return b"".join(found[self.out]), b"".join(found[self.err])

    def close(self):
        for name in ("out", "err", "report"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
                setattr(self, name, -1)


class Client:
    """One connection to a jaild."""

    def __init__(self, connection):
        self.socket = connection
        self.seq = 0
        self.kept = []
        self.runs = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hang_up()

    def hang_up(self):
        self.socket.close()
        for run in self.runs:
            run.close()

    # what we say

    def send(self, kind, body=b"", fds=(), seq=None, version=VERSION):
        """Any datagram with a header. Returns its number."""
        if seq is None:
            self.seq += 1
            seq = self.seq
        self.send_bytes(header(kind, seq, version) + body, fds)
        return seq

    def send_bytes(self, data, fds=()):
        socket.send_fds(self.socket, [data], list(fds)) if fds else self.socket.send(data)

    def receive(self, within=ANSWER_WITHIN_S):
        self.socket.settimeout(within)
        try:
            data, fds, _, _ = socket.recv_fds(self.socket, 8192, 8)
        except ConnectionResetError:
            raise Gone from None
        if not data:
            raise Gone
        return _decode(data, fds)

    def answer(self, seq, wanted, within=ANSWER_WITHIN_S):
        """The message with this number. FAILED is raised, another kind than wanted (one or several) is an error."""
        deadline = time.monotonic() + within
        while True:
            at = next((at for at, kept in enumerate(self.kept) if kept.seq == seq), None)
            if at is not None:
                message = self.kept.pop(at)
                break
            self.kept.append(self.receive(max(0.001, deadline - time.monotonic())))
        if message.kind == Type.FAILED:
            raise Refused(message["error"], message["stage"])
        kinds = wanted if isinstance(wanted, tuple) else (wanted,)
        assert message.kind in kinds, f"{message.kind.name} instead of {' or '.join(kind.name for kind in kinds)}"
        return message

    def call(self, kind, body, wanted, within=ANSWER_WITHIN_S):
        return self.answer(self.send(kind, body), wanted, within)

    def ends(self, within=10):
        """Waits until jaild has hung up; what it said before."""
        said = []
        deadline = time.monotonic() + within
        while True:
            try:
                said.append(self.receive(max(0.001, deadline - time.monotonic())))
            except (Gone, ConnectionResetError, BrokenPipeError):
                return said

    # requests

    def status(self):
        return self.call(Type.STATUS, b"", Type.STATUS_IS)

    def zygotes(self):
        """{kind: {state, generation, loaded, copies, used, missed, kills, hot_pages, lesson, stage, error}}"""
        names = "state generation loaded copies used missed kills hot_pages lesson stage error".split()
        rows = struct.iter_unpack("<IIQQQQQIiIi", self.status()["zygotes"])
        return {kind: dict(zip(names, row)) for kind, row in zip(("small", "data"), rows)}

    def open(self, key="test", profile="strict", **changes):
        limits = {**tables.profile(profile), **changes}
        return self.call(Type.SESSION_OPEN, open_body(key, limits), Type.SESSION_IS)["session"]

    def spares(self, count, profile="strict", **changes):
        limits = {**tables.profile(profile), **changes}
        self.call(Type.SPARES, spares_body(count, limits), Type.DONE)

    def close(self, session, within=ANSWER_WITHIN_S):
        self.call(Type.SESSION_CLOSE, struct.pack("<Q", session), Type.DONE, within)

    def run(self, session, code, language="python", args=(), env=(), wall_ms=0, package_fd=None, warm="none", stdin=None):
        """Asks for a run and does not wait."""
        body = struct.pack("<QQII", session, wall_ms, WARM[warm], 0)
        return self._begin(Type.RUN, body, code, language, args, env, package_fd, stdin)

    def live(self, session, code, args=(), env=(), wall_ms=0, flags=0, stdin=None):
        """The same for a call of the session's live interpreter."""
        body = struct.pack("<QQII", session, wall_ms, flags, 0)
        return self._begin(Type.LIVE, body, code, "python", args, env, None, stdin)

    def _begin(self, kind, body, code, language, args, env, package_fd, stdin=None):
        out, theirs_out = os.pipe()
        err, theirs_err = os.pipe()
        null = os.open("/dev/null", os.O_RDONLY) if stdin is None else memfd(stdin)
        if stdin is not None:
            os.lseek(null, 0, os.SEEK_SET)
        if package_fd is None:
            package_fd = memfd(package(code, language, args, env))
        memory = report()
        fds = [package_fd, null, theirs_out, theirs_err, memory]
        if kind == Type.LIVE:
            fds = [package_fd, theirs_out, theirs_err, memory, *([null] if stdin is not None else [])]
        run = Run(self, self.send(kind, body, fds), out, err, os.dup(memory))
        for fd in package_fd, null, theirs_out, theirs_err, memory:
            os.close(fd)
        self.runs.append(run)
        return run

    def result(self, session, code, language="python", within=ANSWER_WITHIN_S, **options):
        """Runs to the end. Returns (ended, stdout)."""
        run = self.run(session, code, language, **options)
        ended = run.ended(within)
        text = run.text()
        errors = run.errors()
        run.close()
        self.runs.remove(run)
        assert ended["end"] != End.EXIT or ended["code"] == 0 or "code" in options, f"{ended} {text!r} {errors!r}"
        return ended, text

    def cancel(self, run):
        self.call(Type.RUN_CANCEL, struct.pack("<Q", run), Type.DONE)

    def look(self, run):
        """Has no answer of its own."""
        self.send(Type.RUN_LOOK, struct.pack("<Q", run))

    def file_open(self, session, path, mode=0):
        """Returns (descriptor, answer)."""
        answer = self.call(Type.FILE_OPEN, file_body(session, path, mode), Type.FILE_IS)
        return answer.fds[0], answer

    def file_read(self, session, path):
        fd, _ = self.file_open(session, path)
        with os.fdopen(fd, "rb") as file:
            return file.read()

    def file_create(self, session, path, mode=0o644):
        """Returns (upload, descriptor)."""
        answer = self.call(Type.FILE_CREATE, file_body(session, path, mode), Type.UPLOAD_IS)
        return answer["upload"], answer.fds[0]

    def file_commit(self, upload, mtime_ns=None):
        body = struct.pack("<QqII", upload, mtime_ns or 0, mtime_ns is not None, 0)
        self.call(Type.FILE_COMMIT, body, Type.DONE)

    def make(self, session, kind, path, text="", mode=0, mtime_ns=0):
        self.call(Type.MAKE, make_body(session, kind, path, text, mode, mtime_ns), Type.DONE)

    def file_abort(self, upload):
        self.call(Type.FILE_ABORT, struct.pack("<Q", upload), Type.DONE)

    def file_put(self, session, path, data, mode=0o644):
        upload, fd = self.file_create(session, path, mode)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        self.file_commit(upload)

    def file_remove(self, session, path):
        self.call(Type.FILE_REMOVE, file_body(session, path), Type.DONE)

    def list_send(self, session, flags=0, hash_key=bytes(16)):
        return self.send(Type.LIST, struct.pack("<QII16s", session, flags, 0, hash_key))

    def list(self, session, flags=0, within=ANSWER_WITHIN_S, hash_key=bytes(16)):
        """Returns (answer, {path in bytes: entry})."""
        return listing_read(self.answer(self.list_send(session, flags, hash_key), Type.LISTING_IS, within))

    def attach(self):
        """Another connection to the same jaild."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.answer(self.send(Type.ATTACH, fds=[theirs.fileno()]), Type.DONE)
        return Client(ours)


class Jaild(Client):
    """A jaild of our own and its first connection. Ready when made, unless is_ready is false: then first() tells.

    number is the socket's in jaild; before are words for the shell that starts it.
    """

    def __init__(self, pen, program=tables.BUILD / "cloche-jaild", fail_stage=0, is_ready=True, options=(),
                 number=SOCKET_FD, before=""):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        super().__init__(ours)
        self.pen = pen
        argv = [program, "--socket-fd", number, *options]
        argv += ["--fail-stage", fail_stage] if fail_stage else []
        move = f"exec {number}<&{theirs.fileno()}-; " if number != theirs.fileno() else ""
        move += before
        self.launcher = subprocess.Popen(
            pen.wrap(argv, move), pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True)
        theirs.close()
        if is_ready:
            self.first()

    def __exit__(self, *_):
        self.stop()

    def first(self):
        """The first word: DONE, or Refused is raised."""
        return self.answer(0, Type.DONE)

    def stop(self, within=20):
        """Hangs up, and waits until the launcher has gone. Returns its exit status."""
        self.hang_up()
        try:
            return self.launcher.wait(within)
        except subprocess.TimeoutExpired:
            self.launcher.kill()
            raise
        finally:
            self.launcher.wait()
            self.launcher.stderr.close()

    # what can be seen of it from outside

    @property
    def pid(self):
        """jaild itself, the launcher's child."""
        found = children(self.launcher.pid)
        assert len(found) == 1, f"the launcher has children {found}"
        return found[0]

    def inits(self):
        return [pid for pid in children(self.pid) if cmdline(pid) == b"cloche-init"]

    def walkers(self):
        """Those that wait for a home, and those that read one."""
        found = []
        for pid in children(self.pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                if Path(f"/proc/{pid}/comm").read_text() == "cloche-walker\n":
                    found.append(pid)
        return found

    def waiting_walker(self, within=10):
        """One is begun behind each listing, if spares are wanted."""
        return only(self.walkers, within)

    def makers(self):
        return [pid for pid in children(self.pid) if cmdline(pid) == b"cloche-make"]

    def descriptors(self):
        """What jaild has open: number -> what it is. It answers before it closes, so it is asked once more first."""
        self.status()
        folder, found = f"/proc/{self.pid}/fd", {}
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):  # a spare cell is being made
                found[int(name)] = os.readlink(f"{folder}/{name}")
        return found

    def descriptors_once(self, wanted, within=ANSWER_WITHIN_S):
        """The same, as soon as they are the wanted ones, or at the deadline: a cell's end takes its time."""
        deadline = time.monotonic() + within
        while (found := self.descriptors()) != wanted and time.monotonic() < deadline:
            time.sleep(0.02)
        return found

    def mounts(self):
        """jaild's own mounts, as lines: not those of the template, which it visits while it makes a cell."""
        while True:
            lines = Path(f"/proc/{self.pid}/mountinfo").read_text().splitlines()
            if any(line.split()[4] == "/usr" for line in lines):
                continue
            return lines

    def memory(self):
        """Bytes of jaild alone: all its pages, its share of them, and what it has written itself."""
        lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()
        sizes = {line.split()[0].rstrip(":"): int(line.split()[1]) * 1024 for line in lines[1:]}
        return {"rss": sizes["Rss"], "pss": sizes["Pss"], "private": sizes["Private_Dirty"]}


def listing_read(answer):
    """Returns (answer, {path in bytes: entry}) of LISTING_IS; closes its descriptor."""
    with os.fdopen(answer.fds[0], "rb") as file:
        assert fcntl.fcntl(file.fileno(), fcntl.F_GET_SEALS) == SEALS
        file.seek(0)  # the walker has left it at its end
        data = file.read()
    assert len(data) == answer["size_bytes"]
    found, at = {}, 0
    while at < len(data):
        size, length, kind, hashed, mode, links, bytes_, inode, mtime, ctime, low, high, target, _ = \
            ENTRY.unpack_from(data, at)
        path = data[at + ENTRY.size:at + ENTRY.size + length]
        pointed = data[at + ENTRY.size + length:at + ENTRY.size + length + target]
        found[path] = {"kind": KINDS[kind], "mode": mode, "links": links, "size": bytes_, "inode": inode,
                       "mtime": mtime, "ctime": ctime, "hash": (low, high) if hashed else None,
                       "target": pointed}
        at += size
    assert len(found) == answer["entries"]
    return answer, found


def only(find, within):
    """What find() names, once that is one thing."""
    deadline = time.monotonic() + within
    while len(found := find()) != 1:
        assert time.monotonic() < deadline, found
        time.sleep(0.002)
    return found[0]


def children(pid):
    """Living children, zombies left out."""
    try:
        words = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(word) for word in words if cmdline(int(word))]


def cmdline(pid):
    """The first word of a process's command line, empty for zombies and those that are gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
    except OSError:
        return b""


def kill(pid):
    os.kill(pid, signal.SIGKILL)
