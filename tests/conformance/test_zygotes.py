"""Zygotes and the copies of them: nothing passes from a run to another one, what fails costs speed alone."""
import ast
import collections
import itertools
import os
import re
import signal
import struct
import sys
import time
import types
from pathlib import Path

import pytest
import wire
from conftest import LOADING, SERVES, serving
from wire import End

_numbers = itertools.count()
NAME = "/usr/bin/python3"
IS_WARM = "import sys; print('asyncio' in sys.modules)"
# What is random or unique, each line of it.
UNIQUE = """
import os, random, secrets, ssl, tempfile, uuid
print(random.random(), random.SystemRandom().random(), random.getrandbits(64))
print(uuid.uuid4(), uuid.uuid1(), uuid.getnode())
print(secrets.token_hex(8), os.urandom(8).hex(), ssl.RAND_bytes(8).hex())
print(next(tempfile._get_candidate_names()), tempfile.mktemp())
import multiprocessing
print(multiprocessing.current_process().authkey.hex())
"""
UNIQUE_DATA = "import numpy as np; print(np.random.random(), np.random.default_rng().random(), np.random.get_state()[1][:2])"
PROBE = """
import atexit, builtins, gc, json, locale, logging, os, random, signal, sys, threading, warnings
print(sorted(n for n in vars(builtins)), json.dumps([1]), sorted(os.environ.items()), sys.path, sys.argv)
print(sorted(m for m in sys.modules if m not in ("_crypt",)), len(warnings.filters), logging.getLogger().handlers)
print(sys.getrecursionlimit(), sys.getswitchinterval(), locale.setlocale(locale.LC_ALL), os.umask(0o22), os.getcwd())
print([str(signal.getsignal(s)) for s in (2, 10, 13, 15)], signal.pthread_sigmask(0, []), threading.active_count())
print(sorted(os.listdir("/tmp") + os.listdir("/dev/shm") + os.listdir("/run/cloche")), gc.isenabled(), gc.get_threshold())
print(sys.gettrace(), sys.excepthook is sys.__excepthook__, sys.flags, sys.getdefaultencoding(), random.seed is not None)
print([o for o in gc.get_objects() if type(o) is dict and o.get("mark") == "of another run"])
"""
SPOIL = """
import atexit, builtins, gc, json, locale, logging, os, random, signal, sys, threading, warnings
builtins.print_, builtins.len = print, lambda *_: 7
json.dumps = lambda *_: "spoilt"
os.environ["SPOILT"] = "1"; os.environ["PATH"] = "/nowhere"
sys.path.insert(0, "/spoilt"); sys.modules["spoilt"] = json; del sys.modules["csv"]
warnings.simplefilter("error"); logging.basicConfig(); sys.setrecursionlimit(77); sys.setswitchinterval(9)
os.umask(0o777); signal.signal(15, signal.SIG_IGN); signal.pthread_sigmask(0, [10]); random.seed(1)
for place in "/tmp", "/dev/shm": open(place + "/spoilt", "w").write("x")
gc.disable(); gc.set_threshold(1); sys.settrace(lambda *_: None); sys.excepthook = print
sys.mark = {"mark": "of another run"}; atexit.register(os._exit, 0)
os.chdir("/tmp")
"""


def warm_run(jaild, code, kind="small", session=None):
    own = session or jaild.open(f"z{next(_numbers)}")
    try:
        return jaild.result(own, code, warm=kind)[1]
    finally:
        if not session:
            jaild.close(own)


def zygotes_of(jaild):
    return [pid for pid in wire.children(jaild.pid) if wire.cmdline(pid).decode() == NAME]


@pytest.fixture
def own(pen):
    """A jaild of the test's own."""
    with wire.Jaild(pen, options=["--zygotes", "1000"]) as jaild:
        serving(jaild)
        yield jaild


@pytest.mark.parametrize("kind, code, runs", [("small", UNIQUE, 196), ("data", UNIQUE + UNIQUE_DATA, 16)], ids=["small", "data"])
def test_nothing_random_repeats(warm, kind, code, runs):
    """In one session, whose cells are spares made ahead, and in others; hash seed and layout aside (SECURITY.md)."""
    session = warm.open("random")
    texts = [warm_run(warm, code, kind, session) for _ in range(runs)] + [warm_run(warm, code, kind) for _ in range(4)]
    warm.close(session)
    words = collections.Counter(word for text in texts for word in text.split() if len(word) > 3)
    repeated = {word for word, times in words.items() if times > 1}
    assert not repeated, f"repeated: {repeated}"


# Takes numbers by threads, which is quicker, and has a child at each one that a zygote has in its own space.
CHILDREN_OF_ITS_NUMBER = """
import os, ssl, threading
number = 0
while number < min(wanted) - 3:
    thread = threading.Thread(target=int)
    thread.start(); thread.join()
    number = thread.native_id
while number < max(wanted):
    if (number := os.fork()) == 0:
        if os.getpid() in wanted: print(os.getpid(), ssl.RAND_bytes(8).hex(), flush=True)
        os._exit(0)
    os.waitpid(number, 0)
"""


def test_nothing_random_repeats_in_a_child_that_has_the_zygotes_number(warm):
    """OpenSSL knows a process that is another one by its number alone."""
    wanted = [int(re.search(r"NSpid:.*\s(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) for pid in zygotes_of(warm)]
    lines = [line for _ in range(3) for line in warm_run(warm, f"wanted = {wanted}\n{CHILDREN_OF_ITS_NUMBER}").splitlines()]
    assert len(lines) == 3 * len(wanted) and len(set(lines)) == len(lines), lines


def test_what_a_library_wants_done_in_children_is_noted():
    """Copies are not told of their birth by Python; locks of the standard library are nobody else's in them."""
    tree = ast.parse((Path(__file__).parents[2] / "zygote" / "zygote.py").read_text())
    wanted = [node for node in tree.body if getattr(node, "name", "") == "note_at_fork" or "ONLY_LOCKS =" in ast.unparse(node)]
    told = []
    names = {"sys": sys, "AT_FORK": [], "register_at_fork": lambda **named: told.append(named)}
    exec(compile(ast.Module(wanted, []), "zygote.py", "exec"), names)
    for library in "logging", "one", "other":
        exec("note_at_fork(before=len, after_in_child=ord) if __name__ != 'other' else note_at_fork(after_in_parent=chr)",
             {"__name__": library, "note_at_fork": names["note_at_fork"]})
    assert names["AT_FORK"] == [len, ord]
    assert told == [{"before": len, "after_in_child": ord}] * 2 + [{"after_in_parent": chr}]


def test_nothing_of_a_run_is_in_the_next_one(warm):
    session = warm.open("spoilt")
    fresh = warm_run(warm, PROBE, session=session)
    assert "'asyncio'" in fresh
    for _ in range(3):
        warm_run(warm, SPOIL, session=session)
        assert warm_run(warm, PROBE, session=session) == fresh
        assert warm_run(warm, PROBE) == fresh
    warm.close(session)


def test_script_cannot_reach_its_zygote(warm):
    """Signals, limits and namespaces of every process number that there could be."""
    before = warm.zygotes()["small"]["generation"], zygotes_of(warm)
    text = warm_run(warm, """
import ctypes, errno, os, signal
libc = ctypes.CDLL(None, use_errno=True)
me, bad = os.getpid(), []
for fd in range(3, 1024):
    try: os.fstat(fd); bad.append(("descriptor", fd))
    except OSError: pass
for pid in [*range(1, 3000), os.getppid()]:
    for number in (0, 9, 19):
        try: os.kill(pid, number) if pid != me else None
        except (ProcessLookupError, PermissionError): continue
        if pid != me: bad.append((pid, number))
    if pid != me:
        for call, args in ((101, (16, pid, 0, 0)), (302, (pid, 7, 0, 0)), (434, (pid, 0))):
            if libc.syscall(call, *args) >= 0: bad.append((pid, call))
for call, args in ((308, (0, 0)), (272, (0x10000000,)), (56, (0x10000011, 0, 0, 0, 0)), (435, (0, 0))):
    if libc.syscall(call, *args) >= 0: bad.append(call)
print(bad, os.listdir("/proc"))
""")
    # 434 of init and of oneself is no way to anything; there are no others
    assert text == "[(1, 434), (1, 434)] []\n"
    assert (warm.zygotes()["small"]["generation"], zygotes_of(warm)) == before


def test_a_child_that_survives_its_script_is_ended(warm):
    inits = len(warm.inits())
    session = warm.open("child")
    text = warm_run(warm, """
import os, signal, time
if os.fork() == 0:
    os.setsid(); signal.signal(15, signal.SIG_IGN); os.close(1); os.close(2); time.sleep(600)
print("on")
""", session=session)
    assert text == "on\n"
    warm.close(session)
    assert len(warm.inits()) == inits


def test_interpreter_that_waits_goes_with_its_session(own):
    session = own.open("waits")
    warm_run(own, "print(1)", session=session)
    deadline = time.monotonic() + 20
    while own.zygotes()["small"]["copies"] < 2:  # the next one is made, and waits
        assert time.monotonic() < deadline
        time.sleep(0.01)
    own.close(session)
    assert own.inits() == []
    assert sorted(wire.children(own.pid)) == sorted([*zygotes_of(own), *own.makers()])


def test_limits_hold_in_a_copy(warm):
    session = warm.open("limits")
    run = warm.run(session, "x = bytearray(400_000_000); x[::4096] = b'x' * len(x[::4096])", warm="small")
    assert run.ended()["end"] == End.MEMORY
    run = warm.run(session, "while True: pass", warm="small", wall_ms=300)
    assert run.ended()["end"] == End.TIMEOUT
    ended, text = warm.result(session, "import os\nn = 0\ntry:\n while True:\n  if os.fork() == 0: os.pause() if hasattr(os, 'pause') else __import__('time').sleep(60)\n  n += 1\nexcept OSError: print(n)", warm="small")
    assert text == "15\n" and ended["advice"] == 1
    warm.close(session)


def test_what_a_zygote_may(own):
    """As the host sees it: no capability, no way out, nothing to write to, nobody's secrets."""
    for pid in zygotes_of(own):
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":\t" in line)
        assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
        assert (status["NoNewPrivs"], status["Seccomp"], status["Threads"]) == ("1", "2", "1")
        assert int(status["NSpid"].split()[-1]) >= 1000
        for kind in ("mnt", "net", "ipc", "uts"):
            assert os.readlink(f"/proc/{pid}/ns/{kind}") != os.readlink(f"/proc/{own.pid}/ns/{kind}"), kind
        mounts = [line.split() for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines()]
        assert mounts and all("ro" in line[5].split(",") for line in mounts), mounts
        links = {name: os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")}
        assert set(links) == {"0", "1", "2", "3"} and links["3"].startswith("socket:"), links
        names = {word.partition(b"=")[0] for word in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if word}
        assert b"PATH" in names and not names & {b"SECRET", b"LD_PRELOAD", b"PYTHONPATH"}
        assert len(Path(f"/proc/{pid}/net/dev").read_text().splitlines()) == 3  # two of heading, and lo


def stands_still(pid):
    """It gives everything away first, and reseeds; then it waits for a run: it sleeps, and nothing of it changes."""
    before = Path(f"/proc/{pid}/stat").read_text()
    time.sleep(0.1)
    return before == Path(f"/proc/{pid}/stat").read_text() and before.rpartition(")")[2].split()[0] == "S"


def waiting_copy(jaild, session, kind):
    """The interpreter that waits in the session's spare cell."""
    warm_run(jaild, "print(1)", kind, session)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = [pid for init in jaild.inits() for pid in wire.children(init) if wire.cmdline(pid).decode() == NAME]
        if found and stands_still(found[0]):
            return found[0]
        time.sleep(0.01)
    raise AssertionError("no interpreter waits")


def faults_of(pid):
    """Minor page faults so far; proc_pid_stat(5)."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[7])


@pytest.mark.parametrize("kind, most_kib, script", [
    ("small", 2048, "print(6*7)"), ("data", 4096, "import numpy as np; print(np.arange(3).sum())"),
], ids=["small", "data"])
def test_copy_has_its_pages_before_its_run(own, kind, most_kib, script):
    """What a run writes of the zygote's memory is copied while the copy waits, and that is bounded."""
    session = own.open(f"pages-{kind}")
    pid = waiting_copy(own, session, kind)
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    private = sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    before = faults_of(pid)
    run = own.run(session, script + "\nimport time; time.sleep(60)", warm=kind)
    run.line()
    after = faults_of(pid)  # of the same process
    own.cancel(run.started()["run"])
    run.ended()
    own.close(session)
    hot_pages = own.zygotes()[kind]["hot_pages"]
    assert 100 < hot_pages <= private / 4 and private <= most_kib
    assert after - before < 200  # 300 to 900 without the list


@pytest.mark.parametrize("kind", ["small", "data"])
def test_copy_tells_when_its_script_began(warm, kind):
    session = warm.open(f"began-{kind}")
    before = warm.zygotes()[kind]["used"]
    for _ in range(2):
        asked = time.monotonic_ns()
        run = warm.run(session, "import time\nprint(time.monotonic_ns())", warm=kind)
        run.ended()
        assert asked < run.begun_ns() < int(run.text())
        run.close()
    assert warm.zygotes()[kind]["used"] > before
    warm.close(session)


def huge_kib(pid):
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))


def test_zygote_stays_in_huge_pages(own):
    """What a zygote writes while it has copies is taken out of its huge pages, for all copies to come: it writes nothing."""
    zygotes = zygotes_of(own)
    before = [huge_kib(pid) for pid in zygotes]
    for kind in ("small", "data") * 2:
        assert warm_run(own, IS_WARM, kind) == "True\n"
    assert min(before) > 0
    assert [huge_kib(pid) for pid in zygotes] == before


def test_what_is_read_and_what_is_executed_are_one_mapping(own):
    """What each mapping costs, each copy pays. The program's own text lies in huge pages, not in its file, where they are to be
    had: one of the two may have found none."""
    texts = []
    for pid in zygotes_of(own):
        mappings = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
        starts = [fields for fields in mappings if fields[2] == "00000000" and fields[-1].endswith(".so")]
        assert len(starts) > 10 and {fields[1] for fields in starts} == {"r-xp"}
        texts.append(len([fields for fields in mappings if fields[1] == "r-xp" and len(fields) == 5]))
        assert not [fields for fields in mappings if "wx" in fields[1]]
    assert max(texts) == 1


def test_streams_that_are_no_pipes(own):
    """A copy's standard streams are made before there is a run, for what nearly all have; others are made anew."""
    code = """import sys
for one in sys.stdin, sys.stdout, sys.stderr:
    print(one.name, one.mode, one.seekable(), one.line_buffering, one.write_through, one.buffer, one.isatty())
print(sys.stdin.read(), sys.stdout.tell())"""

    def seen(warm, kinds):
        session = own.open(f"streams{next(_numbers)}")
        files = [os.memfd_create("stream") if kind == "file" else os.open("/dev/null", os.O_RDWR) for kind in ("file", *kinds)]
        os.pwrite(files[0], b"typed", 0)
        fds = [wire.memfd(wire.package(code)), *files, wire.report()]
        out, err = (os.open("/dev/null", os.O_RDONLY) for _ in range(2))
        run = wire.Run(own, own.send(wire.Type.RUN, struct.pack("<QQII", session, 0, wire.WARM[warm], 0), fds), out, err, fds[4])
        assert run.ended()["code"] == 0
        text = os.pread(files[1], 4096, 0)
        own.close(session)
        return text

    for kinds in ("file", "file"), ("file", "null"):
        warm, cold = seen("small", kinds), seen("none", kinds)
        assert warm == cold and b"typed" in warm


def test_what_a_copy_may(own):
    """A script's process is the same whether it was executed or copied."""
    def seen(kind):
        session = own.open(f"seen-{kind}")
        run = own.run(session, "import time; print('up', flush=True); time.sleep(60)", warm=kind)
        assert run.line() == "up"
        init, = own.inits()
        pid, = [pid for pid in wire.children(init)]
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        names = ("Uid", "Gid", "Groups", "NSpid", "Cap", "NoNewPrivs", "Umask", "Name", "Sig", "Shd")
        found = [line for line in status if line.startswith(names) and not line.startswith(("SigQ", "NSpid"))]
        found = [line if not line.startswith(("Uid", "Gid")) else line.split()[0] for line in found]
        groups = [Path(f"/proc/{who}/cgroup").read_text() for who in (pid, init)]
        assert groups[0] == groups[1]
        spaces = [os.readlink(f"/proc/{who}/ns/{name}") for who in (pid, init) for name in ("user", "mnt", "net", "pid", "ipc", "uts", "cgroup")]
        assert spaces[:7] == spaces[7:]
        links = sorted(os.listdir(f"/proc/{pid}/fd"))
        limits = Path(f"/proc/{pid}/limits").read_text()
        oom = Path(f"/proc/{pid}/oom_score_adj").read_text()
        own.cancel(run.started()["run"])
        run.ended()
        own.close(session)
        return found, links, limits, oom, status[0]

    assert seen("small") == seen("none")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGSTOP], ids=["killed", "crashed", "stopped"])
def test_zygote_that_is_lost_is_replaced(own, number):
    session = own.open("lost")
    assert warm_run(own, IS_WARM, session=session) == "True\n"
    for pid in zygotes_of(own):
        os.kill(pid, number)
    for _ in range(3):  # slower, never wrong
        assert warm_run(own, IS_WARM, session=session) in ("True\n", "False\n")
        assert warm_run(own, "print(6*7)") == "42\n"
    deadline = time.monotonic() + 40
    while own.zygotes()["small"]["generation"] < 2 and time.monotonic() < deadline:
        assert warm_run(own, "print(6*7)") == "42\n"  # one that is stopped is missed when it is asked
        time.sleep(0.1)
    assert own.zygotes()["small"]["generation"] == 2
    assert warm_run(own, IS_WARM) == "True\n"
    own.close(session)
    assert all(Path(f"/proc/{pid}/status").exists() for pid in zygotes_of(own))


def test_zygote_is_killed_while_it_is_asked(own):
    """At any moment of a copy's way: a run works or is told, its session ends, nothing stays."""
    for turn in range(40):
        session = own.open(f"race{turn}")
        run = own.run(session, IS_WARM, warm="small")
        time.sleep(turn / 4000)
        for pid in zygotes_of(own):
            os.kill(pid, signal.SIGKILL)
        try:
            assert run.ended()["end"] == End.EXIT
            assert run.text() in ("True\n", "False\n")
        except wire.Refused as refusal:
            assert refusal.stage > 0
        run.close()
        own.close(session)
        if turn % 8 == 7:
            serving(own, kinds=["small"])
    assert own.inits() == []


def test_runs_that_are_executed_are_counted(own):
    """init falls back by itself; who watches is told."""
    session = own.open("counted")
    before = own.zygotes()["small"]
    for _ in range(3):
        assert warm_run(own, IS_WARM, session=session) == "True\n"
        time.sleep(0.1)
    middle = own.zygotes()["small"]
    assert (middle["used"] - before["used"], middle["missed"] - before["missed"]) == (3, 0)
    waiting = waiting_copy(own, session, "small")
    os.kill(waiting, signal.SIGKILL)
    assert warm_run(own, IS_WARM, session=session) == "False\n"
    after = own.zygotes()["small"]
    assert (after["used"], after["missed"]) == (middle["used"] + 1, middle["missed"] + 1)
    own.close(session)


def test_zygotes_are_replaced_after_their_runs(pen):
    """The hash seed, which copies of one zygote share, is another one in the next."""
    seeds = set()
    with wire.Jaild(pen, options=["--zygotes", "4"]) as jaild:
        serving(jaild, kinds=["small"])
        for _ in range(24):
            seeds.add(warm_run(jaild, "print(hash('text'))"))
            time.sleep(0.05)
        deadline = time.monotonic() + 60
        while len(seeds) < 3 and time.monotonic() < deadline:
            seeds.add(warm_run(jaild, "print(hash('text'))"))
            time.sleep(0.2)
        assert jaild.zygotes()["small"]["generation"] >= 3
    assert len(seeds) >= 3


def test_without_the_option_there_is_none(pen):
    with wire.Jaild(pen) as jaild:
        assert {zygote["state"] for zygote in jaild.zygotes().values()} == {0}
        assert warm_run(jaild, IS_WARM) == "False\n"
        assert zygotes_of(jaild) == []


@pytest.mark.parametrize("change", [
    {"profile": "roomy"}, {"cpu_ms_per_s": 2000}, {"stack_bytes": 16 << 20}, {"processes": 3},
], ids=str)
def test_cell_that_an_interpreter_does_not_fit_has_it_started(warm, change):
    session = warm.open(f"fit{next(_numbers)}", **change)
    assert warm_run(warm, IS_WARM, session=session) == "False\n"
    warm.close(session)


def test_variables_and_bash_are_started(warm):
    session = warm.open("others")
    assert warm.result(session, "import os, sys; print(os.environ['X'], 'asyncio' in sys.modules)", env=["X=1"],
                       warm="small")[1] == "1 False\n"
    assert warm.result(session, "echo $((6*7))", "bash", warm="none")[1] == "42\n"
    assert warm.result(session, "echo $((6*7))", "bash", warm="small")[1] == "42\n"
    warm.close(session)


def test_states_are_told(pen):
    with wire.Jaild(pen, options=["--zygotes", "10"]) as jaild:
        assert jaild.zygotes()["data"]["state"] in (LOADING, SERVES)
        small = serving(jaild, kinds=["small"])["small"]
        assert small["loaded"] and (small["stage"], small["error"], small["generation"]) == (0, 0, 1)
        assert small["hot_pages"] > 100 and small["lesson"] == 0


@pytest.mark.parametrize("fails", range(6))
def test_nothing_stays_open_of_a_zygote_that_cannot_look_at_itself(fails):
    """The zygote's own function, of whose calls one fails: descriptors of /proc would go to all copies. The last one: none."""
    text = (Path(__file__).resolve().parents[2] / "zygote/zygote.py").read_text()
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name in ("open_own", "witness_start")]
    assert len(functions) == 2
    calls, trouble, forked = itertools.count(), [], []

    def step(function):
        def made(*arguments, **more):
            if next(calls) == fails:
                raise OSError(24, "made to fail")
            return function(*arguments, **more)
        return made

    posix = types.SimpleNamespace(_exit=os._exit, read=os.read, write=os.write, fork=step(lambda: forked.append(os.fork()) or forked[-1]))
    before = set(os.listdir("/proc/self/fd"))
    names = {"PROC_FD": os.open("/proc", os.O_PATH), "open_fd": step(os.open), "pipe": step(os.pipe), "close": os.close,
             "trouble": trouble, "O_RDONLY": os.O_RDONLY, "O_CLOEXEC": os.O_CLOEXEC}
    real = sys.modules["posix"]
    try:
        sys.modules["posix"] = posix
        exec(compile(ast.Module(functions, []), "zygote.py", "exec"), names)
        own = names["open_own"]()
    finally:
        sys.modules["posix"] = real
    assert trouble == ([24] if fails < 5 else []) and len(own) == (0 if fails < 5 else 4)
    for fd in own:
        os.close(fd)
    for pid in forked:
        os.waitpid(pid, 0)
    assert set(os.listdir("/proc/self/fd")) == before
