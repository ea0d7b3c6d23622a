"""Figures of matplotlib.pyplot: what plt.show() shows and what is open at the end become figure-N.png.

Executed in the names of bootstrap.py when pyplot is imported. plt.show() saves the open figures and
closes them, as a person who looks at each window and closes it would; with block=False, in
interactive mode, and by fig.show() a figure stays open and is saved once it is closed, or at the
end. What the script has saved itself and not changed since is not saved again: Figure.savefig tells
of its end through the ExitStack that it uses, so that no frame of ours is ever in a traceback, and a
change calls the figure's stale_callback. The format is matplotlib's own setting for files without
one, rcParams["savefig.format"].
"""
FIGURES_MAX = 20
FORMATS = ("png", "svg", "pdf", "jpg", "jpeg", "webp")

# As importlib's own, so that Python leaves it out of the traceback of an import that fails.
exec(
    compile(
        '''
def follow(loader, watch):
    def exec_module(module):
        del loader.exec_module
        loader.exec_module(module)
        try:
            watch()
        except Exception:
            pass

    loader.exec_module = exec_module
''',
        "<frozen importlib._bootstrap>",
        "exec",
        0,
        True,
    ),
    globals(),
)

saved = {}  # figure -> path of the file that shows it, or None for one elsewhere
waiting_figures = set()  # shown without blocking, not saved yet
figures_left = FIGURES_MAX


def find_pyplot(name, path, target):
    """Its spec as the other finders make it, with watch_figures after its execution."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find(name, path, target) if find else None
        if spec is not None:
            try:
                follow(spec.loader, watch_figures)
            except AttributeError:
                pass
            return spec
    return None


def watch_figures():
    """Puts our own in place of what shows and closes."""
    global saved, waiting_figures
    from matplotlib import backend_bases, figure, pyplot
    from weakref import WeakKeyDictionary, WeakSet

    saved, waiting_figures = WeakKeyDictionary(), WeakSet()
    manager, show_all, destroy = backend_bases.FigureManagerBase, pyplot.show, backend_bases.FigureManagerBase.destroy

    def show_one(self):
        waiting_figures.add(self.canvas.figure)

    def destroy_one(self):
        figure = self.canvas.figure
        if figure in waiting_figures:
            begin_results("save_figure", figure)
        return destroy(self)

    def show(*arguments, **named):
        managers = pyplot._pylab_helpers.Gcf.get_all_fig_managers()
        if any(type(one).show is not show_one for one in managers):
            return show_all(*arguments, **named)
        block = arguments[0] if arguments else named.get("block")
        for one in managers:
            show_one(one)
        if block or block is None and not pyplot.isinteractive():
            pyplot._pylab_helpers.Gcf.destroy_all()

    class Saving(figure.ExitStack):
        def __exit__(self, *details):
            result = super().__exit__(*details)
            names = _getframe(1).f_locals
            if details[0] is None and "fname" in names and "self" in names:
                remember(names["self"], names["fname"])
            return result

    show.__doc__, show.__name__, show.__qualname__, show.__module__ = show_all.__doc__, "show", "show", show_all.__module__
    figure.ExitStack = Saving
    manager.show = show_one
    manager.destroy = destroy_one
    pyplot.show = show
    parts["figures"] = "watched"


def remember(figure, name):
    """The figure is in this file, or elsewhere, until it changes."""
    try:
        saved[figure] = path_in_home(name)
    except Exception:
        saved[figure] = None
    before = figure.stale_callback

    def changed(artist, is_stale):
        if artist in saved and not is_drawing(_getframe(1)):
            del saved[artist]
        if before is not None:
            before(artist, is_stale)

    if getattr(before, "__code__", None) is not changed.__code__:
        figure.stale_callback = changed


def is_drawing(frame):
    """Whether matplotlib itself changes the figure, to draw what the script has changed before."""
    while frame is not None:
        if frame.f_code.co_name == "draw" and "matplotlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def path_in_home(name):
    """The name of a file that matplotlib saved, within the home; None for one elsewhere."""
    from os.path import abspath, isfile, splitext

    if not isinstance(name, str):
        name = name.__fspath__()
    if not splitext(name)[1]:
        name = name.rstrip(".") + "." + sys.modules["matplotlib"].rcParams["savefig.format"]
    name = abspath(name)
    return name[len(HOME) + 1 :] if name.startswith(HOME + "/") and isfile(name) else None


def save_open_figures():
    """At the script's end."""
    if parts["figures"] == "watched":
        for manager in sys.modules["matplotlib._pylab_helpers"].Gcf.get_all_fig_managers():
            attempt(ADVICE_FIGURE, save_figure, manager.canvas.figure)


def save_figure(figure):
    """Makes it a result, saved unless it is. What is only open, and was saved, is none."""
    is_shown_figure = figure in waiting_figures
    waiting_figures.discard(figure)
    if figure in saved:
        if is_shown_figure and saved[figure]:
            tell_file(saved[figure], 0)
        return
    if len(figure.get_children()) > 1:  # more than its background
        name = write_figure(figure)
        if name:
            tell_file(name, 0)


def write_figure(figure):
    """Returns the name of its new file; None, and advice, if there are too many or it fails."""
    global figures_left
    from io import BytesIO

    if figures_left <= 0:
        advise(ADVICE_FIGURES)
        return None
    kind = sys.modules["matplotlib"].rcParams["savefig.format"]
    kind = kind if kind in FORMATS else "png"
    try:
        with Quiet():
            try:
                data = BytesIO()
                figure.savefig(data, format=kind, bbox_inches="tight")
            except Exception:  # something far outside of it
                data = BytesIO()
                figure.savefig(data, format=kind, bbox_inches=None)
            name = keep("figure", "." + kind, data.getbuffer())
    except (Late, KeyboardInterrupt):
        raise
    except BaseException:
        advise(ADVICE_FIGURE)
        return None
    figures_left -= 1
    saved[figure] = name
    return name


def picture_of(value):
    """The file that shows a figure, or what is drawn in one; None for other values."""
    kind = sys.modules["matplotlib.figure"].Figure
    for _ in range(3):
        if isinstance(value, kind):
            break
        if isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray" and value.dtype == object:
            value = next(iter(getattr(value, "flat", value)), None)
        elif type(value).__module__.startswith(("matplotlib.", "seaborn.")):
            value = getattr(value, "figure", None)
    if not isinstance(value, kind):
        return None
    waiting_figures.discard(value)
    return saved[value] if saved.get(value) else write_figure(value)
