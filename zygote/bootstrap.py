"""Runs the person's script as `python3 main.py ARGS...` in the home would, and tells how it ended.

The boundary. What stands above `run` depends on no script: it can be executed long before, and once
for many processes that are forked later; so can `set_up` be called, with sys.argv and sys.orig_argv
as for a script without arguments. `run` is called in the process that becomes the script's; it maps
the report and compiles. It returns; the script starts when the file that Python was started with, whose
module is __main__, ends by a KeyboardInterrupt with nothing left to do. Started as a program, this
file does just that.

The script is the bottom frame of its process, as in plain Python: no frame of this file is below
it, so stack listings, recursion depth and tracebacks need no pretence. The steps:

 1. The main module ends with an exception on purpose. Python drops its frame, stores the exception
    as sys.last_type (and sys.last_exc from 3.12 on) and then calls sys.excepthook.
 2. That place held the only reference to a generator that waits in a `yield from`. Dropping it
    closes the generator, which first calls close() of what it waits for (PEP 342, PEP 380):
    that is the script's code as a function, called from C.
 3. What the script raises arrives in the generator, which keeps it and makes `conclude` the
    sys.excepthook. Python calls `conclude`, which does what Python does at the end of a script.

What a run shows beyond its output costs those that show nothing next to nothing. The last value:
where the module's code drops a value just before it returns, it hands it to sys.displayhook instead,
as Python does at its prompt; the hook is ours and passes on what comes from elsewhere. So the value
dies where and when it would. Figures: a finder in sys.meta_path waits for matplotlib.pyplot. The
rest is in results.py and figures.py beside this file, executed in its names when first needed.

The script runs in our process and may break whatever it finds; so what is needed after it is
bound here before it, builtins included.
"""
import sys

builtins = sys.modules["builtins"]
__builtins__ = builtins.__dict__.copy()  # the copy serves this file

from _frozen_importlib_external import SourceFileLoader
from _io import BytesIO, StringIO, TextIOWrapper
from posix import close, dup, execv, getpid
from sys import _getframe, getprofile, gettrace, setprofile, settrace
from time import monotonic_ns

SCRIPT = "/run/cloche/main.py"
HOME = "/mnt/data"
ARGV0 = "main.py"
REPORT_FD = 3
REPORT_SIZE = 1024 * 1024  # src/wire/report.h
PARTS = "/etc/cloche"
BEGUN = b"\7\x08\0\0\0"  # a record's head in the report
CHOICE_TAIL = 4096  # so near to its end a script is looked at for a last expression with `else`

version = sys.version_info
display = sys.excepthook
print_value = sys.displayhook
process = 0  # whose report it is
own = 0  # where the command line names the file that Python was started with
memory = None  # the report's, mapped
written = 0  # bytes of it
is_compiler_loaded = False  # compile() has been called
source = b""  # the script's text
script_code = None
is_forgone = False  # the last value: the script has its own ways with it
parts = {}  # further files of ours that were executed; figures.py once pyplot is there
main = []  # the names of the script's __main__, until it has ended
waiting = []  # the script as a function, until it runs
ended = []  # what it raised, None if nothing
paused = []  # its functions for sys.settrace and sys.setprofile


def map_report(fd):
    """The report's memory, None without one. Its descriptor is closed."""
    try:
        is_known = "mmap" in sys.modules
        from mmap import mmap

        if not is_known:
            del sys.modules["mmap"]  # a script has the modules that it would have
        if version >= (3, 13):
            return mmap(fd, REPORT_SIZE, trackfd=False)
        # This mmap keeps a duplicate of the descriptor, the lowest free number: close it. The
        # object would close that number again when it dies, be it a file of the script by then;
        # so it must outlive the script's files: the table of codec error handlers does.
        spare = dup(fd)
        close(spare)
        memory = mmap(fd, REPORT_SIZE)
        close(spare)
        from _codecs import register_error

        register_error("cloche.report", memory.write)
        return memory
    except Exception:
        return None
    finally:
        try:
            close(fd)
        except OSError:
            pass


def load(part):
    """Executes a further file of ours, once."""
    if part not in parts:
        with open(f"{PARTS}/{part}.py", "rb") as file:
            text = file.read()
        exec(compile(text, file.name, "exec", 0, True), globals())
        parts[part] = True


def compile_script():
    """The script's code. Its warnings are shown; of its errors plain Python is to tell."""
    stream = sys.stderr
    sys.stderr = warnings = StringIO()
    try:
        check_encoding(source)
        code = None if is_compiler_loaded else compile_quickly(source)
        if code is None or warnings.tell():
            sys.stderr = warnings = StringIO()  # what came named a wrong file
            code = compile_source(SCRIPT)
    except Exception as error:
        load_uncaught()
        tell_uncompiled(error)
    finally:
        sys.stderr = stream
    if warnings.tell() and stream is not None:
        stream.write(warnings.getvalue())
    return code


def check_encoding(source):
    """Python refuses what is not UTF-8 in a comment too, if only in files."""
    try:
        source.decode()
    except UnicodeDecodeError:
        if not any(b"coding" in line and b"utf" not in line for line in source.split(b"\n", 2)[:2]):
            raise SyntaxError("source is not UTF-8, and declares no other encoding") from None


def compile_source(name):
    """The code. From 3.13 on the compiler drops a constant that nobody uses even if it is one of the
    two ways of an expression. In a tuple, out of which it is taken again, such a last value is used."""
    end = source[-CHOICE_TAIL:]
    if version < (3, 13) or end.count(b"else") == end.count(b"else:"):
        return compile(source, name, "exec", 0, True)
    tree = compile(source, name, "exec", 0x400, True)  # ast.PyCF_ONLY_AST
    last = tree.body[-1] if tree.body else None
    if type(last).__name__ == "Expr" and type(last.value).__name__ in ("IfExp", "BoolOp"):
        from _ast import Constant, Load, Subscript, Tuple

        of = last.value
        place = {name: getattr(of, name) for name in of._attributes}
        last.value = Subscript(Tuple([of], Load(), **place), Constant(0, **place), Load(), **place)
    return compile(tree, name, "exec", 0, True)


def compile_quickly(source):
    """The code without compile(), which first makes the classes of the ast module, for 1 ms."""
    if version >= (3, 12):
        return None  # here sys.setprofile costs each function's first call something, ever after
    taken, names = [], {}

    def take(frame, event, _):
        if event == "call" and frame.f_globals is names:
            taken.append(frame.f_code)
            raise InterruptedError  # before its first instruction

    try:
        setprofile(take)
        exec(source, names)
    except Exception:
        pass
    finally:
        setprofile(None)
    if not taken:
        return None
    from _imp import _fix_co_filename

    _fix_co_filename(taken[0], SCRIPT)
    return taken[0]


# Opcodes by version: what drops a value, what shows it with its argument, what makes an argument
# longer, what ends with None in one or two steps, and after a colon what may stand before that (a
# comprehension gives back the places of its variables).
OPCODES = {
    11: b"\x01\x46\x00\x90\x64\x53:",
    12: b"\x01\xad\x01\x90\x79:\x7d",
    13: b"\x20\x37\x01\x47\x67:\x6e\x70",
    14: b"\x1f\x35\x01\x45\x52\x23:\x70\x72",
}


def show_last(code):
    """The code, its last value shown before it is dropped. Whether that is an expression's is for
    results.py: most often the value is None. What SHOW leaves on the stack dies with the frame."""
    opcodes = OPCODES.get(version[1])
    if opcodes is None:
        return code
    before, _, stores = opcodes[4:].partition(b":")
    text = bytearray(code.co_code)
    end, is_shown = -1, False
    while (end := text.find(before[-1], end + 1)) >= 0:
        at = end - 2
        if end % 2 or before[-2:-1] not in (b"", text[at : at + 1]):
            continue
        at -= 2 * (len(before) - 1)
        while text[at] == opcodes[3]:
            at -= 2
        last = at
        while text[at] in stores:
            at -= 2
        if text[at] == opcodes[0]:
            is_shown = True
            text[at : at + 2] = opcodes[1:3]
            if at < last:
                text[at + 2 : at + 4] = opcodes[0], 0
    return code.replace(co_code=bytes(text), co_stacksize=code.co_stacksize + 1) if is_shown else code


def displayhook(value):
    """The script's last value, or that of whoever else asks for what Python does at its prompt."""
    if _getframe(1).f_code is not script_code:
        print_value(value)
    elif value is not None:
        pause_tracing()
        begin_results("show_last_value", value)
        resume_tracing()


def begin_results(function, *arguments):
    """Calls a function of results.py; whatever happens there is not the script's to notice."""
    if getpid() != process:
        return
    try:
        load("results")
        globals()[function](*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException:
        pass


def find_figures(name, path=None, target=None):
    """In sys.meta_path: finds nothing, and follows matplotlib.pyplot when somebody else does."""
    if name != "matplotlib.pyplot":
        return None
    sys.meta_path.remove(find_figures)
    try:
        load("figures")
        return find_pyplot(name, path, target)
    except OSError:  # out of descriptors: no figures
        return None


find_figures.find_spec = find_figures


def watch_loaded_pyplot():
    if "figures" not in parts:
        load("figures")
        watch_figures()


def prepare():
    """Loads, long before a script is known, what it may need."""
    global is_compiler_loaded
    load("results")
    is_compiler_loaded = True
    if "matplotlib.pyplot" in sys.modules:
        watch_loaded_pyplot()


def make_main():
    """The names of the script's __main__, which takes the place of ours."""
    started = sys.modules["__main__"].__dict__
    module = type(sys)("__main__")
    names = module.__dict__
    for name, value in started.items():
        if name[:2] == "__":
            names.setdefault(name, value)
    names["__builtins__"] = builtins
    names["__file__"] = SCRIPT
    names["__loader__"] = SourceFileLoader("__main__", SCRIPT)
    sys.modules["__main__"] = module
    sys.argv[0] = ARGV0
    sys.orig_argv[own] = ARGV0
    sys.path_importer_cache[SCRIPT] = sys.path_importer_cache.pop(started.get("__file__"), None)
    return names


def take_script():
    """The script as a function, all traces of how it comes to run removed."""
    sys.excepthook = display
    forget_last()
    tell_begun()
    return waiting.pop()


def tell_begun():
    """That the script's first instruction is next."""
    global written
    if memory is not None:
        at, written = written, written + len(BEGUN) + 8
        memory[at:written] = BEGUN + monotonic_ns().to_bytes(8, "little")


if version < (3, 12):

    class Script:
        """What the generator waits for: a step that never ends, and the script as its close()."""

        def __iter__(self):
            return self

        def __next__(self):
            return None

        close = property(lambda self: take_script())

else:
    # Here `yield from` takes a StopIteration of the script's for the end of what it waits for. So
    # the script is flush() in close() of a text stream, whose close() also closes a buffer: if
    # both fail, the first exception becomes the context of the second.
    class Handover(Exception):
        pass

    class Buffer(BytesIO):
        def close(self):
            BytesIO.close(self)
            raise Handover

    class Script(TextIOWrapper):
        def __init__(self):
            TextIOWrapper.__init__(self, Buffer(), "utf-8")

        def __next__(self):
            return None

        flush = property(lambda self: take_script())


def stage(script):
    try:
        yield from script
    except BaseException as error:
        pause_tracing()
        if version >= (3, 12):
            ended.append(error.__context__)
        else:
            error.__traceback__ = error.__traceback__.tb_next  # without this frame
            # After a script that just ends, Python raises a GeneratorExit of its own here.
            finished = type(error) is GeneratorExit and error.__traceback__ is None
            ended.append(None if finished else error)
    ended.append(sys.__dict__.get("excepthook", ended))
    sys.excepthook = conclude


def pause_tracing():
    """What the script has set to follow calls is not to follow ours."""
    for get, set in (gettrace, settrace), (getprofile, setprofile):
        function = get()
        if function is not None:
            set(None)
            paused.append((set, function))


def resume_tracing():
    while paused:
        set, function = paused.pop()
        set(function)


def conclude(*_):
    """What Python does once a script has ended."""
    forget_last()
    hook = ended.pop()
    if hook is ended:
        del sys.excepthook
    else:
        sys.excepthook = hook
    flush("stderr")
    flush("stdout")
    names = main.pop()  # we outlive the script's objects: hold none
    error = ended.pop()
    if isinstance(error, SystemExit):
        conclude_results(error, names)
        if version >= (3, 14):
            forget_file(names)
        resume_tracing()
        ended.append(error)
        del error  # else its traceback, with this frame, would keep it alive
        raise ended.pop()
    if error is not None:
        try:
            load_uncaught()
        except:  # out of memory
            display(type(error), error, error.__traceback__)
        else:
            show(hook, error)
    conclude_results(error, names)
    forget_file(names)
    interrupt = is_interrupt(error)
    resume_tracing()
    if not interrupt:
        raise SystemExit(0 if error is None else 1)


def conclude_results(error, names):
    """A last value that the compiler left out, as a constant; and the figures left open."""
    if error is None and not is_forgone:
        line = source.rstrip().rpartition(b"\n")[2]
        before, _, last = line.rpartition(b";")
        last = last.lstrip() if before else last
        if last[:1] in b"0123456789.-+~('\"" or last[:4] in (b"True", b"Fals") or b"'" in last[1:3] or b'"' in last[1:3]:
            begin_results("show_constant", names)
    if "figures" in parts:
        begin_results("save_open_figures")


def is_interrupt(error):
    """Whether Python ends itself by SIGINT after all the rest. Then it just needs `conclude` to
    return, for this file ends with a KeyboardInterrupt. But text that is executed resets that."""
    if type(error) is KeyboardInterrupt:
        try:
            exec("raise KeyboardInterrupt")
        except KeyboardInterrupt:
            return True
    return version >= (3, 14) and isinstance(error, KeyboardInterrupt)


def forget_file(names):
    names.pop("__file__", None)
    names.pop("__cached__", None)


def forget_last():
    for name in "last_type", "last_value", "last_traceback", "last_exc":
        sys.__dict__.pop(name, None)


def flush(name):
    try:
        getattr(sys, name).flush()
    except:
        pass


def load_uncaught():
    if "uncaught" not in parts:
        exec(UNCAUGHT, globals())
        parts["uncaught"] = True


# What only a script that fails needs: as text, for parsing it would cost every run 0.6 ms.
UNCAUGHT = r'''
# As in src/wire/report.h.
REPORT_ERROR_NAME, REPORT_ERROR_VALUE, REPORT_ERROR_TRACEBACK, REPORT_RESULT, REPORT_ADVICE = range(1, 6)
VALUE_MAX = 4096
TRACEBACK_MAX = 64 * 1024


def tell_uncompiled(error):
    """Lets plain Python tell why the script does not compile, after the report."""
    error.__traceback__ = None
    try:
        tell(error, show_copied(error, Copy(None)))
    finally:
        sys.orig_argv[own] = SCRIPT
        execv(sys.executable, sys.orig_argv)


def show(hook, error):
    """What PyErr_Print does, with a copy for the report."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if version >= (3, 12):
        sys.last_exc = error
    if hook is display:
        text = show_copied(error)
    elif hook is ended:
        say("sys.excepthook is missing\n")
        text = show_copied(error)
    else:
        text = show_by(hook, error)
    if not text and harmless(error):
        text = show_copied(error, Copy(None))
    tell(error, text)


def show_by(hook, error):
    """Lets the script's own sys.excepthook show it; returns no text."""
    try:
        resume_tracing()
        hook(type(error), error, error.__traceback__)
        pause_tracing()
        return ""
    except SystemExit:
        raise
    except BaseException as other:
        pause_tracing()
        second = other
    second.__traceback__ = second.__traceback__.tb_next  # without this frame
    say("Error in sys.excepthook:\n")
    display(type(second), second, second.__traceback__)
    say("\nOriginal exception was:\n")
    return show_copied(error)


def say(text):
    try:
        sys.stderr.write(text)
    except:
        pass


class Copy:
    """Stands in for stderr and keeps what is written; passes it on if there is a stream."""

    def __init__(self, stream):
        self.stream = stream
        self.text = []

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def write(self, text):
        if self.stream is not None:
            self.stream.write(text)
        self.text.append(text)

    def flush(self):
        if self.stream is not None:
            self.stream.flush()


def show_copied(error, copy=None):
    """Shows it as Python does, or to a copy of no stream; returns the text if it was written."""
    stream = sys.__dict__.get("stderr")
    if copy is None and stream is not None:
        copy = Copy(stream)
    if copy is None:
        display(type(error), error, error.__traceback__)
        return ""
    sys.stderr = copy
    try:
        display(type(error), error, error.__traceback__)
    finally:
        if sys.__dict__.get("stderr") is copy:
            sys.stderr = stream
    return "".join(copy.text)


def harmless(error):
    """Whether showing it once more runs nothing of the script's."""
    simple = str, int, float, bool, bytes, type(None)
    return (
        type(type(error).__str__) is type(object.__str__)
        and all(type(arg) in simple for arg in error.args)
        and not hasattr(error, "__notes__")
        and error.__cause__ is error.__context__ is None
    )


def tell(error, text):
    """Fills the report. A process that the script forked has none."""
    if memory is None or getpid() != process:
        return
    try:
        name = type(error).__name__
        put(REPORT_ERROR_NAME, name, VALUE_MAX)
        # What was shown ends with the value; str() might run the script's code once more.
        value = str(error) if harmless(error) else text.rpartition(name + ": ")[2].rstrip("\n")
        put(REPORT_ERROR_VALUE, value, VALUE_MAX)
        put(REPORT_ERROR_TRACEBACK, text, TRACEBACK_MAX)
    except:
        pass


def put(tag, text, limit):
    put_bytes(tag, shorten(text, limit))


def shorten(text, limit):
    """As UTF-8; of a long text, its start and its end."""
    if len(text) > limit:
        text = text[:limit] + text[-limit:]
    data = text.encode("utf-8", "backslashreplace")
    if len(data) > limit:
        gap = b"\n...\n"
        half = (limit - len(gap)) // 2
        data = data[:half] + gap + data[-half:]
    return data


def put_bytes(tag, data):
    """Adds a record. Its tag comes last, so that a process that is killed leaves whole ones."""
    global written
    at = written
    memory[at + 1 : at + 5 + len(data)] = len(data).to_bytes(4, "little") + data
    memory[at] = tag
    written = at + 5 + len(data)
'''


def set_up():
    """Makes ready what any script needs. sys.path[0] still is the main file's folder."""
    global own
    own = sys.orig_argv.index(sys.argv[0])
    del sys.path[0]
    if "matplotlib.pyplot" in sys.modules:
        watch_loaded_pyplot()
    else:
        sys.meta_path.insert(0, find_figures)
    main.append(make_main())
    player = stage(Script())
    next(player)
    setattr(sys, "last_exc" if version >= (3, 12) else "last_type", player)


def read_script():
    with open(SCRIPT, "rb") as file:
        return file.read()


def run(report_fd, text):
    """Makes this one ready, which SCRIPT has; see "The boundary"."""
    global is_forgone, memory, process, script_code, source
    process = getpid()
    memory = map_report(report_fd)
    source = text
    script_code = compile_script()
    is_forgone = b"displayhook" in source or b"settrace" in source or b"setprofile" in source
    if not is_forgone:
        script_code = show_last(script_code)
        sys.displayhook = displayhook
    waiting.append(type(stage)(script_code, main[0]))
    sys.path.insert(0, HOME)  # last: nothing of ours is to be found there


if __name__ == "__main__":
    set_up()
    run(REPORT_FD, read_script())
    raise KeyboardInterrupt
