"""The Markdown pages: what they name exists. Tests, files, links, requirement ids, stages, exit statuses."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
FOLDERS = ("src/", "tests/", "profiles/", "tools/", "docs/", "examples/", "zygote/", "fuzz/", "man/", "bench/")
# Highest number of each letter in requirements.md; A11 was dropped on purpose.
IDS = dict(J=22, S=20, I=11, F=9, T=10, E=9, H=6, D=18, O=7, A=12, N=12, L=10, R=11, X=17, M=3, C=7, P=15, Q=3, W=9, B=28)
DROPPED = {"A11"}

each_page = pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])


def named(text):
    """What stands in backticks and looks like a path of ours, with or without ::function. Patterns are left out."""
    for token in re.findall(r"`([^`\s]+)`", text):
        if token.startswith(FOLDERS) and not set(token) & set("*<>{}"):
            yield token


def is_there(token):
    name, _, function = token.partition("::")
    path = ROOT / name
    if not function:
        return path.exists()
    pattern = rf"^(def|static void) {re.escape(function)}\("
    return path.is_file() and re.search(pattern, path.read_text(), re.MULTILINE) is not None


def broken_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if not re.match(r"[a-z]+:|#", target) and not (page.parent / target.partition("#")[0]).exists():
            yield target


def test_the_pages_are_there():
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "ARCHITECTURE.md", "HACKING.md", "SECURITY.md", "NEWS.md", "docs/requirements.md"} <= names
    assert "## 0.1.0" in (ROOT / "NEWS.md").read_text()


@each_page
def test_every_named_test_exists(page):
    assert [token for token in named(page.read_text()) if not is_there(token)] == []


@each_page
def test_every_relative_link_resolves(page):
    assert list(broken_links(page)) == []


def test_the_checks_can_fail(tmp_path):
    page = tmp_path / "x.md"
    page.write_text("`tests/demo/test_docs.py::test_nothing` `src/nowhere.c` `src/**/x.c` [a](nowhere.md) [b](https://x.y)")
    assert [is_there(token) for token in named(page.read_text())] == [False, False]
    assert list(broken_links(page)) == ["nowhere.md"]
    assert is_there("tests/demo/test_docs.py::test_the_checks_can_fail")
    assert is_there("src/wire/message_test.c::test_unknown_types_have_no_size")


def test_every_requirement_has_a_row():
    rows = re.findall(r"^\| ([A-Z]\d+) \| .+ \| (done|part|open).* \|.*\|$", (ROOT / "docs/requirements.md").read_text(), re.MULTILINE)
    wanted = {f"{letter}{number}" for letter, last in IDS.items() for number in range(1, last + 1)} - DROPPED
    assert sorted(name for name, _ in rows) == sorted(wanted)


def test_a_requirement_that_is_done_names_its_test():
    for line in (ROOT / "docs/requirements.md").read_text().splitlines():
        if re.match(r"\| [A-Z]\d+ \| .* \| (done|part)", line):
            assert any("::" in token or "/ideas/" in token for token in named(line)), line


def test_every_mechanism_of_security_has_its_proof_or_says_why_not():
    """Rows of the two tables line by line: a state, and a test or an issue or a word about its absence."""
    for line in (ROOT / "SECURITY.md").read_text().splitlines():
        if line.startswith("| ") and not line.startswith(("| wall |", "| mechanism |", "| what |")):
            assert list(named(line)) or "issue " in line or "missing" in line, line


def test_every_stage_is_in_the_architecture():
    stages = re.findall(r'^STAGE\(\w+, "(.*)"\)', (ROOT / "src/wire/stage.def").read_text(), re.MULTILINE)
    text = " ".join((ROOT / "ARCHITECTURE.md").read_text().split())
    assert len(stages) > 50
    assert [name for name in stages if f"*{name}*" not in text] == []


def test_exit_statuses_of_the_readme_are_those_of_the_program():
    statuses = re.findall(r"^#define EXIT_\w+\s+(\d+)", (ROOT / "src/cli/base/exit.h").read_text(), re.MULTILINE)
    table = (ROOT / "README.md").read_text().partition("## Exit statuses")[2].partition("\n## ")[0]
    assert len(statuses) >= 5
    assert [number for number in statuses if not re.search(rf"^\| {number}\b", table, re.MULTILINE)] == []
