"""Runs the person's script as `python3 main.py ARGS...` in the home would, and tells how it ended.

The script's module is the bottom frame of its process, as in plain Python: no frame of this file is
below it, so stack listings, recursion depth and tracebacks need no pretence. The steps:

 1. This module ends with an exception on purpose. Python then drops all its frames, stores the
    exception as sys.last_type and calls sys.excepthook.
 2. sys.last_type held the only reference to a generator that waits in a `yield from`. Dropping it
    closes the generator, which first calls close() of what it waits for (PEP 342, PEP 380):
    that is the script's code as a function, called from C.
 3. What the script raises arrives in the generator, which keeps it and installs `conclude` as
    sys.excepthook. So Python calls `conclude`, which does what Python does with an uncaught
    exception, and fills the report.

The script runs in our process and may break whatever it finds: all that is needed after it is
bound here before it.
"""
import sys
from posix import close, dup, execv, getpid

SCRIPT = "/run/cloche/main.py"
HOME = "/mnt/data"
ARGV0 = "main.py"
REPORT_FD = 3

# As in src/wire/report.h.
REPORT_SIZE = 256 * 1024
REPORT_ERROR_NAME, REPORT_ERROR_VALUE, REPORT_ERROR_TRACEBACK = 1, 2, 3
VALUE_MAX = 4096
TRACEBACK_MAX = 64 * 1024

LAST = "last_type", "last_value", "last_traceback", "last_exc"
SIMPLE = str, int, float, bool, bytes, type(None)
SLOT = type(object.__str__)

compile, exec, getattr, len, print, str, type = compile, exec, getattr, len, print, str, type
BaseException, SystemExit, KeyboardInterrupt = BaseException, SystemExit, KeyboardInterrupt
args_of = BaseException.args.__get__
name_of = type.__dict__["__name__"].__get__
display = sys.excepthook
process = getpid()


def map_report():
    """The report's memory, or None. Leaves its descriptor closed."""
    try:
        from mmap import mmap

        del sys.modules["mmap"]
        if sys.version_info >= (3, 13):
            return mmap(REPORT_FD, REPORT_SIZE, trackfd=False)
        # mmap keeps a duplicate of the descriptor, at the lowest free number: close it. Its owner
        # would close that number once more when it dies, so it must outlive all files of the
        # script: the table of codec error handlers goes last.
        spare = dup(REPORT_FD)
        close(spare)
        memory = mmap(REPORT_FD, REPORT_SIZE)
        close(spare)
        import _codecs

        _codecs.register_error("cloche.report", memory.write)
        return memory
    except Exception:
        return None
    finally:
        try:
            close(REPORT_FD)
        except OSError:
            pass


class Copy:
    """Stands in for a stream and keeps what is written."""

    def __init__(self, stream):
        self.stream = stream
        self.text = []

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def write(self, text):
        self.text.append(text)
        try:
            self.stream.write(text)
        except:
            self.stream = None  # closed or broken: plain Python gives up here too

    def flush(self):
        self.stream.flush()


def compile_script():
    """The script's code. Where it does not compile, plain Python says so in our place."""
    stream = sys.stderr
    sys.stderr = copy = Copy(None)  # warnings: not to be shown twice
    try:
        with open(SCRIPT, "rb") as file:
            code = compile(file.read(), SCRIPT, "exec", 0, True)
    except Exception as error:
        copy.text.clear()
        display(type(error), error, None)
        tell(error, "".join(copy.text))
        argv = [SCRIPT if arg == __file__ else arg for arg in sys.orig_argv]
        execv(sys.executable, argv)
    finally:
        sys.stderr = stream
    for text in copy.text:
        stream.write(text)
    return code


def make_main():
    """The script's __main__, in the place of ours."""
    main = type(sys)("__main__")
    for name, value in globals().items():
        if name[:2] == "__" and name not in main.__dict__:
            main.__dict__[name] = value
    main.__file__ = SCRIPT
    main.__loader__ = type(__loader__)("__main__", SCRIPT)
    sys.modules["__main__"] = main
    sys.argv[0] = ARGV0
    sys.orig_argv[:] = [ARGV0 if arg == __file__ else arg for arg in sys.orig_argv]
    sys.path.insert(0, HOME)
    sys.path_importer_cache[SCRIPT] = sys.path_importer_cache.pop(__file__, None)
    return main


class Script:
    """What the generator waits for: one step that never ends, and the script as its close()."""

    def __init__(self, run):
        self.run = run

    def __iter__(self):
        return self

    def __next__(self):
        return None

    @property
    def close(self):
        sys.excepthook = display
        forget_last()
        return self.run


def forget_last():
    for name in LAST:
        sys.__dict__.pop(name, None)


ended = []  # what the script raised, or None; and the sys.excepthook that it left


def stage(script):
    try:
        yield from script
    except BaseException as error:
        error.__traceback__ = trace = error.__traceback__.tb_next  # without this frame
        # close() that returns raises GeneratorExit here: no frame of the script's in it.
        finished = trace is None and type(error) is GeneratorExit
        ended.append(None if finished else error)
    ended.append(sys.__dict__.get("excepthook", ended))
    sys.excepthook = conclude


def flush(name):
    try:
        getattr(sys, name).flush()
    except:
        pass


def conclude(*_):
    """sys.excepthook once the script has ended: what Python does with its end."""
    forget_last()
    hook = ended.pop()
    if hook is ended:
        del sys.excepthook
    else:
        sys.excepthook = hook
    flush("stderr")
    flush("stdout")
    if ended[0] is None:
        end_main()
        raise SystemExit
    if isinstance(ended[0], SystemExit):
        raise ended.pop()
    error = ended.pop()
    show(hook, error)
    if type(error) is KeyboardInterrupt:
        # exec of a string leaves the mark upon which Python ends itself by SIGINT.
        try:
            exec("raise KeyboardInterrupt", {"KeyboardInterrupt": KeyboardInterrupt})
        except:
            pass
    end_main()


def end_main():
    for name in ("__file__", "__cached__"):
        main.__dict__.pop(name, None)


def show(hook, error):
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    if hook is display:
        tell(error, show_copied(error))
        return
    if hook is ended:
        say("sys.excepthook is missing\n")
        tell(error, show_copied(error))
        return
    try:
        hook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as second:
        second.__traceback__ = second.__traceback__.tb_next
        second.__context__ = None
        say("Error in sys.excepthook:\n")
        display(type(second), second, second.__traceback__)
        say("\nOriginal exception was:\n")
        display(type(error), error, error.__traceback__)
    tell(error, None)


def say(text):
    try:
        sys.stderr.write(text)
    except:
        pass


def show_copied(error):
    stream = getattr(sys, "stderr", None)
    if stream is None:
        display(type(error), error, error.__traceback__)
        return None
    sys.stderr = copy = Copy(stream)
    try:
        display(type(error), error, error.__traceback__)
    finally:
        if sys.stderr is copy:
            sys.stderr = stream
    return copy.text


def tell(error, text):
    """Fills the report."""
    if memory is None or getpid() != process:
        return
    try:
        memory.seek(0)
        name = name_of(type(error))
        put(REPORT_ERROR_NAME, name, VALUE_MAX)
        text = "".join(text)
        if type(type(error).__str__) is SLOT and all(type(a) in SIMPLE for a in args_of(error)):
            value = str(error)
        else:  # would run the script's code a second time
            value = text.rpartition(name + ": ")[2].rstrip("\n")
        put(REPORT_ERROR_VALUE, value, VALUE_MAX)
        put(REPORT_ERROR_TRACEBACK, text, TRACEBACK_MAX)
    except:
        pass


def put(tag, text, limit):
    if len(text) > limit:
        half = limit // 2 - 8
        text = text[:half] + "\n...\n" + text[-half:]
    data = text.encode("utf-8", "backslashreplace")[:limit]
    memory.write(bytes([tag]) + len(data).to_bytes(4, "little") + data)


del sys.path[0]
memory = map_report()
code = compile_script()
main = make_main()
player = stage(Script(type(stage)(code, main.__dict__)))
next(player)
sys.last_type = player
sys.excepthook = conclude
del player
raise GeneratorExit
