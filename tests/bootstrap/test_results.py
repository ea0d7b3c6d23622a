"""What a run shows beyond its output: the value of a last expression, and figures."""
from concurrent.futures import ThreadPoolExecutor

import pytest
from bootstrap_run import ADVICE, ERROR_NAME, run_bootstrap, run_plain
from test_bootstrap import prepare

FIGURES, FIGURE, RESULT = 1, 2, 4
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Matplotlib's own folder, with its list of fonts, made once."""
    return tmp_path_factory.mktemp("mpl")


@pytest.fixture
def show(tmp_path, cache):
    """Runs a script by plain Python and by the bootstrap, which print and end alike; returns the latter."""
    environment = {"MPLBACKEND": "Agg", "MPLCONFIGDIR": str(cache)}

    def run(script, same=True):
        folder = prepare(tmp_path, script, name="ours_")
        with ThreadPoolExecutor(1) as pool:
            plain = pool.submit(run_plain, prepare(tmp_path, script, name="plain"), env=environment) if same else None
            ours = run_bootstrap(folder, env=environment)
            plain = plain and plain.result()
        if same:
            assert (ours.out, ours.err.replace(b"/ours_/", b"/plain/"), ours.status) == (plain.out, plain.err, plain.status)
        made = (path for path in folder.iterdir() if path.name != "main.py" and path.is_file())
        ours.made = {path.name: path.read_bytes() for path in made}
        return ours

    return run


def text(value, mime="text/plain"):
    return (mime, "text", value, True)


def figure(name, main=False, mime="image/png"):
    return (mime, "path", name, main)


@pytest.mark.parametrize("script, value", [
    ("6*7", b"42"), ("x = 5\nx", b"5"), ("'a'", b"'a'"), ("'''a\nb'''", b"'a\\nb'"), ("-1", b"-1"), ("1, 2", b"(1, 2)"),
    ("[i * i for i in range(4)]", b"[0, 1, 4, 9]"), ("{i: j for i in 'ab' for j in 'cd'}", b"{'a': 'd', 'b': 'd'}"),
    ("a, b = 1, 0\na and b or 'z'", b"'z'"), ("x = 2\n1 < x < 3", b"True"), ("x = 2\n'a' if x else 'b'", b"'a'"),
    ("x = 0\n(1 if x else\n2)", b"2"), ("x = 0\nx or ('a' if x else 'b')", b"'b'"),
    ("(y := 7)", b"7"), ("x = 1; x", b"1"), ("x = 1\nx  # the end\n\n", b"1"), ("print(1); 4", b"4"), ("max(\n  3,\n  4\n)", b"4"),
    ("...", b"Ellipsis"), ("import os\nos.path.join('a', 'b')", b"'a/b'"), ("'ж'", "'ж'".encode()), ("0\n'\\udc80'", b"'\\udc80'"),
    ("if 1:\n  x = 3\nx", b"3"), ("def f():\n  yield 1\nlist(f())", b"[1]"), ("x = 1\n" * 300 + f"y = {list(range(600))}\nlen(y)", b"600"),
])
def test_B3_the_last_value(show, script, value):
    assert show(script).results == [text(value)]


@pytest.mark.parametrize("script", [
    "", "None", "x = 5", "print(1)", "if 1:\n  5 + len('')", "from os import path", "import os.path", "for i in [1]: i",
    "with open('/dev/null') as f: f.read()", "def f(): pass", "x = [1]\ndel x[0]", "assert 1", "x: int = 5", "7 # x\nx = 8", "5\n1/0",
    "try: [1]\nexcept ValueError: [2]", "while 0: 5", "class A: 5", "'a'\nimport sys; sys.exit()", "x = '''\n5'''", "import sys\nsys.displayhook\n5",
])
def test_no_last_value(show, script):
    assert show(script).results == []


def test_representations_come_richest_first(show):
    ours = show("""class A:
  def _repr_html_(self): return '<b>'
  def _repr_png_(self): return b'png'
  def _repr_jpeg_(self): return b'jpeg'
  def _repr_markdown_(self): return '*b*'
  def _repr_latex_(self): return None
  def _repr_json_(self): return {'a': [1]}
  def _repr_svg_(self): return '<svg/>'
  def __repr__(self): return 'A'
A()""", same=False)
    assert ours.results == [figure(b"result-1.png", True), text(b"<svg/>", "image/svg+xml"), text(b"<b>", "text/html"),
                            text(b"*b*", "text/markdown"), text(b'{"a": [1]}', "application/json"), text(b"A")]
    assert ours.made == {"result-1.png": b"png"} and ADVICE not in ours.report


def test_a_bundle_of_representations(show):
    ours = show("""class A:
  def _repr_mimebundle_(self, include=None, exclude=None):
    return {'text/plain': 'no', 'text/html': '<i>', 'image/png': 'cG5n', 'application/vnd.x+json': {'b': 1}}, {}
  def __repr__(self): return 'A'
A()""", same=False)
    assert ours.results == [figure(b"result-1.png", True), text(b"<i>", "text/html"), text(b'{"b": 1}', "application/vnd.x+json"), text(b"A")]


def test_objects_that_answer_to_every_name(show):
    ours = show("class A:\n  def __getattr__(self, name): return lambda *a: 'x'\n  def __repr__(self): return 'A'\nA()")
    assert ours.results == [text(b"A")]
    assert show("class A:\n  def _repr_html_(self): return 'x'\n  def __init__(self): 1/0\nA").results == [text(b"<class '__main__.A'>")]


def test_long_texts(show):
    """Plain text keeps its ends; another form becomes a file."""
    ours = show("'a' * 600000 + 'z'")
    (_, _, value, _), = ours.results
    assert 262100 < len(value) <= 256 * 1024 and value.startswith(b"'aaa") and value.endswith(b"az'")
    ours = show("class A:\n  def _repr_html_(s): return 'h' * 300000\n  def __repr__(s): return 'A'\nA()", same=False)
    assert ours.results == [figure(b"result-1.html", True, "text/html"), text(b"A")]
    assert ours.made == {"result-1.html": b"h" * 300000}


@pytest.mark.parametrize("body", ["1/0", "raise SystemExit(3)", "raise KeyboardInterrupt", "return s._repr_html_()", "return b'' + ''"])
def test_a_representation_that_fails_changes_nothing(show, body):
    ours = show(f"print('a')\nclass A:\n  def _repr_html_(s): {body}\n  def __repr__(s): return 'A'\nA()")
    assert ours.report[ADVICE] == bytes([RESULT]) and ERROR_NAME not in ours.report
    assert show(f"class A:\n  def __repr__(s): {body.replace('_html', '')}\nA()").results == []


def test_a_representation_that_loops_ends(show):
    """Even one that catches all."""
    ours = show("import bisect\nn = 0\nclass A:\n  def __repr__(s):\n    while 1:\n      try:\n        while 1: pass\n"
                "      except BaseException:\n        global n; n += 1\n        if n > 2: raise\nA()")
    assert ours.results == [] and ours.report[ADVICE] == bytes([RESULT])


def test_B2_what_is_shown_becomes_figures(show):
    ours = show(PLOT + "plt.show()\nplt.plot([3])\nplt.show()\n")
    assert ours.results == [figure(b"figure-1.png"), figure(b"figure-2.png")]
    assert sorted(ours.made) == ["figure-1.png", "figure-2.png"] and all(data.startswith(PNG) for data in ours.made.values())


@pytest.mark.parametrize("script", [
    "from matplotlib import pyplot\npyplot.plot([1]); None", "from pylab import *\nplot([1]); show()", "from matplotlib.pyplot import *\nplot([1]); show()",
    "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as p\np.plot([1]); p.show()",
    "import pandas as pd\npd.Series([1, 2]).plot(); None", "exec('import matplotlib.pyplot as p')\np.plot([1]); p.show()",
    PLOT + "plt.gcf().show(); None", PLOT + "plt.show(block=True)", PLOT + "plt.show(block=False); plt.close(); None",
    PLOT + "plt.ion()\nfor i in range(3): plt.plot([i]); plt.pause(.001)\nplt.show()", PLOT + "import os; os.chdir('/'); plt.show()",
    PLOT + "import sys; sys.exit(3)", PLOT + "1/0", PLOT + "plt.figure(); plt.show()", PLOT + "plt.savefig('a.png'); plt.title('x'); plt.show()",
    PLOT + "import pickle; pickle.dumps(plt.gcf()); plt.show()", PLOT + "plt.savefig('/nowhere/a.png')",
])
def test_B2_every_way_to_a_figure(show, script):
    ours = show(script)
    assert ours.results == [figure(b"figure-1.png")] and ours.made["figure-1.png"].startswith(PNG)


@pytest.mark.parametrize("script", [
    PLOT + "plt.savefig('a.png')", PLOT + "plt.savefig('a'); plt.gcf().canvas.draw()", PLOT + "plt.gcf().savefig('/tmp/cloche-a.pdf')",
    PLOT + "import io; plt.savefig(io.BytesIO())", PLOT + "plt.savefig('a.png', dpi=30, transparent=True, bbox_inches='tight', facecolor='r')",
    PLOT + "plt.title('x'); plt.savefig('b.svg'); plt.savefig('a.png')", PLOT + "plt.close(); None", "import matplotlib.pyplot as plt\nplt.figure(); None",
    "from matplotlib.figure import Figure\nf = Figure(); f.subplots().plot([1])\nNone", "import matplotlib.pyplot as plt",
])
def test_B2_never_twice_a_figure_already_saved(show, script):
    ours = show(script)
    assert ours.results == [] and not [name for name in ours.made if name.startswith("figure")]


def test_B2_a_saved_figure_that_is_shown_is_its_file(show):
    ours = show(PLOT + "import pathlib\nplt.savefig(pathlib.Path('a.png')); plt.show()")
    assert ours.results == [figure(b"a.png")] and list(ours.made) == ["a.png"]
    assert show(PLOT + "plt.savefig('/tmp/cloche-a.png'); plt.show()").results == []


def test_numbers_never_overwrite_a_file(show, tmp_path):
    ours = show(PLOT + "import os\nfor i in 1, 3: open(f'figure-{i}.png', 'w').close()\nos.symlink('/tmp/cloche-gone', 'figure-2.png')\nplt.show()", same=False)
    assert ours.results == [figure(b"figure-4.png")]


def test_the_format_is_matplotlibs_setting(show):
    ours = show(PLOT + "plt.rcParams['savefig.format'] = 'svg'\nplt.show()")
    assert ours.results == [figure(b"figure-1.svg", mime="image/svg+xml")] and b"<svg" in ours.made["figure-1.svg"]
    assert show(PLOT + "plt.rcParams['savefig.format'] = 'ps'\nplt.show()").results == [figure(b"figure-1.png")]


def test_figures_are_bounded(show):
    """Plain Python warns of 25 open figures here; we close what was shown."""
    ours = show("import matplotlib.pyplot as plt\nfor i in range(25): plt.figure(figsize=(1, 1)); plt.plot([i]); plt.show()", same=False)
    assert len(ours.results) == len(ours.made) == 20 and ours.report[ADVICE] == bytes([FIGURES])


@pytest.mark.parametrize("script, results", [
    ("import matplotlib.pyplot as plt\nplt.plot([1])", figure(b"figure-1.png", True)),
    ("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.gcf()", figure(b"figure-1.png", True)),
    ("import pandas as pd\npd.DataFrame({'a': [1, 2]}).plot()", figure(b"figure-1.png", True)),
    ("import pandas as pd\npd.DataFrame({'a': [1, 2]}).hist()", figure(b"figure-1.png", True)),
    ("from matplotlib.figure import Figure\nf = Figure(); f.subplots().plot([1])\nf", figure(b"figure-1.png", True)),
    (PLOT + "plt.savefig('a.png')\nplt.gcf()", figure(b"a.png", True)),
    ("from PIL import Image\nImage.new('RGB', (4, 4))", figure(b"result-1.png", True)),
])
def test_B3_pictures_are_values_too(show, script, results):
    ours = show(script)
    assert ours.results[0] == results and ours.results[1][:2] == ("text/plain", "text") and len(ours.results) == 2


def test_B3_data_frames(show):
    ours = show("import pandas as pd\ndf = pd.DataFrame({'a': range(99)})\ndf.head()")
    assert [result[0] for result in ours.results] == ["text/html", "text/plain"]
    assert b"<table" in ours.results[0][2] and ours.results[1][2].endswith(b"4  4")


def test_hostile_figures(show):
    """A figure whose saving is the script's own code: its failure is an advice, the files are the script's own."""
    head = "import matplotlib.pyplot as plt, os\nclass F(plt.Figure):\n  def savefig(self, *a, **k): %s\nf = plt.figure(FigureClass=F); f.subplots(); %s"
    assert show(head % ("raise SystemExit(9)", "plt.show()")).report[ADVICE] == bytes([FIGURE])
    assert show(head % ("os.kill(os.getpid(), 2)", "None")).report.get(ADVICE) == bytes([FIGURE])
    ours = show(head % ("[os.remove(n) for n in os.listdir()]", "open('kept', 'w').close(); plt.show()"), same=False)
    assert ours.status == 0 and set(ours.made) <= {"figure-1.png"}


def test_bad_drawing_is_an_advice(show):
    ours = show(PLOT + "plt.title('$\\\\frac{1}$'); plt.show(); print('on')")
    assert ours.results == [] and ours.report[ADVICE] == bytes([FIGURE])


def test_missing_glyphs_are_not_told_where_python_would_not(show):
    assert show(PLOT + "plt.title('\u6f22'); plt.show(); print('on')").err == b""


def test_no_modules_are_imported_for_nothing(show):
    """Also with a value to show, nothing stays that plain Python would not have."""
    script = "import sys, atexit\natexit.register(lambda: print(sorted(sys.modules)))\nx = [1]\nx"
    assert show(script).results == [text(b"[1]")]


def test_a_failing_import_of_pyplot_is_plain_pythons(show, tmp_path):
    broken = "raise ImportError('broken')"
    script = "import os\nos.mkdir('matplotlib')\nopen('matplotlib/__init__.py', 'w').close()\nopen('matplotlib/pyplot.py', 'w').write(%r)\nimport matplotlib.pyplot"
    assert b"broken" in show(script % broken).err
    assert b"ZeroDivision" in show(script % "def f(): 1/0\nf()").err
    assert show(script % "def show(): print('s')" + "\nmatplotlib.pyplot.show()").out == b"s\n"


def test_out_of_descriptors(show):
    ours = show("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\n5")
    assert ours.results == [] and ours.status == 0
