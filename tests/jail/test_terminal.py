"""What `cloche run` shows of results on a terminal that is played by the test."""
import base64
import re

import pytest
from terminal import KITTY, NEITHER, QUESTION, SIXEL, on_terminal, sixel_draw

PICTURE = "import base64\nPNG = b'\\x89PNG\\r\\n\\x1a\\n' + b'\\x1b]0;title\\x07' * 800\nclass A:\n  def _repr_png_(self): return PNG\n  def __repr__(self): return 'A\\x1b[31m'\nA()"

# Four quarters, one of them half transparent, so that it is seen on white.
QUARTERS = """from PIL import Image
image = Image.new('RGBA', (1500, 10), (255, 0, 0, 255))
image.paste((0, 255, 0, 255), (750, 0, 1500, 5)); image.paste((0, 0, 255, 255), (0, 5, 750, 10)); image.paste((0, 0, 0, 0), (750, 5, 1500, 10))
image.resize(({size})).save('q.png')
class A:
  def _repr_png_(self): return open('q.png', 'rb').read()
  def __repr__(self): return 'the text'
A()"""

# Pictures that the decoder is to break on.
HOSTILE = {
    "bomb": "from PIL import Image\nImage.new('1', (13000, 13000)).save('q.png')",
    "no_picture": "open('q.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + b'\\x1bPq\"1;1;4;4~\\x1b\\\\\\\\' * 100)",
    "cut": "from PIL import Image\nImage.effect_noise((500, 500), 90).save('q.png')\ndata = open('q.png', 'rb').read()\nopen('q.png', 'wb').write(data[:9000])",
    "too_large": "open('q.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(9 << 20))",
}


def shown(cloche, script, reply, **more):
    made = on_terminal(cloche.argv(script, json_answer=False), reply, cwd=cloche.folder, env=cloche.environ(), **more)
    assert made.status == 0 and made.is_as_before and (b"wrote" in made.said or QUESTION not in made.out), made
    return made.out


def test_a_terminal_that_draws_gets_the_picture_as_it_is(cloche):
    told = shown(cloche, PICTURE, KITTY)
    chunks = re.findall(rb"\x1b_G((?:a=T,f=100,)?m=[01]);([A-Za-z0-9+/=]*)\x1b\\", told)
    assert base64.b64decode(b"".join(text for _, text in chunks)) == b"\x89PNG\r\n\x1a\n" + b"\x1b]0;title\x07" * 800
    assert [head for head, _ in chunks] == [b"a=T,f=100,m=1"] + [b"m=1"] * (len(chunks) - 2) + [b"m=0"] and len(chunks) > 2
    assert b"]0;title" not in told and b"A\\x1b" not in told


def test_a_terminal_that_does_not_gets_text_and_the_path(cloche):
    for reply in NEITHER, b"\x1b_Gi=31;EINVAL\x1b\\\x1b[?62c", None:
        assert shown(cloche, PICTURE, reply) == QUESTION + b"A\\x1b[31m\n"


@pytest.mark.parametrize("size, dots, expected", [
    ("60, 11", (0, 0), (60, 11)),         # odd: the last band is not full
    ("1500, 1000", (0, 0), (800, 533)),   # of a terminal that does not tell how large it is
    ("1500, 1000", (300, 900), (300, 200)),
    ("1500, 1500", (4000, 4000), (1000, 1000)),
])
@pytest.mark.both
def test_a_terminal_with_sixel_gets_a_picture_that_fits(cloche, size, dots, expected):
    told = shown(cloche, QUARTERS.replace("{size}", size), SIXEL, dots=dots)
    assert told.startswith(QUESTION) and told.endswith(b"\x1b\\\n") and b"the text" not in told
    width, height, rows = sixel_draw(told[len(QUESTION):-1])
    assert (width, height) == expected and not any(None in row for row in rows)
    corners = [rows[y][x] for y in (1, height - 2) for x in (1, width - 2)]
    assert corners == [(100, 0, 0), (0, 100, 0), (0, 0, 100), (100, 100, 100)]


def test_a_photograph_as_sixel(cloche):
    told = shown(cloche, "from PIL import Image\nImage.merge('RGB', [Image.effect_noise((700, 700), s) for s in (60, 90, 120)])", SIXEL)
    width, height, rows = sixel_draw(told[len(QUESTION):-1])
    assert (width, height) == (700, 700) and len(set(sum(rows, []))) > 200


def test_each_figure_is_drawn(cloche):
    told = shown(cloche, "import matplotlib.pyplot as plt\nfor i in range(3):\n  plt.figure(figsize=(2, 1)); plt.plot([i, 2])\nplt.show()", SIXEL)
    pictures = re.findall(rb"\x1bP[^\x1b]*\x1b\\\n", told)
    assert told == QUESTION + b"".join(pictures) and len(pictures) == 3
    assert all(150 < sixel_draw(picture[:-1])[0] < 250 for picture in pictures)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_picture_that_breaks_the_decoder_is_not_drawn(cloche, name):
    told = shown(cloche, HOSTILE[name] + "\nclass A:\n  def _repr_png_(self): return open('q.png', 'rb').read()\n  def __repr__(self): return 'the text'\nA()", SIXEL)
    assert told == QUESTION + b"the text\n"


def test_a_terminal_is_told_which_system_files(cloche):
    """On stderr, which is a pipe in the other tests."""
    script = cloche.argv("print(1)", json_answer=False)
    made = on_terminal(["sh", "-c", '"$0" "$@" 2>&1', *script], None, cwd=cloche.folder, env=cloche.environ())
    assert re.search(rb"cloche: with this machine's /usr \(Python 3\.\d+\)\n", made.out), made


def test_text_needs_no_question(cloche):
    assert shown(cloche, "print('a')\n'x\\ny'\nimport textwrap\n[1, 2]", None) == b"a\n[1, 2]\n"


def test_a_pipe_gets_what_the_script_prints(cloche):
    run = cloche.run("print('a')\n[1, 2]", json_answer=False)
    assert run.text == "a\n"
