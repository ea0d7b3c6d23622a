"""Every idea of ideas/ as root, and rootless: a sample in every run, all of them in long runs."""
import socket

import pytest
from idea import LINES, read_all
from judge import check_end, check_out, check_outside, check_secrets, compile_program
from runner import ENV_SECRET

IDEAS = read_all()
CASES = [pytest.param(idea, "root", id=f"{idea.name}-root") for idea in IDEAS]
CASES += [pytest.param(idea, "rootless", id=f"{idea.name}-rootless",
                       marks=() if idea.header.get("rootless") == "yes" else pytest.mark.long) for idea in IDEAS]
# Lines that speak of programs or services which these scripts cannot reach: tested beside those.
TESTED_ELSEWHERE = {"second lock", "fail closed", "dumpable"}


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    """programs("x.c") is the compiled file."""
    built = {}
    folder = tmp_path_factory.mktemp("programs")
    folder.chmod(0o755)
    return lambda name: built[name] if name in built else built.setdefault(name, compile_program(name, folder))


def options_of(idea, cloche, programs):
    header = idea.header
    options = {"language": idea.language, "within": int(header.get("within", 40))}
    options["timeout"] = header.get("timeout", "15")
    if "profile" in header:
        options["profile"] = header["profile"]
    if "stdin" in header:
        options["stdin"] = cloche.file("typed.txt", header["stdin"] + "\n")
    if "program" in header:
        copy = cloche.file(header["program"].removesuffix(".c"), programs(header["program"]).read_bytes())
        options["files"] = [copy]
    if "args" in header:
        values = {"hostname": socket.gethostname(), "secret": ENV_SECRET[::-1]}
        options["args"] = header["args"].format(**values).split()
    return options


@pytest.mark.parametrize("idea, cloche", CASES, indirect=["cloche"])
def test_idea(idea, cloche, checked, programs):
    options = options_of(idea, cloche, programs)
    before = {path.name for path in cloche.folder.iterdir()}
    run = cloche.run(idea.script, **options)
    checked(run)
    problems = check_end(idea, run) + check_secrets(run) + check_out(cloche) + check_outside(cloche, before)
    assert not problems, "\n".join(problems) + "\n" + run.explain()


def test_ideas_cover_every_line_of_security_md():
    covered = {idea.header["line"] for idea in IDEAS}
    assert set(LINES) - TESTED_ELSEWHERE <= covered, f"no idea for {set(LINES) - TESTED_ELSEWHERE - covered}"
    assert len(IDEAS) >= 80
