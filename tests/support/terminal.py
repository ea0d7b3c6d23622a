"""A terminal that is played by a test, and sixel as such a one would draw it."""
import dataclasses
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

QUESTION = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[c"
KITTY = b"\x1b_Gi=31;OK\x1b\\\x1b[?62;4c"
SIXEL = b"\x1b[?62;4;22c"
NEITHER = b"\x1b[?62;22c"


@dataclasses.dataclass
class Shown:
    out: bytes  # what came to the terminal, its line ends as \n
    said: bytes  # stderr, which is a pipe
    status: int
    is_as_before: bool  # the terminal's modes


def on_terminal(argv, reply, dots=(0, 0), **more):
    """Runs a command that answers the question for graphics with reply (None: it is silent)."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, *dots))
    before = termios.tcgetattr(theirs)

    def prepare():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    child = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, preexec_fn=prepare, **more)
    out, is_answered, until = b"", False, time.monotonic() + 60
    while child.poll() is None or select.select([ours], [], [], 0.2)[0]:
        assert time.monotonic() < until, out
        if select.select([ours], [], [], 0.1)[0]:
            out += os.read(ours, 65536)
        if QUESTION in out and not is_answered and reply is not None:
            os.write(ours, reply)
            is_answered = True
    is_as_before = termios.tcgetattr(theirs) == before
    os.close(ours), os.close(theirs)
    return Shown(out.replace(b"\r\n", b"\n"), child.stderr.read(), child.returncode, is_as_before)


def said_on_terminal(argv, **more):
    """(status, stderr) of a command whose stderr is a terminal, line ends as \\n."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([str(word) for word in argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs, **more)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # EIO: nobody has the other end any more
        pass
    os.close(ours)
    return child.wait(60), said.replace(b"\r\n", b"\n").decode()


def sixel_draw(text):
    """(width, height, rows of colours, each three percentages or None) of one sequence and nothing else."""
    width, height, body = re.fullmatch(rb'\x1bPq"1;1;(\d+);(\d+)([!-~]*)\x1b\\', text).groups()
    width, height = int(width), int(height)
    rows = [[None] * width for _ in range(height)]
    colours, colour, x, top = {}, None, 0, 0
    for item in re.findall(rb"#\d+(?:;2;\d+;\d+;\d+)?|!\d+[?-~]|[?-~]|[$]|-", body):
        if item[0] == ord("#"):
            number, *what = map(int, item[1:].split(b";"))
            colour = colours.setdefault(number, tuple(what[1:]))
        elif item in (b"$", b"-"):
            x, top = 0, top + 6 * (item == b"-")
        else:
            count = int(item[1:-1]) if item[0] == ord("!") else 1
            for y in (y for y in range(6) if (item[-1] - 63) >> y & 1):
                rows[top + y][x:x + count] = [colour] * count
            x += count
    return width, height, rows
