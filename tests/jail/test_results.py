"""B2, B3 in the jail: figures, the last value, and reports that a script forges."""
import pytest

pytestmark = pytest.mark.both

# Writes records over the report's mapping, which the bootstrap leaves in the script's memory.
FORGE = """import gc, mmap, ctypes
import sys
main = [o for o in gc.get_objects() if isinstance(o, dict) and "REPORT_SIZE" in o and "put_bytes" in str(o.get("UNCAUGHT", ""))][0]
memory = main["memory"]
def forge(data, at=0): memory[at:at + len(data)] = data
def record(tag, data): return bytes([tag]) + len(data).to_bytes(4, "little") + data
def result(flags, mime, value): return record(4, bytes([flags, len(mime)]) + mime + value)
"""


def results(run):
    return [(result["mime"], result.get("path", result.get("text")), result["main"]) for result in run.answer["results"]]


def test_B3_the_last_value_is_a_result(cloche):
    run = cloche.run("x = 6 * 7\nx")
    assert results(run) == [("text/plain", "42", True)] and run.answer["stdout"]["text"] == ""


def test_B2_figures_are_files_and_results(cloche):
    run = cloche.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\nplt.plot([3]); None")
    assert results(run) == [("image/png", "figure-1.png", False), ("image/png", "figure-2.png", False)]
    assert run.answer["stderr"]["text"] == "" and run.answer["advice"] == []
    assert {file["path"] for file in run.answer["files"]} == {"figure-1.png", "figure-2.png"}


def test_a_full_home_is_an_advice(cloche):
    run = cloche.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nf = open('full', 'wb')\ntry:\n  while 1: f.write(bytes(1 << 20)); f.flush()\n"
                     "except OSError: pass\nplt.show()")
    assert run.answer["outcome"] == "ok" and results(run) == [] and run.answer["advice"] == ["figure"]
    assert "could not be drawn" in run.answer["end"]["text"]


def test_a_forged_report_tells_only_files_of_the_home(cloche):
    run = cloche.run(FORGE + """import os
os.symlink('/etc/passwd', 'link.png'); os.mkdir('folder'); open('real.png', 'w').close(); os.mkfifo('pipe')
paths = [b'link.png', b'folder', b'pipe', b'/etc/passwd', b'../../etc/passwd', b'real.png\\0', b'./real.png', b'', b'x' * 5000, b'\\xff', b'real.png']
forge(b''.join(result(2, b'image/png', path) for path in paths))""")
    assert results(run) == [("image/png", "real.png", False)]


def test_a_forged_report_is_bounded_and_text(cloche):
    run = cloche.run(FORGE + "forge(b''.join(result(1, b'text/x', b'\\xff\\x1b%d' % i) for i in range(60000))[:1 << 20])\n")
    assert len(run.answer["results"]) == 48 and run.answer["results"][47]["text"] == "\ufffd\x1b47"
    run = cloche.run(FORGE + "forge(result(1, b'text/plain', b'a' * 300000) + result(9, b'a/b', b'') + result(1, b'A/<b>', b'') + record(4, b'') + record(4, b'\\1\\xff')"
                             " + result(1, b'text/plain', b'\\0' * 262144) + record(5, b'\\xff') + b'\\4\\xff\\xff\\xff\\xff')")
    assert results(run) == [("text/plain", "\0" * 262144, True)] and run.answer["advice"] == ["figures", "figure", "result"]


def test_a_report_of_noise(cloche):
    run = cloche.run(FORGE + "import os\nforge(os.urandom(1 << 20))\nforge(bytes([4]))\n")
    assert run.answer["outcome"] == "ok" and len(run.answer["results"]) <= 48


def test_a_huge_representation_is_the_scripts_own_memory(cloche):
    run = cloche.run("class A:\n  def _repr_html_(self): return 'x' * (1 << 30)\n  def __repr__(self): return 'A'\nA()")
    assert run.answer["end"]["reason"] == "memory" or results(run) == [("text/plain", "A", True)]
