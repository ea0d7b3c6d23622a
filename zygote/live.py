"""A live interpreter: runs the calls of one session, one after the other, in one __main__.

Started as a program, or by serve() in a process that was forked for it. A call comes over SOCKET_FD
from cloche-init (src/init/live.c, src/jail/plan/live.h) with its package (behind the word, or as a
descriptor) and the descriptors of its stdout, stderr, the memory of its report, and its stdin if it
has one. They become 0, 1 and 2 for as long as the call lasts; in between these are /dev/null, so
what a thread prints then is lost. When the code has ended we say so over the same socket, and all
processes of the cell are frozen until the next call.

How an end is shown and told is bootstrap.py's; what differs is said here. As at Python's prompt,
SystemExit ends the call and not the interpreter, and a traceback shows lines of code that is in no
file: linecache has them. A process that the code has forked ends with the code, as it would in a
script.

The code can reach the socket and everything else in this process. All that it can bring about is a
wrong end of its own call, or the end of the interpreter, which is told.
"""
import sys

sys.dont_write_bytecode, keep = True, sys.dont_write_bytecode
import bootstrap as boot  # beside this file

sys.dont_write_bytecode = keep
del sys.modules["bootstrap"]

import linecache
import os
import traceback
from _io import TextIOWrapper, open as open_stream
from _signal import SIG_IGN, SIGINT, default_int_handler, getsignal, signal
from _socket import CMSG_SPACE, MSG_CMSG_CLOEXEC, socket
from _operator import is_
from posix import O_RDONLY, O_WRONLY, _exit, close, dup2, fstat, getpid, pwrite, read, set_inheritable
from posix import open as open_file

SOCKET_FD = 3
WORD_SIZE = 8  # struct live_word
HAND_SIZE = WORD_SIZE + 4096  # struct live_hand
# Numbers of 4 bytes: the word's two, and of the package magic, language, arguments, variables, bytes of both, of the code.
HEAD_SIZE = WORD_SIZE + 6 * 4
CONTROL_SIZE = CMSG_SPACE(5 * 4)
NULL = "/dev/null"

# As in src/wire/report.h.
REPORT_NAMES = 6
NAMES_MAX = 4096  # bytes of all names together
TELL_AGAIN = 16  # calls
SOURCES_MAX = 4 * 1024 * 1024  # characters of code that tracebacks can show

__builtins__ = boot.__builtins__  # a copy: the code may break the builtins
module = type(sys)("__main__")
own_names = frozenset(module.__dict__) | {"__builtins__"}
sources = {}  # text by cell, oldest first
sources_size = 0  # characters of all
told_names = None  # that the session is known to have
seen_names = ()  # in __main__, when that was looked at
streams = {}  # sys.stdin and so on as we made them
null = 0  # the number of /dev/null as a device
null_fd = 0  # it is open for writing, for the time between two calls
is_null = False  # the input of the last call was empty
handler = default_int_handler  # for SIGINT while code runs
process = 0


def receive(channel):
    """The next call: word and package, and its descriptors. Ends the process when there will be none."""
    hand, control, _, _ = channel.recvmsg(HAND_SIZE, CONTROL_SIZE, MSG_CMSG_CLOEXEC)
    if len(hand) < WORD_SIZE or len(control) != 1:
        _exit(1)
    fds = memoryview(control[0][2]).cast("i").tolist()
    if len(hand) == WORD_SIZE:
        hand += read_all(fds.pop(0), int.from_bytes(hand[4:], "little"))
    return hand, fds


def read_all(fd, size):
    data = b""
    while len(data) < size and (part := read(fd, size - len(data))):
        data += part
    close(fd)
    return data


def connect_as(number, fd):
    if fd == number:  # the code has closed it
        set_inheritable(fd, True)
    else:
        dup2(fd, number)
        close(fd)


def connect(fds):
    """The streams; those that there is no descriptor for are as disconnect() left them."""
    global is_null
    connect_as(1, fds[0])
    connect_as(2, fds[1])
    for fd in fds[3:]:
        connect_as(0, fd)
    was_null, is_null = is_null, len(fds) == 3
    stream = streams.get("stdin")
    if not (was_null and is_null) or sys.__dict__.get("stdin") is not stream or is_closed(stream):
        reopen("stdin", 0, "r")  # the old one may hold what it has read ahead
    for name, number in ("stdout", 1), ("stderr", 2):
        stream = sys.__dict__.get(name)
        if name not in sys.__dict__ or name not in streams or stream is streams[name] and is_closed(stream):
            reopen(name, number, "w")


def is_closed(stream):
    try:
        return stream.closed
    except ValueError:  # detached
        return True


def reopen(name, number, mode):
    """A standard stream as Python makes it at its start; what the code has put in its place stays."""
    old = streams.get(name)
    stream = open_stream(number, mode + "b", 0 if mode == "w" else -1, closefd=False)
    (stream if mode == "w" else stream.raw).name = f"<{name}>"
    errors = "backslashreplace" if name == "stderr" else "surrogateescape"
    streams[name] = new = TextIOWrapper(stream, "utf-8", errors, "\n", False, mode == "w")
    new.mode = mode
    if old is None or sys.__dict__.get(name, old) is old:
        sys.__dict__[name] = new
    sys.__dict__[f"__{name}__"] = new


def disconnect():
    global null_fd
    boot.flush("stderr")
    boot.flush("stdout")
    if not is_null or not is_null_device(0):
        connect_as(0, open_file(NULL, O_RDONLY))
    if not is_null_device(null_fd):
        null_fd = open_file(NULL, O_WRONLY)  # the code has closed it
    dup2(null_fd, 1)
    dup2(null_fd, 2)


def is_null_device(fd):
    try:
        return fstat(fd).st_rdev == null
    except OSError:
        return False


class Report:
    """The memory of a call's report, in the place of what bootstrap.py maps: to write a few bytes costs less
    than to map them. The code can close the descriptor, and open a file of its own by the same number."""

    def __init__(self, fd):
        self.fd = fd
        self.identity = fstat(fd)[1:3]  # inode, device

    def begin(self):
        """As tell_begun() of bootstrap.py, of a report that is empty. What fails there is not the code's to see."""
        try:
            boot.written = pwrite(self.fd, boot.BEGUN + boot.monotonic_ns().to_bytes(8, "little"), 0)
        except OSError:
            pass

    def is_ours(self):
        try:
            return fstat(self.fd)[1:3] == self.identity
        except OSError:
            return False

    def __setitem__(self, place, data):
        if not self.is_ours():
            raise OSError
        if type(place) is int:
            pwrite(self.fd, bytes((data,)), place)
        else:
            pwrite(self.fd, data, place.start)

    def close(self):
        if self.is_ours():
            close(self.fd)


def prepare(cell, code, words, n_args):
    """What the code finds beside its names: NUL behind each of its arguments, then of its variables."""
    global sources_size
    sys.modules["__main__"] = module
    words = [os.fsdecode(word) for word in words.split(b"\0")[:-1]] if words else []
    sys.argv = [boot.ARGV0, *words[:n_args]]
    for variable in words[n_args:]:
        name, _, value = variable.partition("=")
        os.environ[name] = value
        if name == "TZ":
            import time

            time.tzset()
    sources[cell] = text = code.decode("utf-8", "replace")
    sources_size += len(text)
    while len(sources) > 1 and sources_size > SOURCES_MAX:
        oldest = next(iter(sources))
        sources_size -= len(sources.pop(oldest))
        linecache.cache.pop(oldest, None)
    lines = [line + "\n" for line in text.split("\n")]
    linecache.cache[cell] = len(text), None, lines, cell


def execute(cell, source):
    """Runs the code. Returns what it raised, None if nothing; from then on SIGINT does nothing."""
    global handler
    error, is_begun, is_heard = None, False, False
    boot.source = source
    boot.is_forgone = b"displayhook" in source or b"settrace" in source or b"setprofile" in source
    while True:
        try:
            if not is_begun:
                is_begun = True
                boot.check_encoding(source)
                code = boot.compile_source(cell)
                if not boot.is_forgone:
                    boot.script_code = code = boot.show_last(code)
                    sys.displayhook = boot.displayhook
                boot.memory.begin()
                boot.resume_tracing()
                is_heard = True
                signal(SIGINT, handler)
                exec(code, module.__dict__)
            now = getsignal(SIGINT) if is_heard else handler
            signal(SIGINT, SIG_IGN)
            boot.pause_tracing()
            handler = default_int_handler if now is None else now
            return error
        except BaseException as raised:
            if error is None:
                error = raised
                skip_own(error)


def skip_own(error):
    """The traceback begins with the cell."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    error.__traceback__ = trace


def display(kind, error, trace):
    """What sys.excepthook does, with the lines of cells; Python itself looks for them in files."""
    stream = sys.__dict__.get("stderr")
    if stream is not None:
        for line in traceback.format_exception(kind, error, trace):
            stream.write(line)
        stream.flush()


def end_of(error):
    """Shows and tells an exception as the end of a script. Returns the exit status."""
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        code = error.code
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 255
        boot.say(f"{code}\n")
        return 1
    hook = sys.__dict__.get("excepthook", boot.ended)
    try:
        boot.show(display if hook is sys.__excepthook__ else hook, error)
    except SystemExit as exit:
        return end_of(exit)
    except BaseException:
        pass
    return 1


def show_results(error):
    """As at a script's end. Figures are closed then, so that the next call begins a new one."""
    boot.conclude_results(error, module.__dict__)
    if boot.parts.get("figures") == "watched":
        boot.attempt(0, sys.modules["matplotlib.pyplot"].close, "all")


def forget_results():
    """What is counted for one report."""
    if "results" in boot.parts:
        boot.told.clear()
        boot.advice = 0
    if "figures" in boot.parts:
        boot.figures_left = boot.FIGURES_MAX


def tell_names(number):
    """The names of the session's globals, if they are others than before, so that their loss can be told; and now and
    then in any case: the code may have written over the report that told them."""
    global told_names, seen_names
    if number % TELL_AGAIN == 0:
        told_names, seen_names = None, ()
    all_names = tuple(module.__dict__)
    if len(all_names) == len(seen_names) and all(map(is_, all_names, seen_names)):
        return
    seen_names = ()  # until they are told
    names, left = [], NAMES_MAX
    for name in all_names:
        if type(name) is not str or name[:1] == "_" or name in own_names or not name.isidentifier():
            continue
        left -= len(name.encode()) + 1
        if left < 0:
            break
        names.append(name)
    text = "\n".join(names)
    if text != told_names:
        boot.put(REPORT_NAMES, text, NAMES_MAX)
        told_names = text
    seen_names = all_names


def call(channel):
    hand, fds = receive(channel)
    number, _, _, _, n_args, _, words_size, _ = memoryview(hand)[:HEAD_SIZE].cast("I").tolist()
    end = HEAD_SIZE + words_size
    source = hand[end:]
    connect(fds)
    report = Report(fds[2])
    boot.memory, boot.written = report, 0
    cell = f"<cell {number}>"
    try:
        prepare(cell, source, hand[HEAD_SIZE:end], n_args)
    except Exception:
        pass  # the code of an earlier call has seen to that
    error = execute(cell, source)
    boot.flush("stderr")
    boot.flush("stdout")
    status = end_of(error)
    if getpid() != process:
        raise SystemExit(status)
    try:
        show_results(error)
        forget_results()
        tell_names(number)
    except Exception:
        pass  # no more results then
    error = None
    boot.memory = None
    report.close()
    disconnect()
    channel.send(number.to_bytes(4, "little") + status.to_bytes(4, "little"))


def serve():
    """For ever; returns by SystemExit in processes that the code forked."""
    global process, null, null_fd
    process = boot.process = getpid()
    null_fd = open_file(NULL, O_WRONLY)
    null = fstat(null_fd).st_rdev
    boot.load_uncaught()
    boot.display = display
    set_inheritable(SOCKET_FD, False)
    channel = socket(fileno=SOCKET_FD)
    signal(SIGINT, SIG_IGN)
    module.__dict__["__builtins__"] = boot.builtins
    sys.path[0] = boot.HOME
    sys.meta_path.insert(0, boot.find_figures)
    sys.orig_argv[1:] = [boot.ARGV0]
    while True:
        call(channel)


if __name__ == "__main__":
    serve()
