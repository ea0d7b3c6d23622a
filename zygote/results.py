"""What a run shows: the value of the script's last expression, and the figures of figures.py.

Executed in the names of bootstrap.py when there is something to show. A representation is the
script's code, or a library's: it may raise, print, warn, loop. So it is called with a bound on time,
prints nothing, and its failure is an advice. What is small and text goes into the report; pictures,
and text that is too long, become files of the home that the report names.
"""
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal
from _thread import get_ident
from posix import O_CLOEXEC, O_CREAT, O_EXCL, O_WRONLY, open as open_file, unlink, write

load_uncaught()  # put_bytes

# As in src/wire/report.h.
RESULT_MAIN, RESULT_PATH = 1, 2
ADVICE_FIGURES, ADVICE_FIGURE, ADVICE_RESULT = 1, 2, 4
RESULTS_MAX = 48
TEXT_MAX = 256 * 1024
FILE_MAX = 16 * 1024 * 1024
REPORT_ROOM = 160 * 1024  # for the error, and for advice

SHOW_SECONDS = 10  # of a representation, or of drawing a figure after the script's end
NUMBERS_MAX = 10000

# Richest first.
METHODS = (
    ("image/png", "_repr_png_", ".png"),
    ("image/jpeg", "_repr_jpeg_", ".jpg"),
    ("image/svg+xml", "_repr_svg_", ".svg"),
    ("text/html", "_repr_html_", ".html"),
    ("text/markdown", "_repr_markdown_", ".md"),
    ("text/latex", "_repr_latex_", ".tex"),
    ("application/json", "_repr_json_", ".json"),
)
SUFFIXES = {mime: suffix for mime, _, suffix in METHODS} | {"text/plain": ".txt", "image/webp": ".webp"}
MIMES = {suffix: mime for mime, suffix in SUFFIXES.items()} | {
    ".jpeg": "image/jpeg", ".gif": "image/gif", ".pdf": "application/pdf",
}

told = []  # results, as records
advice = 0


class Late(BaseException):
    pass


class Sink:
    """Stands in for stdout or stderr; other threads of the script's print on."""

    def __init__(self, stream):
        self.stream = stream
        self.thread = get_ident()

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def write(self, text):
        return len(text) if get_ident() == self.thread else self.stream.write(text)

    def flush(self):
        if get_ident() != self.thread and self.stream is not None:
            self.stream.flush()


class Quiet:
    """While it lasts this thread's prints, warnings and log lines are lost."""

    def __enter__(self):
        modules = sys.modules
        self.kept = [(sys.__dict__, name, sys.__dict__[name]) for name in ("stdout", "stderr") if name in sys.__dict__]
        for names, name, stream in self.kept:
            names[name] = Sink(stream)
        if "warnings" in modules:
            names = modules["warnings"].__dict__
            for name in "warn", "warn_explicit":
                self.kept.append((names, name, names.get(name)))
                names[name] = lambda *arguments, **named: None
        if "logging" in modules:
            names = modules["logging"].root.manager.__dict__
            self.kept.append((names, "_disable", names.get("_disable", 0)))
            modules["logging"].disable(100)

    def __exit__(self, *_):
        for names, name, value in self.kept:
            names[name] = value
        if "logging" in sys.modules:
            sys.modules["logging"].root.manager._clear_cache()


def advise(bit):
    global advice
    if advice | bit != advice and memory is not None:
        advice |= bit
        put_bytes(REPORT_ADVICE, bytes([advice]))


def attempt(bit, function, *arguments):
    """What it returns; None, and advice, if it raises or takes longer than SHOW_SECONDS. For the
    main thread."""
    armed = [True]

    def on_alarm(*_):
        if armed:
            raise Late

    try:
        before = signal(SIGALRM, on_alarm)
        rest = setitimer(ITIMER_REAL, SHOW_SECONDS, 0.1)
        try:
            with Quiet():
                return function(*arguments)
        finally:
            armed.clear()
            setitimer(ITIMER_REAL, *rest)
            signal(SIGALRM, before)
    except BaseException:
        advise(bit)
        return None


def keep(stem, suffix, data):
    """Writes a file of the home that was not there. Returns its name."""
    if len(data) > FILE_MAX:
        raise ValueError("too large")
    for number in range(1, NUMBERS_MAX):
        name = f"{stem}-{number}{suffix}"
        try:
            fd = open_file(f"{HOME}/{name}", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            break
        except FileExistsError:
            pass
    else:
        raise FileExistsError(stem)
    try:
        left = memoryview(data)
        while left:
            left = left[write(fd, left) :]
    except BaseException:
        unlink(f"{HOME}/{name}")
        raise
    finally:
        close(fd)
    return name


def tell_result(mime, flags, data):
    """Adds a result to the report, if it is ours: flags, the mime's length, the mime, the text or path."""
    if memory is None or getpid() != process:
        return
    if len(told) >= RESULTS_MAX or written + len(data) > REPORT_SIZE - REPORT_ROOM:
        advise(ADVICE_RESULT)
        return
    record = bytes([flags, len(mime)]) + mime.encode() + data
    if record not in told:
        told.append(record)
        put_bytes(REPORT_RESULT, record)


def tell_file(name, main):
    suffix = name[name.rfind(".") :].lower()
    tell_result(MIMES.get(suffix, "application/octet-stream"), RESULT_PATH | main, name.encode())


def show_last_value(value):
    """Of the value that the script's code drops last, which is not None."""
    if attempt(ADVICE_RESULT, ends_with_expression):
        show_value(value)


def show_value(value):
    is_plain = type(value) in (int, float, complex, bool, str, bytes)
    shown = None if is_plain else attempt(ADVICE_RESULT, represent, value)
    text = attempt(ADVICE_RESULT, plain_text, value)
    for mime, data in (shown or {}).items():
        attempt(ADVICE_RESULT, tell_shown, mime, data)
    if text is not None:
        tell_result("text/plain", RESULT_MAIN, shorten(text, TEXT_MAX))


def plain_text(value):
    if type(value) in (str, bytes) and len(value) > 2 * TEXT_MAX:
        value = value[:TEXT_MAX] + value[-TEXT_MAX:]  # the middle would be left out anyway
    text = repr(value)
    return text if type(text) is str else str.__str__(text)


def parse_last():
    """The script's last statement."""
    return compile(source, SCRIPT, "exec", 0x400, True).body[-1]  # ast.PyCF_ONLY_AST


def ends_with_expression():
    """Whether the value dropped last is an expression's, and not of an import, in an `if`, or of what
    stands before a constant."""
    last = parse_last()
    return type(last).__name__ == "Expr" and not is_constant(last.value)


def show_constant(names):
    """The last value where it is a constant, for which there is no code."""
    with Quiet():
        last = parse_last()
        if type(last).__name__ != "Expr" or not is_constant(last.value):
            return
        value = eval(compile(wrap(last.value), SCRIPT, "eval", 0, True), {"__builtins__": {}})
    if value is not None:
        show_value(value)


def wrap(node):
    from _ast import Expression

    return Expression(node)


def is_constant(node):
    name = type(node).__name__
    if name == "Constant":
        return True
    if name == "UnaryOp":
        return is_constant(node.operand)
    if name == "BinOp":
        return is_constant(node.left) and is_constant(node.right)
    return name == "Tuple" and all(map(is_constant, node.elts))


def represent(value):
    """Representations by mime, richest first; text or bytes."""
    kind = type(value)
    if isinstance(value, type):
        return {}
    found = {}
    if "matplotlib.figure" in sys.modules:
        load("figures")
        picture = picture_of(value)
        if picture is not None:
            return {"": picture}
    if hasattr(kind, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        found.update((bundle[0] if type(bundle) is tuple else bundle) or {})
    for mime, method, _ in METHODS:
        if mime in found or (mime == "image/jpeg" and "image/png" in found):
            continue
        if hasattr(kind, method):
            try:
                data = getattr(value, method)()
            except Exception:
                advise(ADVICE_RESULT)
                continue
            data = data[0] if type(data) is tuple else data
            if data is not None:
                found[mime] = data
    found.pop("text/plain", None)
    ranks = {mime: rank for rank, (mime, _, _) in enumerate(METHODS)}
    return dict(sorted(found.items(), key=lambda item: ranks.get(item[0], len(ranks))))


def tell_shown(mime, data):
    """A representation: as text in the report if it is text and short, else as a file."""
    if not mime:
        tell_file(data, RESULT_MAIN)
        return
    suffix = SUFFIXES.get(mime, "")
    if mime.startswith("image/") and mime != "image/svg+xml":
        if type(data) is str:
            from binascii import a2b_base64

            data = a2b_base64(data)
        tell_result(mime, RESULT_PATH | RESULT_MAIN, keep("result", suffix, bytes(data)).encode())
        return
    if mime.endswith("json"):
        from json import dumps

        data = dumps(data, ensure_ascii=False, allow_nan=False)
    data = str(data).encode("utf-8", "backslashreplace")
    if len(data) <= TEXT_MAX:
        tell_result(mime, RESULT_MAIN, data)
    elif suffix:
        tell_result(mime, RESULT_PATH | RESULT_MAIN, keep("result", suffix, data).encode())
    else:
        raise ValueError("too large")
