"""I3, I10: the build: what it keeps, what it says, and what is left when it is cut short.

The downloads are those of the suite's cache; apt-get, mmdebstrap and pip3 are small programs that do what the test is
about.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from image_cache import CACHE, PROGRAM, REPO, build

RECIPE = REPO / "image"
LOCK = [line.split() for line in (RECIPE / "packages.lock").read_text().splitlines() if line and line[0] != "#"]


def test_I10_a_second_build_says_that_nothing_has_changed(tree):
    before = tree.stat()
    again = build(stderr=subprocess.PIPE, text=True)
    assert again.returncode == 0 and "nothing has changed" in again.stderr
    assert (tree.stat().st_ino, tree.stat().st_ctime) == (before.st_ino, before.st_ctime)


def test_I3_every_line_of_the_lock_has_a_version_and_hashes():
    text = (RECIPE / "requirements.txt").read_text()
    entries = re.split(r"(?m)^(?=[A-Za-z])", re.sub(r"(?m)^#.*\n", "", text))[1:]
    assert len(entries) > 100
    for entry in entries:
        assert re.match(r"[\w.-]+==\S+ \\\n", entry) and "--hash=sha256:" in entry, entry
    names = {re.match(r"[\w.-]+", entry).group().lower() for entry in entries}
    wanted = re.findall(r"(?m)^([A-Za-z][\w.-]*)", (RECIPE / "requirements.in").read_text())
    assert {name.lower() for name in wanted} <= names


def test_every_debian_package_has_a_version_and_a_hash():
    assert len(LOCK) > 300 and len({row[0] for row in LOCK}) == len(LOCK)
    assert all(len(row) == 5 and re.fullmatch("[0-9a-f]{64}", row[4]) for row in LOCK)


class Workshop:
    """A place for builds that go wrong, with programs of the test's own first in PATH."""

    def __init__(self, folder):
        self.folder, self.bin, self.out = folder, folder / "bin", folder / "images/rootfs"
        self.bin.mkdir()
        self.path = str(self.bin)

    def program(self, name, text):
        (self.bin / name).write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{text}\n")
        (self.bin / name).chmod(0o755)

    def start(self, *options, cache=CACHE, before=(), **variables):
        return subprocess.Popen([*before, PROGRAM, "image", "build", "--out", self.out, "--cache", cache, *options],
                                env={"PATH": self.path, "HOME": str(self.folder), **variables}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def build(self, *options, **more):
        child = self.start(*options, **more)
        _, said = child.communicate(timeout=120)
        return child.returncode, said

    def recipe(self, **texts):
        """A copy of the recipe with some files changed: requirements_in=... is its requirements.in."""
        folder = self.folder / "recipe"
        shutil.copytree(RECIPE, folder)
        for name, text in texts.items():
            (folder / name.replace("_", ".")).write_text(text)
        return folder

    def remains(self):
        return list(self.out.parent.glob(".*"))


@pytest.fixture
def workshop(tree, tmp_path):
    made = Workshop(tmp_path)
    made.program("dpkg-deb", "echo Package: x")  # the real one would be asked 349 times
    (made.bin / "python3").symlink_to("/usr/bin/python3")  # uv looks for one
    for name in "apt-get", "mmdebstrap", "pip3", "unshare", "chroot":
        made.program(name, f"echo 'error: the real {name} was not to be asked' >&2; exit 9")
    return made


def test_missing_programs_are_named_with_their_packages_before_anything_is_done(workshop):
    for name in "mmdebstrap", "pip3", "dpkg-deb":
        (workshop.bin / name).unlink()
    status, said = workshop.build()
    assert status == 125 and "not here: dpkg-deb, mmdebstrap, pip3." in said
    assert "apt-get install dpkg mmdebstrap python3-pip\n" in said and "1/6" not in said
    assert not workshop.out.parent.exists()


def test_what_a_program_says_at_its_end_is_told(workshop):
    workshop.program("mmdebstrap", "echo working >&2; echo 'E: the disk is on fire' >&2; exit 3")
    status, said = workshop.build()
    assert status == 125 and "E: the disk is on fire" in said and "build.log" in said and "working" not in said
    assert not workshop.remains()


def test_a_build_that_is_killed_takes_its_programs_along_and_the_next_one_cleans_up(workshop):
    workshop.program("mmdebstrap", f'mkdir -p "$9/x"; echo here > {workshop.folder}/started; exec sleep 1007')
    child = workshop.start()
    until(lambda: (workshop.folder / "started").exists(), child)
    status, said = workshop.build()
    assert status == 125 and "Another build is at work" in said
    child.send_signal(signal.SIGKILL)
    child.wait()
    deadline = time.monotonic() + 10
    while sleepers():
        assert time.monotonic() < deadline, "mmdebstrap goes on"
        time.sleep(0.05)
    assert workshop.remains() and not workshop.out.exists()
    workshop.program("mmdebstrap", "exit 1")
    status, said = workshop.build()
    assert status == 125 and "removed what a build that was cut short has left" in said
    assert not workshop.remains()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_stopped_leaves_nothing(workshop, number):
    workshop.program("mmdebstrap", f'mkdir -p "$9/x"; echo here > {workshop.folder}/started; exec sleep 1007')
    child = workshop.start()
    until(lambda: (workshop.folder / "started").exists(), child)
    child.send_signal(number)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 128 + number and "Stopped" in said and "killed" not in said
    assert not workshop.remains() and not workshop.out.exists() and not sleepers()


def test_two_builds_do_not_share_a_cache_at_once(workshop):
    workshop.program("mmdebstrap", f"echo here > {workshop.folder}/started; exec sleep 1007")
    child = workshop.start()
    until(lambda: (workshop.folder / "started").exists(), child)
    workshop.out = workshop.folder / "elsewhere/rootfs"
    status, said = workshop.build()
    assert status == 125 and "uses the downloads" in said and str(CACHE) in said
    done = subprocess.run([PROGRAM, "image", "rm", "--downloads", "--cache", CACHE], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 125 and "a build is at work there" in done.stderr
    child.terminate()
    child.communicate(timeout=60)


def test_an_image_in_the_folder_of_its_downloads(workshop):
    """As this suite has it: the locks of both are not the same."""
    workshop.out = workshop.folder / "cache/rootfs"
    (workshop.folder / "cache").mkdir()
    status, said = workshop.build(cache=workshop.folder / "cache")
    assert status == 125 and "the real apt-get was not to be asked" in said


def test_only_downloads_that_the_recipe_does_not_name_are_removed(workshop):
    cache = workshop.folder / "cache"
    (cache / "debs").mkdir(parents=True), (cache / "wheels").mkdir()
    named = [file_name(row) for row in LOCK[:3]]
    wheel = next(path for path in (CACHE / "wheels").iterdir() if path.name.startswith("six-"))
    for name in [*named, "six_1.0_all.deb", LOCK[0][0] + "_0_amd64.deb"]:
        (cache / "debs" / name).write_bytes(bytes(1000_000))
    (cache / "wheels" / wheel.name).write_bytes(wheel.read_bytes())
    (cache / "wheels/other-1-py3-none-any.whl").write_bytes(bytes(1000_000))
    mark = next((CACHE / "wheels").glob(".whole-" + hashlib.sha256((RECIPE / "requirements.txt").read_bytes()).hexdigest()))
    (cache / "wheels" / mark.name).touch()
    (cache / "wheels" / (".whole-" + "0" * 64)).touch()
    done = subprocess.run([PROGRAM, "image", "rm", "--downloads", "--cache", cache], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0 and "removed 3 MB (3 files), kept 3 MB" in done.stderr
    assert {path.name for path in (cache / "debs").iterdir()} == set(named)
    assert {path.name for path in (cache / "wheels").iterdir()} == {wheel.name, mark.name}


def until(condition, child):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline and child.poll() is None, child.stderr.read()
        time.sleep(0.05)


def sleepers():
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\x001007\x00":
                found.append(path)
        except OSError:
            continue
    return found


APT = '''
case "$*" in
*indextargets*) echo "http://mirror.invalid/debian" ;;
*update*) ;;
*--print-uris*) cat {uris} ;;
*) shift 4; for word in "$@"; do name=${{word%%=*}}; [ "$name" = -q ] || echo other > "$(grep "^'$name " {names} | cut -d' ' -f2)"; done ;;
esac
'''


def file_name(row):
    return f"{row[0]}_{row[1].replace(':', '%3a')}_{row[2]}.deb"


def archive(workshop, rows):
    """An apt-get whose archive has these packages, and gives out other bytes for each of them."""
    uris, names = workshop.folder / "uris", workshop.folder / "names"
    uris.write_text("".join(f"'http://mirror.invalid/{row[0]}' {file_name(row)} {row[3]} SHA256:{row[4]}\n" for row in rows))
    names.write_text("".join(f"'{row[0]} {file_name(row)}\n" for row in rows))
    workshop.program("apt-get", APT.format(uris=uris, names=names))


def test_locked_names_what_has_vanished_from_the_archive(workshop):
    archive(workshop, [row for row in LOCK if row[0] not in ("zip", "jq")])
    status, said = workshop.build("--locked", cache=workshop.folder / "cache")
    gone = {row[0]: row[1] for row in LOCK}
    assert status == 125 and f"jq {gone['jq']}, zip {gone['zip']}" in said and "--update-lock" in said


def test_a_package_with_other_bytes_is_refused(workshop):
    archive(workshop, LOCK)
    status, said = workshop.build(cache=workshop.folder / "cache")
    assert status == 125 and "does not have the SHA-256" in said and LOCK[0][0] in said


def test_more_packages_than_there_may_be_are_refused(workshop):
    archive(workshop, LOCK)
    recipe = workshop.recipe(packages_in="".join(f"package{i}\n" for i in range(2100)), packages_lock="")
    status, said = workshop.build("--from", recipe, cache=workshop.folder / "cache")
    assert status == 125 and "more than 2000 packages" in said


def test_I3_uv_makes_the_lock_anew_byte_for_byte(workshop):
    """One package may move, and is held by its own line; so nothing may, and the text is the same."""
    version = re.search(r"(?m)^tabulate==(\S+)", (RECIPE / "requirements.txt").read_text()).group(1)
    wanted = (RECIPE / "requirements.in").read_text().replace("\ntabulate\n", f"\ntabulate=={version}\n")
    assert f"tabulate=={version}" in wanted
    recipe = workshop.recipe(requirements_in=wanted)
    workshop.program("pip3", 'exec pip3 "$@"')
    status, said = workshop.build("--from", recipe, "--update-lock=Tabulate", **pip_settings())
    assert status == 125 and "the real mmdebstrap" in said, said
    for name in "requirements.txt", "packages.lock":
        assert (recipe / name).read_bytes() == (RECIPE / name).read_bytes()


def test_a_package_that_nobody_asked_for_is_not_upgraded(workshop):
    recipe = workshop.recipe(requirements_in="six\n", requirements_txt="six==1.17.0 \\\n    --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274\n")
    workshop.program("pip3", 'exec pip3 "$@"')
    before = (recipe / "requirements.txt").read_text()
    status, said = workshop.build("--from", recipe, "--update-lock=nothing-like-it", **pip_settings())
    assert status == 125 and "does not ask for nothing-like-it" in said
    assert (recipe / "requirements.txt").read_text() == before


def pip_settings():
    """What the machine has set up for pip in variables."""
    return {name: value for name, value in os.environ.items() if re.match(r"PIP_|UV_|SSL_|REQUESTS_|HTTPS?_PROXY|https?_proxy", name)}


def test_I4_a_locked_build_fetches_nothing(workshop):
    """The steps up to the installed wheels, without a network; the whole build is below, for long runs."""
    name = next(path.name for path in (CACHE / "wheels").iterdir() if path.name.startswith("six-"))
    cache = workshop.folder / "cache"
    shutil.copytree(CACHE / "debs", cache / "debs", copy_function=os.link)
    (cache / "wheels").mkdir()
    os.link(CACHE / "wheels" / name, cache / "wheels" / name)
    digest = hashlib.sha256((cache / "wheels" / name).read_bytes()).hexdigest()
    text = f"six=={name.split('-')[1]} \\\n    --hash=sha256:{digest}\n"
    (cache / "wheels" / (".whole-" + hashlib.sha256(text.encode()).hexdigest())).touch()
    workshop.program("mmdebstrap", 'for word in "$@"; do case "$word" in */tree) mkdir -p "$word/usr/local/lib/python3.14/dist-packages/matplotlib";; esac; done')
    workshop.program("pip3", 'exec pip3 "$@"')
    workshop.program("unshare", f'find "$5" > {workshop.folder}/found; echo "error: this far" >&2; exit 9')
    recipe = workshop.recipe(requirements_in="six\n", requirements_txt=text)
    status, said = workshop.build("--from", recipe, "--locked", cache=cache, before=["/usr/bin/unshare", "--net"])
    assert status == 125 and "this far" in said and "are in the cache" in said, said
    assert "/usr/local/lib/python3.14/dist-packages/six.py\n" in (workshop.folder / "found").read_text()


@pytest.mark.long
def test_I4_a_locked_build_without_a_network_is_the_same_image(tree, tmp_path):
    for folder in "debs", "wheels":
        shutil.copytree(CACHE / folder, tmp_path / "cache" / folder, copy_function=os.link)
    done = subprocess.run(["unshare", "--net", PROGRAM, "image", "build", "--locked", "--out", tmp_path / "rootfs", "--cache", tmp_path / "cache"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    made, here = (json.loads((root / "usr/share/cloche/image.json").read_text()) for root in (tmp_path / "rootfs", tree))
    assert made == here
    script = tmp_path / "plot.py"
    script.write_text("import pandas, matplotlib.pyplot as plt\npandas.Series([1, 3, 2]).plot()\nplt.savefig('a.png')\nprint('drawn')\n")
    run = subprocess.run([PROGRAM, "run", "--rootfs", tmp_path / "rootfs", script], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert run.stdout == "drawn\n" and run.returncode == 0, run.stderr
    shutil.rmtree(tmp_path / "rootfs")


def test_what_is_no_image_is_not_replaced(workshop):
    workshop.out.mkdir(parents=True)
    (workshop.out / "mine").write_text("x")
    status, said = workshop.build()
    assert status == 125 and "it is no image" in said
    assert (workshop.out / "mine").read_text() == "x"


def test_a_folder_that_is_no_recipe_is_refused(workshop):
    status, said = workshop.build("--from", str(workshop.folder))
    assert status == 125 and "no recipe" in said and "--from" in said


def test_only_root_can_build(tmp_path):
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents:
        if folder != Path("/tmp") and str(folder).startswith("/tmp"):
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    done = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", PROGRAM, "image", "build", "--out", tmp_path / "x",
                           "--cache", tmp_path / "c"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 125 and "Only root" in done.stderr and "--rootfs" in done.stderr


@pytest.mark.parametrize("words", [["image"], ["image", "make"], ["image", "build", "--old"], ["image", "path", "x"],
                                   ["image", "build", "--locked", "--update-lock"], ["image", "rm"], ["image", "ls", "--out", "x"]])
def test_mistakes_are_told(words, tmp_path):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "PATH": os.environ["PATH"]})
    assert done.returncode == 2 and done.stderr.startswith("cloche: ")
