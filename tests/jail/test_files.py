"""--file and --out: what goes in arrives as it is, what comes out never overwrites anything."""
import os

import pytest

pytestmark = pytest.mark.both

LIST = "import os\nfor name in sorted(os.listdir('.')):\n    print(name, os.path.getsize(name))\n"


def test_files_arrive_byte_for_byte(cloche):
    content = bytes(range(256)) * 1000
    given = cloche.file("data.bin", content)
    run = cloche.run("import hashlib\nprint(hashlib.sha256(open('data.bin', 'rb').read()).hexdigest())\n", files=[given])
    import hashlib
    assert run.text.strip() == hashlib.sha256(content).hexdigest()
    assert run.changes() == {} and run.files() == {}, "an unchanged input is no result"


def test_equal_names_get_a_number(cloche):
    first, second, third = (cloche.file(f"{folder}/data.csv", folder) for folder in ("a", "b", "c"))
    run = cloche.run("for n in ('data.csv', 'data (2).csv', 'data (3).csv'):\n    print(open(n).read())\n",
                     files=[first, second, third])
    assert run.text.split() == ["a", "b", "c"], run.explain()


@pytest.mark.parametrize("name", [
    "Отчёт за май.csv", "with space.txt", "emoji-😀.txt", "quote'\".txt", "日本語.csv", "x" * 200 + ".txt", "عربي.txt", "no-extension",
])
def test_names_of_any_script_go_in_and_come_out(cloche, name):
    given = cloche.file(f"in/{name}", "given")
    run = cloche.run(f"n = {name!r}\nassert open(n).read() == 'given'\nopen(n, 'a').write('+')\nopen('new ' + n, 'w').write('new')\n",
                     files=[given])
    assert run.status == 0, run.explain()
    assert run.changes() == {name: "modified", f"new {name}": "created"}
    assert run.files() == {name: b"given+", f"new {name}": b"new"}


def test_out_never_overwrites(cloche):
    cloche.out.mkdir()
    cloche.identity.own(cloche.out)
    for name, content in (("chart.png", "mine"), ("plain", "mine")):
        (cloche.out / name).write_text(content)
    script = "for n in ('chart.png', 'plain', 'fresh.txt'):\n    open(n, 'w').write('from the run')\n"
    first = cloche.run(script)
    assert first.status == 0
    second = cloche.run(script)
    assert second.status == 0
    names = {name: content for name, content in second.files().items()}
    new = b"from the run"
    assert names == {"chart.png": b"mine", "plain": b"mine", "fresh.txt": new, "chart (2).png": new, "plain (2)": new,
                     "chart (3).png": new, "plain (3)": new, "fresh (2).txt": new}


def test_out_does_not_follow_links_of_the_caller(cloche):
    """A name that exists as a link, even a dangling one, is taken: the result goes beside it."""
    cloche.out.mkdir()
    cloche.identity.own(cloche.out)
    os.symlink(cloche.folder / "elsewhere", cloche.out / "r.txt")
    run = cloche.run("open('r.txt', 'w').write('result')\n")
    assert run.status == 0 and not (cloche.folder / "elsewhere").exists()
    assert (cloche.out / "r (2).txt").read_text() == "result"


def test_default_out_is_beside_the_caller(cloche):
    run = cloche.run("open('r.txt', 'w').write('result')\n", out=False)
    assert run.status == 0 and (cloche.folder / "out/r.txt").read_text() == "result"


def test_no_results_make_no_folder(cloche):
    cloche.run("print(1)\n", out=False)
    assert not (cloche.folder / "out").exists()


def test_results_belong_to_the_caller_and_are_plain(cloche):
    run = cloche.run("import os\nopen('r.txt', 'w').write('r')\nos.chmod('r.txt', 0o6777)\nos.mkdir('d')\nopen('d/x', 'w').write('x')\n")
    for path in (cloche.out / "r.txt", cloche.out / "d", cloche.out / "d/x"):
        about = path.lstat()
        assert about.st_uid == cloche.identity.uid and about.st_mode & 0o7000 == 0
    assert run.files() == {"r.txt": b"r", "d/x": b"x"}


def test_kinds_are_told(cloche, checked):
    script = ("open('t.csv', 'w').write('a,b\\n1,2\\n')\nopen('p.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(64))\n"
              "open('j.json', 'w').write('{}')\nopen('u.pdf', 'wb').write(b'%PDF-1.4\\n')\n")
    kinds = {f["path"]: f["mime"] for f in checked(cloche.run(script))["files"]}
    assert kinds == {"t.csv": "text/csv", "p.png": "image/png", "j.json": "application/json", "u.pdf": "application/pdf"}


def test_writes_through_a_mapping_are_seen(cloche):
    given = cloche.file("m.bin", bytes(8192))
    run = cloche.run("import mmap\nf = open('m.bin', 'r+b')\nm = mmap.mmap(f.fileno(), 0)\nm[0:4] = b'data'\n", files=[given])
    assert run.files().get("m.bin", b"")[:4] == b"data" or run.changes() == {"m.bin": "modified"}


def test_a_list_longer_than_1000_is_cut_and_said(cloche, checked):
    answer = checked(cloche.run("for n in range(1500):\n    open(f'f{n:04d}', 'w').write('x')\n"))
    assert len(answer["files"]) == 1000 and answer["files_truncated"] in (True, 500, 1500)


def test_names_that_are_no_text_are_told_in_base64(cloche, checked):
    import base64
    answer = checked(cloche.run("open(b'caf\\xe9.txt', 'w').write('x')\n"))
    assert [base64.b64decode(f["path_b64"]) for f in answer["files"]] == [b"caf\xe9.txt"]
    saved = base64.b64decode(answer["files"][0]["saved_b64"])
    assert saved.endswith(b"/caf\xe9.txt") and open(saved).read() == "x"


def test_inputs_that_do_not_fit_are_refused(cloche):
    given = [cloche.file(f"big{n}.bin", bytes(60 << 20)) for n in range(2)]
    run = cloche.run("print(1)\n", files=given, json_answer=False)
    assert run.status in (2, 125) and b"100 MiB" in run.stderr, run.explain()


def test_unreadable_inputs_are_refused(cloche):
    if cloche.identity.uid == 0:
        given = cloche.folder / "missing.csv"
    else:
        given = cloche.file("secret.csv", "x")
        given.chmod(0)
    run = cloche.run("print(1)\n", files=[given], json_answer=False)
    assert run.status == 2 and given.name.encode() in run.stderr


def test_a_fifo_as_input_does_not_hang(cloche):
    fifo = cloche.folder / "pipe.csv"
    os.mkfifo(fifo, 0o666)
    run = cloche.run("print(1)\n", files=[fifo], json_answer=False, within=10)
    assert run.status == 2 and b"pipe.csv" in run.stderr
