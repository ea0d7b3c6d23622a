"""What the tests know of the program's own tables (stages, limits, message types, profiles), read from its files."""
import re
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
BUILD = REPO / "build"
FAULTS = REPO / "build-faults"


def _entries(name, word):
    text = re.sub(r"/\*.*?\*/", "", (REPO / "src/wire" / name).read_text(), flags=re.S)
    return re.findall(rf"^{word}\((.*)\)$", text, flags=re.M)


def stages():
    """[(number, id, text)], numbers as on the wire, from 1."""
    rows = [entry.split(", ", 1) for entry in _entries("stage.def", "STAGE")]
    return [(number, name, text.strip('"')) for number, (name, text) in enumerate(rows, 1)]


def limits():
    """{name: (smallest, largest)} in the order of the wire."""
    found = {}
    for entry in _entries("limits.def", "LIMIT"):
        name, _, least, most = [word.strip() for word in entry.split(",")]
        found[name] = (_number(least), _number(most))
    return found


def _number(expression):
    words = expression.replace("ULL", "")
    assert re.fullmatch(r"[0-9 <*]+", words), expression
    return eval(words)  # digits, << and * only


def profile(name):
    """{limit: value} of profiles/NAME.conf."""
    found = {}
    for line in (REPO / "profiles" / f"{name}.conf").read_text().splitlines():
        key, equals, value = line.partition("#")[0].partition("=")
        if equals:
            found[key.strip()] = _value(value.strip())
    return found


def _value(text):
    if text in ("yes", "no"):
        return int(text == "yes")
    unit = {"K": 10, "M": 20, "G": 30}.get(text[-1])
    return int(text[:-1]) << unit if unit else int(text)


def types():
    """{name: number} of enum wire_type, without WIRE_."""
    text = re.sub(r"/\*.*?\*/", "", (REPO / "src/wire/message.h").read_text(), flags=re.S)
    body = re.search(r"enum wire_type \{(.*?)\}", text, flags=re.S).group(1)
    names = re.findall(r"WIRE_(\w+)", body)
    return {name: number for number, name in enumerate(names) if name not in ("NONE", "TYPE_MAX")}
