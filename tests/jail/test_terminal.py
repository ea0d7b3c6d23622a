"""What `cloche run` shows of results on a terminal that is played by the test."""
import base64
import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time

QUESTION = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c"
PICTURE = "import base64\nPNG = b'\\x89PNG\\r\\n\\x1a\\n' + b'\\x1b]0;title\\x07' * 800\nclass A:\n  def _repr_png_(self): return PNG\n  def __repr__(self): return 'A\\x1b[31m'\nA()"


def on_terminal(cloche, script, reply):
    """What comes to the terminal, which answers the question with reply (None: it is silent); and its modes' sameness."""
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)

    def prepare():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    child = subprocess.Popen(cloche.argv(script, json_answer=False), cwd=cloche.folder, env=cloche.environ(), stdin=theirs,
                             stdout=theirs, stderr=subprocess.PIPE, preexec_fn=prepare)
    told, is_answered, until = b"", False, time.monotonic() + 30
    while child.poll() is None or select.select([ours], [], [], 0.2)[0]:
        assert time.monotonic() < until, told
        if select.select([ours], [], [], 0.1)[0]:
            told += os.read(ours, 65536)
        if QUESTION in told and not is_answered and reply is not None:
            os.write(ours, reply)
            is_answered = True
    same = termios.tcgetattr(theirs) == before
    os.close(ours), os.close(theirs)
    assert child.returncode == 0 and b"wrote" in child.stderr.read() or QUESTION not in told
    return told.replace(b"\r\n", b"\n"), same


def test_a_terminal_that_draws_gets_the_picture_as_it_is(cloche):
    told, same = on_terminal(cloche, PICTURE, b"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c")
    chunks = re.findall(rb"\x1b_G((?:a=T,f=100,)?m=[01]);([A-Za-z0-9+/=]*)\x1b\\", told)
    assert base64.b64decode(b"".join(text for _, text in chunks)) == b"\x89PNG\r\n\x1a\n" + b"\x1b]0;title\x07" * 800
    assert [head for head, _ in chunks] == [b"a=T,f=100,m=1"] + [b"m=1"] * (len(chunks) - 2) + [b"m=0"] and len(chunks) > 2
    assert b"]0;title" not in told and b"A\\x1b" not in told and same


def test_a_terminal_that_does_not_gets_text_and_the_path(cloche):
    for reply in b"\x1b[?62;4c", b"\x1b_Gi=31;EINVAL\x1b\\\x1b[?62;4c", None:
        told, same = on_terminal(cloche, PICTURE, reply)
        assert told == QUESTION + b"A\\x1b[31m\n" and same


def test_text_needs_no_question(cloche):
    told, same = on_terminal(cloche, "print('a')\n'x\\ny'\nimport textwrap\n[1, 2]", None)
    assert told == b"a\n[1, 2]\n" and same


def test_a_pipe_gets_what_the_script_prints(cloche):
    run = cloche.run("print('a')\n[1, 2]", json_answer=False)
    assert run.text == "a\n"
