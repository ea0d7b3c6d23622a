"""The checks of tools/ pass on the real tree and fail on a planted violation of each rule."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ["check-layers", "check-size", "check-headers", "check-banned", "check-format"]


def run(tool, *args):
    command = [ROOT / "tools" / tool, *args]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def plant(top, files):
    for name, text in files.items():
        path = top / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def function(lines=1, parameters="void", depth=0):
    """A function with so many body lines, these parameters, and so many blocks in one another."""
    body = "".join("\t" * (i + 1) + "if (x) {\n" for i in range(depth))
    body += "".join("\t" * (i + 1) + "}\n" for i in reversed(range(depth)))
    body += "\tx++;\n" * (lines - 2 * depth)
    return f"static int x;\n\nvoid f({parameters})\n{{\n{body}}}\n"


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tree_passes(tool):
    status, said = run(tool)
    assert status == 0, said


CLEAN = {
    "base/a.h": "#pragma once\n\n/* One. */\nint a_get(void);\n",
    "base/a.c": '#include "base/a.h"\n\nint a_get(void)\n{\n\treturn 1; /* "http://x" */\n}\n',
    "jail/plan/p.h": '#pragma once\n\n#include "base/a.h"\n',
    "jail/inside/i.c": '#include "base/a.h"\n#include "jail/plan/p.h"\n',
    "jail/outside/o.c": '#include "base/a.h"\n#include "jail/plan/p.h"\n#include <seccomp.h>\n',
    "cli/main.c": '#include "base/a.h"\n\n#include <stdlib.h>\n\nconst char *f(void);\n'
    'const char *f(void)\n{\n\treturn getenv("HOME"); /* TODO(#12): strcpy(a, b) */\n}\n',
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_clean_tree_passes(tool, tmp_path):
    plant(tmp_path, CLEAN)
    status, said = run(tool, tmp_path)
    assert status == 0, said


VIOLATIONS = [
    ("check-layers", "base/a.c", '#include "json/json.h"\n', "points upward"),
    ("check-layers", "jail/plan/a.h", '#include "sandbox/run.h"\n', "points upward"),
    ("check-layers", "wire/a.c", '#include "json/json.h"\n', "points sideways"),
    ("check-layers", "jail/inside/a.c", '#include "jail/outside/o.h"\n', "points sideways"),
    ("check-layers", "jail/outside/a.c", '#include "jail/inside/i.h"\n', "points sideways"),
    ("check-layers", "jail/plan/a.c", '#  include "jail/inside/i.h"\n', "points sideways"),
    ("check-layers", "base/a.c", '#include "buf.h"\n', "not written from src/"),
    ("check-layers", "base/a.c", '#include "../json/json.h"\n', "of no module"),
    ("check-layers", "extra/a.c", "int a;\n", "stands on no floor"),
    ("check-layers", "jail/inside/a.c", "#include <seccomp.h>\n", "jail/outside, jail/zygote, supervisor/lock only"),
    ("check-layers", "cli/a.c", "#include <jansson.h>\n", "is for json only"),
    ("check-layers", "cli/a.c", '#include "profiles/a.h"\n', "of no module"),
    ("check-size", "base/a.c", "int x;\n" * 701, "lines 701"),
    ("check-size", "base/a.c", function(lines=101), "function lines 101"),
    ("check-size", "base/a.c", function(parameters="int a, int b, int c, int d, int e, int g"),
     "parameters 6"),
    ("check-size", "base/a.c", function(depth=4), "nesting 4"),
    ("check-headers", "base/a.h", "int f(void);\n", "no #pragma once"),
    ("check-headers", "base/a.h", "#pragma once\nint f(size_t n);\n", "does not compile alone"),
    ("check-banned", "base/a.c", "void f(char *a)\n{\n\tstrcpy(a, a);\n}\n", "strcpy is banned"),
    ("check-banned", "base/a.c", "int f(char *a)\n{\n\treturn atoi (a);\n}\n", "atoi is banned"),
    ("check-banned", "base/a.c", "int a; // why\n", "a // comment"),
    ("check-banned", "base/a.c", "/* TODO: later */\n", "TODO without an issue"),
    ("check-banned", "base/a.c", 'void f(void)\n{\n\tgetenv("A");\n}\n', "getenv outside main.c"),
    ("check-banned", "base/a.c", "#include <assert.h>\n", "include base/assert.h instead"),
    ("check-banned", "base/util.c", "int a;\n", "says nothing: util"),
    ("check-banned", "base/net_helpers.h", "#pragma once\n", "says nothing: net_helpers"),
    ("check-banned", "common/a.c", "int a;\n", "says nothing: common"),
    ("check-format", "base/a.c", "int f(void) { return 1; }\n", "not as clang-format"),
]


@pytest.mark.parametrize("tool, name, text, expected", VIOLATIONS)
def test_a_violation_is_found(tool, name, text, expected, tmp_path):
    plant(tmp_path, {name: text})
    status, said = run(tool, tmp_path)
    assert status == 1, said
    assert expected in said


def test_first_include_is_the_own_header(tmp_path):
    plant(tmp_path, CLEAN)
    plant(tmp_path, {"base/a.c": "#include <stdio.h>\n#include \"base/a.h\"\n"})
    status, said = run("check-headers", tmp_path)
    assert status == 1
    assert "the first include is not base/a.h" in said


def test_a_module_has_a_maximum(tmp_path):
    plant(tmp_path, {f"base/a{i}.c": "int x;\n" * 600 for i in range(6)})
    status, said = run("check-size", tmp_path)
    assert status == 1
    assert "module lines 3600" in said


def test_sizes_at_the_limit_pass_with_a_warning(tmp_path):
    plant(tmp_path, {
        "base/a.c": function(lines=100, parameters="int a, int b, int c, int d, int e", depth=3),
        "base/b.c": "int x;\n" * 700,
        "base/b_test.c": "int x;\n" * 900,
    })
    status, said = run("check-size", tmp_path)
    assert status == 0, said
    assert "warning: function lines 100" in said
    assert "warning: lines 700" in said
