"""What the checks of this folder share: the list of our C files, and C without text and comments."""

import pathlib
import re
import sys

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def root():
    """The tree to look at: the first argument, or the one this script lies in."""
    if len(sys.argv) > 1:
        return pathlib.Path(sys.argv[1])
    return pathlib.Path(__file__).resolve().parent.parent


def files(top, *suffixes, folders=("src",)):
    """Our files with these suffixes, sorted."""
    found = []
    for folder in folders:
        found += [p for p in (top / folder).rglob("*") if p.suffix in suffixes]
    return sorted(found)


def is_test(path):
    return path.stem.endswith(("_test", "_fuzz"))


def module(path, top):
    """The module of a file: its folder under src/."""
    return path.relative_to(top / "src").parent.as_posix()


def strip(text):
    """The text with strings and comments blanked, line numbers kept."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def comments(text):
    """(line, comment) for each comment."""
    for m in TOKEN.finditer(text):
        if m.group().startswith("/"):
            yield text.count("\n", 0, m.start()) + 1, m.group()


def includes(text):
    """(line, name, is_quoted) for each #include."""
    for m in INCLUDE.finditer(text):
        yield text.count("\n", 0, m.start()) + 1, m.group(2), m.group(1) == '"'


def finish(problems):
    """Prints the problems; ends with status 1 if there are any."""
    problems = list(problems)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
