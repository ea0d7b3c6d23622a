"""A zygote: loads what scripts import, then serves copies of itself to cells (src/zygote).

Started by cloche-init as `python3 zygote.py MODULE...`, without rights, in a tree that nothing can be
written to. All that a script's process does before its script, and that depends on no script, is
done once, here: each line of Python in a copy writes pages, and the kernel copies and frees them. In a copy,
native.serve() returns once it is the script's process; what would be the same in two copies is made
anew; then native.wait() returns with the run's arguments and code, and bootstrap.py takes over,
exactly as when it is executed.
"""
import sys

builtins = sys.modules["builtins"]
__builtins__ = builtins.__dict__.copy()  # the copy serves this file, whatever a script does to them

HOME = "/mnt/data"
BOOTSTRAP = "/etc/cloche/bootstrap.py"
LESSON = "/etc/cloche/lesson.py"
BLOCK, ARENA = 512, 1 << 20  # the largest that Python's own allocator hands out, and what it asks for
OBJECTS = 9 << 20, 38 << 20  # bytes of them that a zygote has loaded
OWN_MAX = 512, 1024  # pages that a copy which waits may have for itself: 2 MiB, 4 MiB of a data zygote
OWN_MORE = 20  # of these, for what comes with its plan, which the child of learn() has not: 7 and 11 were measured
UNKNOWN = (1 << 32) - 1
PROC_FD = 4  # src/jail/plan/zygote.h


def load(names):
    """Imports them. Returns which could be, as bits."""
    import importlib

    loaded = 0
    for bit, name in enumerate(names):
        try:
            importlib.import_module(name)
            warm_up(name)
            loaded |= 1 << bit
        except Exception:
            continue  # not there, or broken: a script that wants it is told so by its own import
    return loaded


def warm_up(name):
    """What the first use would make in every copy again."""
    if name == "matplotlib.pyplot":
        import io

        plot = sys.modules[name]
        figure, axes = plot.subplots()
        axes.plot([1, 2], [1, 2], label="x")
        axes.bar([1, 2], [1, 2])
        axes.set_title("x")
        axes.legend()
        figure.tight_layout()
        figure.savefig(io.BytesIO(), format="png")
        plot.close("all")
        # its fonts read from files that stay open, and no copy has them
        fonts = sys.modules["matplotlib.font_manager"]
        for function in "_get_font", "get_font":
            if hasattr(getattr(fonts, function, None), "cache_clear"):
                getattr(fonts, function).cache_clear()
    elif name == "pandas":
        import io

        table = sys.modules[name].read_csv(io.StringIO("a,b\nx,1\ny,2\nx,3\n"))
        table.groupby("a")["b"].sum().sort_values().to_string()


def reserve(bytes):
    """Has Python's allocator ask the kernel now for what the imports will fill, in one piece, which
    fits into huge pages; piece by piece it would lie between libraries. Returns what holds it."""
    blocks = [None] * (bytes // BLOCK)  # a list that grew would lie between
    native.align(ARENA)
    for at in range(len(blocks)):
        blocks[at] = b"%0479d" % 0
    native.align(0)
    return blocks[:: ARENA // BLOCK // 2]  # at least one of each arena


class Prepared:
    """What matplotlib asks for at its import: a folder that it can write to. Here is none; it gets
    one that it merely believes in, what it writes is lost, and the copies ask anew.

    And what libffi (3.4 on, behind ctypes) is not to have: a file that it writes code into, maps and
    keeps open. No copy has our descriptors, and none shall share code with another one. It does
    without where it cannot write the file. Nor may the allocator of pyarrow, which pandas imports,
    start a thread."""

    def __enter__(self):
        import io
        import os
        import resource

        self.sizes = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, self.sizes[1]))
        os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"
        self.kept = [(os, "access", os.access), (os, "unlink", os.unlink)]
        self.kept += [(os, "register_at_fork", os.register_at_fork)]
        self.kept += [(io, "open", io.open), (builtins, "open", io.open)]
        self.folder = os.environ["MPLCONFIGDIR"]
        os.environ["MPLCONFIGDIR"] = "/etc/cloche"
        os.access = lambda *_, **__: True
        os.unlink = lambda *_, **__: None
        os.register_at_fork = note_at_fork
        io.open = builtins.open = open_nowhere

    def __exit__(self, *_):
        import os

        for module, name, value in self.kept:
            setattr(module, name, value)
        os.environ["MPLCONFIGDIR"] = self.folder
        del os.environ["JE_ARROW_MALLOC_CONF"]
        resource = sys.modules.pop("resource")
        resource.setrlimit(resource.RLIMIT_FSIZE, self.sizes)


def note_at_fork(before=None, after_in_parent=None, after_in_child=None):
    """os.register_at_fork, for what a library wants to have done in children: nobody tells a copy that it
    is one. Those of ONLY_LOCKS make locks anew, which no other thread holds here."""
    named = {"before": before, "after_in_parent": after_in_parent, "after_in_child": after_in_child}
    register_at_fork(**{when: function for when, function in named.items() if function})
    if after_in_child and sys._getframe(1).f_globals["__name__"] not in ONLY_LOCKS:
        AT_FORK.extend(function for function in (before, after_in_child) if function)


def open_nowhere(file, mode="r", *rest, **named):
    if "w" in mode or "x" in mode:
        return open("/dev/null", mode.replace("x", "w"), *rest, **named)
    return open(file, mode, *rest, **named)


def refresh():
    """Of what the imports have left, what a started interpreter would not have; no copy needs to do it."""
    modules = sys.modules
    if "tempfile" in modules:
        modules["tempfile"]._name_sequence = None
        modules["tempfile"].tempdir = None
    if "uuid" in modules:
        modules["uuid"]._node = modules["uuid"]._last_timestamp = None
    if "matplotlib" in modules:
        forget(modules["matplotlib"].get_configdir)
        forget(modules["matplotlib"].get_cachedir)


def renew():
    """In a copy: nothing random, no name and no number of the process is another copy's too."""
    modules = sys.modules
    for function in AT_FORK:
        function()
    if "random" in modules:
        modules["random"].seed()
    if "threading" in modules:
        modules["threading"].main_thread()._set_native_id()
    reseed()
    if "multiprocessing.process" in modules:
        process = modules["multiprocessing.process"]
        process._current_process = process._MainProcess()
    if "numpy.random" in modules:
        modules["numpy.random"].seed()


def reseed():
    """OpenSSL sees by the process's number that it is in another one, and takes new randomness (fork_id); not where the
    number is the zygote's, which a copy may have, or a child that it forks, a thousand later."""
    if LOADED_SSL and getpid() == ZYGOTE:
        LOADED_SSL[0].RAND_add(urandom(32), 32.0)


def forget(function):
    """What matplotlib's own decorator, or functools', has kept of its only call."""
    if hasattr(function, "cache_clear"):
        function.cache_clear()
    else:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__))
        cells["called"].cell_contents = False


def reopen(number):
    """A standard stream as the interpreter makes it at its start, for what is now behind it."""
    name, mode = STANDARD[number]
    old = getattr(sys, name)
    buffer = open(number, mode + "b", 0 if mode == "w" else -1, closefd=False)
    raw = buffer if mode == "w" else buffer.raw
    raw.name = old.name
    new = TextIOWrapper(buffer, old.encoding, old.errors, "\n", False, True)  # as with PYTHONUNBUFFERED
    new.mode = mode
    setattr(sys, name, new)
    setattr(sys, f"__{name}__", new)
    STREAMS[number] = new


def open_streams():
    """As almost every script has them: /dev/null is here already, the pipes only while they are looked at."""
    kept = dup(1)
    end, other_end = pipe()
    dup2(other_end, 1)
    dup2(1, 2)
    for number in range(3):
        reopen(number)
    print("", flush=True)  # the linker looks functions up that were never called, which every copy would do
    dup2(kept, 1)
    dup2(kept, 2)
    for fd in kept, end, other_end:
        close(fd)


def stat_or_none(path):
    try:
        return stat(path)
    except OSError:
        return None


def differs(known):
    """Whether an interpreter that starts now would load or find something else than we did."""
    for name in listdir(HOME):
        stem, _, suffix = name.partition(".")
        if stem in known and (suffix in ("", "py", "pyc") or suffix.endswith("so")):
            return True
    return any(map(stat_or_none, OF_USER))


def start_anew(words):
    execv(sys.executable, [sys.executable, BOOTSTRAP, *words])


class End:
    """Takes the place of sys.stdout behind the last function for the end. Python, which has by then
    stopped all other threads, flushes it; we do what comes next for the script's modules alone, in
    the same order, and leave: to take the zygote's apart would first copy them, page by page."""

    closed = False

    def __init__(self, stream):
        self.stream = stream

    def flush(self):
        sys.stdout = self.stream
        self.stream.flush()
        sys.stderr.flush()
        if gc.isenabled():
            gc.collect()
        for name in ENDING:
            sys.__dict__[name] = None
        modules_end()
        self.stream.flush()
        sys.stderr.flush()
        native.leave(status.pop())


def modules_end():
    """finalize_modules of CPython, for what the script has put into sys.modules."""
    watched = []
    for name in native.changed(sys.modules, LOADED):
        if name not in KEPT:
            module = sys.modules[name]
            if type(module) is MODULE:
                watched.append(ref(module))
            sys.modules[name] = module = None
    sys.modules["io"] = None  # what an error in __del__ would show the script's lines with
    for name in native.changed(builtins.__dict__, __builtins__):
        del builtins.__dict__[name]
    for name in native.changed(__builtins__, builtins.__dict__):
        builtins.__dict__[name] = __builtins__[name]
    gc.collect()
    while watched:
        module = watched.pop()()
        if module is not None:
            clear(module.__dict__)
    gc.collect()


def clear(names):
    for name, value in list(names.items()):
        if value is not None and name[:1] == "_" and name[1:2] != "_":
            names[name] = value = None
    for name, value in list(names.items()):
        if value is not None and name != "__builtins__":
            names[name] = value = None


def at_end():
    """The last function that Python calls at a script's end."""
    logging = LOADED.get("logging")
    if logging and len(logging._handlerList) > 1:  # else the script has no handlers
        logging.shutdown()
    if status and all_is_usual():
        sys.stdout = End(sys.stdout)


def all_is_usual():
    """Whether the script has left alone what Python's end looks at."""
    now = sys.__dict__
    if not native.is_within(now, OF_SYS):
        return False
    for (name, _), stream in zip(STANDARD, STREAMS):
        if now.get(name) is not stream or now.get(f"__{name}__") is not stream:
            return False
    try:
        return not sys.stdout.closed and not sys.stderr.closed
    except ValueError:  # detached
        return False


def note_status(conclude):
    """conclude() of bootstrap.py, from which the exit status is learnt, if it is a plain one."""

    def conclude_noting(*arguments):
        try:
            conclude(*arguments)
        except SystemExit as error:
            if type(error) is SystemExit:
                code = 0 if error.code is None else error.code
                if type(code) is int and 0 <= code <= 255:
                    status.append(code)
            raise

    return conclude_noting


def prepare():
    """Loads everything. Returns the names of bootstrap.py and what native.ready is to say."""
    import atexit

    atexit.register(at_end)  # the first one: it is called last
    with Prepared():
        loaded = load(sys.argv[1:])
    names = {"__name__": "bootstrap"}
    with open(BOOTSTRAP, "rb") as file:
        exec(compile(file.read(), BOOTSTRAP, "exec", 0, True), names)
    if "logging" in sys.modules:
        atexit.unregister(sys.modules["logging"].shutdown)  # at_end sees to it
    names["prepare"]()
    names["map_report"] = native.map_report
    names["conclude"] = note_status(names["conclude"])
    if "ssl" in sys.modules:
        LOADED_SSL.append(sys.modules["_ssl"])
        register_at_fork(after_in_child=reseed)  # in the children of copies
    refresh()
    renew()  # what fails here would in every copy
    return names, loaded


def open_own():
    """Our memory's maps, what the kernel knows of its pages, and a witness; nothing else of /proc is
    left. Nothing if it cannot be had: copies are slower then."""
    opened, own = [PROC_FD], []
    try:
        for name in "maps", "pagemap":
            opened.append(open_fd(f"self/{name}", O_RDONLY | O_CLOEXEC, dir_fd=PROC_FD))
        opened += pipe()
        opened += pipe()
        _, maps, pagemap, asked, ask, told, tell = opened
        witness_start(asked, ask, tell)
        own = [maps, pagemap, ask, told]
    except OSError as error:
        trouble.append(error.errno)
    for fd in opened:
        if fd not in own:
            close(fd)
    return own


def witness_start(asked, ask, tell):
    """A process that keeps /proc from what we import, and tells one thing: how many pages another
    process, which can hardly look at itself, has for itself alone. It is asked once, with a pid."""
    from posix import _exit, fork, read, write

    if fork() == 0:
        try:
            close(ask)
            pid = int(read(asked, 16))
            lines = read(open_fd(f"{pid}/smaps_rollup", O_RDONLY, dir_fd=PROC_FD), 4096).splitlines()
            private = sum(int(line.split()[1]) for line in lines if line.startswith(b"Private_"))
            write(tell, b"%d" % (private // 4))
        finally:
            _exit(0)


def witness_ask(ask, told):
    """Until it has ended: what it shares with our zygote would look as if a child had not written it."""
    from posix import read, write

    try:
        write(ask, b"%d" % getpid())
        said = read(told, 16)
        read(told, 1)
        return int(said)
    except (OSError, ValueError):
        return UNKNOWN


def spans(maps):
    """Where our private memory is that can be written: struct hot_span of src/zygote/hot.h."""
    text = b""
    while part := pread(maps, 65536, len(text)):
        text += part
    words = [line.split(None, 2) for line in text.splitlines()]
    places = [word[0].split(b"-") for word in words if word[1] == b"rw-p"]
    return b"".join(int(address, 16).to_bytes(8, sys.byteorder) for place in places for address in place)


def learn(own):
    """Lets a child run a script of ours, as a copy would, and learns which pages that writes; then
    arranges our memory for copies. In the child it returns True."""
    if not own:
        return False
    maps, pagemap = own[:2]
    result = native.learn(pagemap, spans(maps), OWN_MAX["pandas" in sys.modules] - OWN_MORE)
    if result == 1:
        for end in pipe():  # as a script has
            dup2(end, 1)
        dup2(1, 2)
        report = memfd_create("report")
        ftruncate(report, bootstrap["REPORT_SIZE"])
        dup2(report, 3)
        return True
    trouble.append(-result)
    native.gather(spans(maps))
    for fd in own:
        close(fd)
    wait()  # for the witness
    return False


def set_up():
    """All that is the same in every copy. What is made here the garbage collector sees in copies too."""
    LOADED.update(sys.modules)
    del LOADED["__main__"]
    native.keep([LOADED, {name: sys.__dict__.get(name) for name in ENDING}])
    known = {name.partition(".")[0] for name in sys.modules} | {"matplotlibrc"}
    KEPT_ALIVE.append(known)  # to free it in a copy would copy what it refers to
    for place in sys.executable, *sys.path[2:]:
        native.note(place)
    with open(LESSON, "rb") as file:
        lesson = file.read()
    open_streams()
    sys.argv[:] = [BOOTSTRAP]
    sys.orig_argv[:] = [sys.executable, BOOTSTRAP]
    gc.collect()
    gc.freeze()
    bootstrap["set_up"]()
    return known, ([], lesson)


def serve():
    """Returns in copies only, which are then their script's, and in the child of learn()."""
    known, lesson = set_up()
    is_child = learn(own)
    if not is_child:
        native.ready(loaded, trouble[0])
        native.serve()
    renew()
    words, code = native.stop(witness_ask(*own[2:])) or lesson if is_child else native.wait()
    if words is None or not native.is_same() or not native.home_is_empty() and differs(known):
        start_anew(words or [])
    usual = native.streams()
    for number in range(3):
        if not usual >> number & 1:
            reopen(number)
    if words:
        sys.argv += words
        sys.orig_argv += words
    bootstrap["run"](3, code)


def of_user():
    """Where a person's files change what an interpreter does."""
    import site

    return site.getusersitepackages(), HOME + "/.config/matplotlib/matplotlibrc"


import gc
from _io import TextIOWrapper
from _weakref import ref
from posix import O_CLOEXEC, O_RDONLY, close, dup, dup2, execv, ftruncate, getpid, listdir, memfd_create, pipe, pread, stat
from posix import register_at_fork, urandom, wait
from posix import open as open_fd

import cloche_zygote as native

del sys.modules["cloche_zygote"]
KEPT = "sys", "builtins"
ONLY_LOCKS = "threading", "logging", "concurrent.futures.thread", "asyncio.events", "random"  # the last one: renew()
MODULE = type(sys)
ENDING = (  # sys_deletes of CPython
    "path argv ps1 ps2 last_exc last_type last_value last_traceback path_hooks path_importer_cache "
    "meta_path __interactivehook__"
).split()
OF_SYS = dict.fromkeys((*sys.__dict__, "last_type", "last_value", "last_traceback", "last_exc"))
STANDARD = ("stdin", "r"), ("stdout", "w"), ("stderr", "w")
LOADED = {}
STREAMS = [None, None, None]
KEPT_ALIVE = []
AT_FORK = []
LOADED_SSL = []  # OpenSSL's own module, whatever a script does to the names of ssl
ZYGOTE = getpid()
status = []  # of the script, once it is known
trouble = []  # an errno: why nothing was learnt, 0 if it was
OF_USER = of_user()
own = open_own()
native.keep(reserve(OBJECTS["pandas" in sys.argv]))
native.keep(sys.modules["__main__"].__dict__)  # to free our code at our end would copy what it refers to
bootstrap, loaded = prepare()
serve()
