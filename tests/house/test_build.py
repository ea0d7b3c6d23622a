"""The build compiles every source, with the flags that we promise, and refuses what we ban."""

import json
import pathlib
import re
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
ALLOCATING = {"malloc", "calloc", "realloc", "free", "strdup", "strndup", "asprintf", "vasprintf",
              "getline", "opendir", "fopen", "fdopen"}


@pytest.fixture(scope="module")
def commands():
    """Argument list of the compiler by source."""
    rows = json.loads((BUILD / "compile_commands.json").read_text())
    return {(BUILD / row["file"]).resolve(): shlex.split(row["command"]) for row in rows}


def symbols(*args):
    done = subprocess.run(["nm", *args], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines() if line.strip()}


def test_every_source_is_built(commands):
    sources = {p for folder in ("src", "fuzz") for p in (ROOT / folder).rglob("*.c")}
    assert sources - set(commands) == set(), "not in a meson.build, or a test without its x.c"


@pytest.mark.parametrize("flag", [
    "-Werror", "-Wconversion", "-Wvla", "-Wframe-larger-than=16384", "-D_FORTIFY_SOURCE=3",
    "-fstack-protector-strong", "-fstack-clash-protection", "-fno-strict-overflow",
    "-ftrivial-auto-var-init=zero", "-fzero-call-used-regs=used-gpr", "-fcf-protection=full",
])
def test_every_source_has_the_flag(commands, flag):
    assert [p for p, command in commands.items() if flag not in command] == []
    assert not any("-DNDEBUG" in command for command in commands.values())


@pytest.mark.parametrize("code", [
    "void f(char *a, const char *b);\nvoid f(char *a, const char *b)\n{\n\tstrcpy(a, b);\n}\n",
    "int f(const char *a);\nint f(const char *a)\n{\n\treturn system(a);\n}\n",
    "long f(const char *a);\nlong f(const char *a)\n{\n\treturn atol(a);\n}\n",
    "unsigned f(int a);\nunsigned f(int a)\n{\n\treturn a;\n}\n",
    "int f(int n);\nint f(int n)\n{\n\tchar a[n];\n\ta[0] = 1;\n\treturn a[0];\n}\n",
])
def test_the_compiler_refuses(commands, code, tmp_path):
    command = list(commands[ROOT / "src/base/str.c"])
    command[-1] = str(tmp_path / "x.c")
    command[command.index("-o") + 1] = str(tmp_path / "x.o")
    command[command.index("-MF") + 1] = str(tmp_path / "x.d")
    for text, status in (("int f(void);\nint f(void)\n{\n\treturn 1;\n}\n", 0), (code, 1)):
        (tmp_path / "x.c").write_text(text)
        done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr


def test_what_init_links_of_base_allocates_nothing():
    objects = BUILD / "src" / "libcloche_base.a.p"
    allocators = symbols("--defined-only", objects / "base_alloc.c.o")
    for name in ("assert", "beneath", "clock", "fault", "fd", "id", "str"):
        used = symbols("--undefined-only", objects / f"base_{name}.c.o")
        assert not used & (ALLOCATING | allocators), name
        assert not [s for s in used if s.startswith(("buf_", "log_", "utf8_", "conf_"))], name


def test_init_is_static_and_allocates_nothing():
    if not (ROOT / "src/init/main.c").exists():
        return
    init = BUILD / "cloche-init"
    assert "x" + "malloc" not in symbols(init)
    done = subprocess.run(["readelf", "-l", init], capture_output=True, text=True, check=True)
    assert "INTERP" not in done.stdout


def test_init_carries_no_c_library():
    """Its start alone would cost more than all that init does (docs/performance.md)."""
    init = BUILD / "cloche-init"
    names = symbols(init)
    assert "bare_start" in names
    assert not [name for name in names if name.startswith(("__libc", "_IO_", "_dl_"))]
    done = subprocess.run(["objdump", "-d", init], capture_output=True, text=True, check=True)
    assert "syscall" in done.stdout or "svc" in done.stdout
    assert "cpuid" not in done.stdout


@pytest.mark.parametrize("name", ["cloche", "cloche-jaild", "cloche-init"])
def test_programs_are_hardened(name):
    program = BUILD / name
    if not program.exists():
        return
    done = subprocess.run(["readelf", "-hldW", program], capture_output=True, text=True, check=True)
    assert "DYN (" in done.stdout  # position independent
    assert "GNU_RELRO" in done.stdout
    lines = done.stdout.splitlines()
    if name != "cloche-init":  # it has nothing that is bound
        assert any("FLAGS_1" in line and "NOW" in line for line in lines)
    segments = [line for line in lines if line.strip().startswith(("LOAD", "GNU_STACK"))]
    assert len(segments) > 2 and not [line for line in segments if re.search(r" R?WE ", line)]


def test_dependencies_that_are_there_cost_nothing():
    done = subprocess.run(
        [ROOT / "tools/deps", "build", "check"], capture_output=True, text=True, timeout=5, check=True)
    assert done.stdout + done.stderr == ""


def test_an_unknown_group_of_dependencies_is_refused():
    done = subprocess.run([ROOT / "tools/deps", "nonsense"], capture_output=True, check=False)
    assert done.returncode == 2
