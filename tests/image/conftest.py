"""Fixtures of the image's suite: the image, a person who runs scripts in it, and a look into what scripts made."""
import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from image_cache import CACHE, PROGRAM, TREE, build

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "jail"))

from answer import problems_of  # noqa: E402

DATA = Path(__file__).resolve().parent / "data"


@pytest.fixture(scope="session")
def tree():
    """The root of the image; built if it is not there, or is another recipe's."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to build the image")
    made = build(stderr=subprocess.PIPE, text=True)
    assert made.returncode == 0, made.stderr
    return TREE


class Inspector:
    """Looks into files by the libraries of the image, as nobody in a chroot of it; one process for all tests."""

    def __init__(self, tree):
        code = (Path(__file__).resolve().parent / "inspector.py").read_text()
        enter = 'mount -t tmpfs -o mode=1777 look "$0/tmp" && exec chroot --userspec=65534:65534 --groups= "$0" "$@"'
        self.child = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", enter, tree, "/usr/bin/env", "-i", "HOME=/tmp",
             "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "/usr/bin/python3", "-B", "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def look(self, name, data):
        self.child.stdin.write(json.dumps({"name": name, "data": base64.b64encode(data).decode()}) + "\n")
        self.child.stdin.flush()
        facts = json.loads(self.child.stdout.readline())
        assert "trouble" not in facts, f"{name}: {facts['trouble']}"
        return facts

    def close(self):
        self.child.stdin.close()
        self.child.wait(10)


@pytest.fixture(scope="session")
def inspector(tree):
    made = Inspector(tree)
    yield made
    made.close()


class Golden:
    """One run, which went well and said nothing on stderr."""

    def __init__(self, answer, out, inspector):
        self.answer, self.out, self.inspector = answer, out, inspector
        self.text = answer["stdout"]["text"]

    def made(self, name):
        """What is in a file that the run made: facts by its kind (inspector.py)."""
        assert name in {f["path"] for f in self.answer["files"]}, f"{name} is not among {self.answer['files']}"
        return self.inspector.look(name, (self.out / name).read_bytes())

    def picture(self, name, width=200, height=100, colours=8):
        """A picture of at least that size that is not blank."""
        facts = self.made(name)
        assert facts["width"] >= width and facts["height"] >= height, facts
        assert facts["colours"] >= colours and facts["spread"] > 3, f"{name} is blank: {facts}"
        return facts


class Person:
    def __init__(self, tree, inspector, folder):
        self.tree, self.inspector, self.folder = tree, inspector, folder
        self.out = folder / "out"

    def run(self, language, code, files=(), profile="strict", env=()):
        """The answer, whatever it is."""
        script = self.folder / f"script.{language}"
        script.write_text(code)
        argv = [PROGRAM, "run", "--json", "--rootfs", self.tree, "--profile", profile, "--language", language, "--out", self.out]
        for path in files:
            argv += ["--file", path if isinstance(path, Path) else DATA / path]
        for pair in env:
            argv += ["--env", pair]
        done = subprocess.run([*argv, script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
        assert done.stdout, done.stderr
        answer = json.loads(done.stdout)
        assert not problems_of(answer), problems_of(answer)
        return answer

    def _golden(self, *args, **more):
        answer = self.run(*args, **more)
        told = f"{answer['end']}\n{answer['stdout']['text'][-1500:]}\n{answer['stderr']['text'][-3000:]}"
        assert answer["outcome"] == "ok", told
        assert answer["stderr"]["text"] == "", told
        return Golden(answer, self.out, self.inspector)

    def python(self, code, files=(), **more):
        return self._golden("python", code, files, **more)

    def bash(self, code, files=(), **more):
        return self._golden("bash", code, files, **more)


@pytest.fixture
def person(tree, inspector, tmp_path):
    return Person(tree, inspector, tmp_path)


def pytest_report_header():
    return f"image: {TREE}, downloads: {CACHE}"
