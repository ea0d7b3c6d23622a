"""`cloche image path`, `ls` and `rm`, and which system files a run has."""
import fcntl
import json
import os
import shutil
import subprocess

import pytest
from image_cache import PROGRAM, REPO, TREE

IDENTITY = "0123456789abcdef"


class Home:
    """A state directory with the suite's image in it, as if it had been built there."""

    def __init__(self, folder):
        self.folder, self.place = folder, folder / "cloche/image"
        self.place.mkdir(parents=True)

    def cloche(self, *words):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_STATE_HOME": str(self.folder)})

    def image(self, identity, current=False):
        share = self.place / identity / "usr/share/cloche"
        share.mkdir(parents=True)
        (share / "image.json").write_bytes((TREE / "usr/share/cloche/image.json").read_bytes())
        if current:
            (self.place / "current").symlink_to(identity)


@pytest.fixture
def home(tree, tmp_path):
    return Home(tmp_path)


def test_without_an_image_the_remedy_is_named(home):
    for words in (["image", "path"], ["image", "ls"]):
        assert "cloche image build" in home.cloche(*words).stderr
    assert home.cloche("image", "path").returncode == 125
    assert json.loads(home.cloche("image", "ls", "--json").stdout) == {"images": []}


def test_path_and_ls(home):
    home.image(IDENTITY, current=True)
    home.image("f" * 16)
    assert home.cloche("image", "path").stdout == f"{home.place}/{IDENTITY}\n"
    shown = home.cloche("image", "ls").stdout
    assert f"{home.place}/{IDENTITY}" in shown and "numpy 2." in shown and "ffmpeg" in shown and "Noto Sans Thai" in shown
    images = json.loads(home.cloche("image", "ls", "--json").stdout)["images"]
    assert [image["current"] for image in images].count(True) == 1
    packages = {package["name"]: package["version"] for package in images[0]["packages"]}
    assert len(packages) > 150 and packages["numpy"].startswith("2.")
    assert {language["name"]: language["version"][:4] for language in images[0]["languages"]}["python"] == "3.14"
    assert {"Noto Sans Devanagari", "Noto Emoji", "DejaVu Sans"} <= set(images[0]["fonts"]) and "Arial" not in images[0]["fonts"]


def test_words_of_packages_move_no_terminal(tmp_path):
    """The manifest is what packages' code has said when the image was made."""
    home = Home(tmp_path)
    share = home.place / IDENTITY / "usr/share/cloche"
    share.mkdir(parents=True)
    (share / "image.json").write_text(json.dumps({
        "id": IDENTITY, "packages": [{"name": "a\x1b[31m", "version": "1\n2"}], "fonts": ["b\x9bc", "d"]}))
    shown = home.cloche("image", "ls").stdout
    assert "Python packages (1): a\\x1b[31m 1\\x0a2\n" in shown and "fonts (2): b\\xc2\\x9bc, d\n" in shown


def test_rm(home):
    home.image(IDENTITY, current=True)
    home.image("e" * 16)
    home.image("f" * 16)
    assert home.cloche("image", "rm", "f" * 16).returncode == 0
    assert home.cloche("image", "rm", "--old").returncode == 0
    assert [path.name for path in sorted(home.place.iterdir())] == [IDENTITY, "current"]
    assert home.cloche("image", "rm", "e" * 16).returncode == 2
    assert home.cloche("image", "rm", "../x").returncode == 2
    assert home.cloche("image", "rm", IDENTITY).returncode == 0
    assert list(home.place.iterdir()) == []


def test_a_run_uses_the_image_unless_it_is_told_otherwise(home):
    (home.folder / "v.py").write_text("import os; print(os.path.exists('/usr/share/cloche/image.json'))")
    assert home.cloche("run", "v.py").stdout == "False\n"
    (home.place / IDENTITY).symlink_to(TREE)
    (home.place / "current").symlink_to(IDENTITY)
    assert home.cloche("run", "v.py").stdout == "True\n"
    assert home.cloche("run", "--rootfs", "host", "v.py").stdout == "False\n"


def test_which_system_files_are_in_use_is_told(home):
    (home.folder / "v.py").write_text("import sys; print(sys.version.split()[0])")
    path = home.place / IDENTITY
    here = home.cloche("run", "v.py").stdout.strip()
    host = {"kind": "host", "path": "/usr", "id": None, "python": here.rpartition(".")[0]}
    assert json.loads(home.cloche("run", "--json", "v.py").stdout)["system"] == host
    checks = {check["name"]: check["cause"] for check in json.loads(home.cloche("doctor", "--json").stdout)["checks"]}
    assert checks["system files"] == f"this machine's /usr (Python {host['python']})"
    path.symlink_to(TREE)
    (home.place / "current").symlink_to(IDENTITY)
    listed = json.loads((TREE / "usr/share/cloche/image.json").read_text())
    version = home.cloche("run", "v.py").stdout.strip()
    told = json.loads(home.cloche("run", "--json", "v.py").stdout)["system"]
    assert told == {"kind": "image", "path": str(path), "id": listed["id"], "python": version} and version.startswith("3.14.")
    assert json.loads(home.cloche("run", "--json", "--rootfs", "host", "v.py").stdout)["system"] == host
    assert f"ok    system files (image {path} (Python {version}))\n" in home.cloche("doctor").stdout


def test_an_image_elsewhere_is_known_by_its_folder(home):
    home.image(IDENTITY)
    elsewhere = home.folder / "mine"
    (home.place / IDENTITY).rename(elsewhere)
    said = home.cloche("image", "ls").stderr
    assert "cloche image ls DIR" in said
    assert "--rootfs DIR" in home.cloche("image", "path").stderr
    shown = json.loads(home.cloche("image", "ls", "--json", "mine").stdout)["images"]
    assert [image["path"] for image in shown] == [str(elsewhere)] and len(shown[0]["packages"]) > 150
    assert home.cloche("image", "ls", str(home.folder)).returncode == 2
    assert home.cloche("image", "rm", str(home.folder)).returncode == 2 and home.cloche("image", "rm", "mine").returncode == 2
    assert home.cloche("image", "rm", "./mine").returncode == 0
    assert not elsewhere.exists() and home.place.exists()


def test_downloads_that_cannot_be_read_are_not_taken_for_none(tmp_path):
    (tmp_path / "cache/debs").mkdir(parents=True)
    (tmp_path / "cache/wheels").write_text("no folder")
    done = Home(tmp_path).cloche("image", "rm", "--downloads", "--from", str(REPO / "image"), "--cache", "cache")
    assert done.returncode == 125 and "Not a directory" in done.stderr, done


class Shares:
    """The suite's image mounted at another folder: of a mount point a removal that is not refused would fail by itself."""

    def __init__(self, home):
        self.home, self.root = home, home.place / IDENTITY
        self.root.mkdir()
        subprocess.run(["mount", "--bind", TREE, self.root], check=True)

    def start(self, *words):
        return subprocess.Popen([PROGRAM, *words], cwd=self.home.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"], "HOME": str(self.home.folder),
                                                                        "XDG_STATE_HOME": str(self.home.folder)})

    def refused(self, *words, who):
        done = self.home.cloche("image", *words)
        assert done.returncode == 125 and "in use" in done.stderr and f"process {who}" in done.stderr, done
        assert (self.root / "usr/share/cloche/image.json").exists()


@pytest.fixture
def shares(home):
    made = Shares(home)
    yield made
    subprocess.run(["umount", made.root], check=True)


def test_an_image_in_use_by_a_run_is_neither_removed_nor_replaced(shares):
    script = shares.home.folder / "wait.py"
    script.write_text("import time\nprint('begun', flush=True)\ntime.sleep(25)\n")
    run = shares.start("run", "--rootfs", str(shares.root), str(script))
    assert run.stdout.readline() == "begun\n"
    shares.refused("rm", IDENTITY, who=run.pid)
    recipe = shares.home.folder / "recipe"
    shutil.copytree(REPO / "image", recipe)
    (recipe / "leave-out").write_text("# nothing\n")
    shares.refused("build", "--out", str(shares.root), "--from", str(recipe), "--cache", "cache", who=run.pid)
    run.terminate()
    run.communicate(timeout=30)


def test_an_image_in_use_by_a_service_is_not_removed(shares):
    service = shares.start("up", "--no-assistant", "--rootfs", str(shares.root), "--listen", "none", "--state", "state")
    assert service.stdout.readline().startswith("ready ")
    shares.refused("rm", IDENTITY, who=service.pid)
    service.terminate()
    service.communicate(timeout=30)


def test_who_can_only_read_an_image_keeps_nobody_from_it(shares):
    """A flock needs no more than the right to read."""
    (shares.home.folder / "one.py").write_text("print(1)")
    held = [os.open(path, os.O_RDONLY) for path in (shares.root, shares.root / "usr/share/cloche/image.json")]
    for descriptor in held:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    done = shares.home.cloche("run", "--rootfs", str(shares.root), "one.py")
    for descriptor in held:
        os.close(descriptor)
    assert done.returncode == 0 and done.stdout == "1\n", done
