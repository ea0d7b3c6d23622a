"""Fixtures: the command, and servers that misbehave."""
import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from misbehaving import PROGRAM, TOKEN, Server  # noqa: E402


@dataclasses.dataclass
class Done:
    status: int
    out: bytes
    said: str
    took_s: float

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def server():
    made = []

    def make(script, **options):
        made.append(Server(script, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def command(tmp_path):
    """command(*words): runs the command in a folder of its own; its state directory has a token."""
    state = tmp_path / "state"
    state.mkdir()
    (state / "token").write_text(TOKEN + "\n")
    here = tmp_path / "here"
    here.mkdir()

    def run(*words, stdin=b"", timeout=90, **more):
        began = time.monotonic()
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "http_proxy": "http://127.0.0.1:1",
                       "XDG_STATE_HOME": str(tmp_path / "none"), **more}
        done = subprocess.run([PROGRAM, *map(str, words)], input=stdin, capture_output=True, timeout=timeout, cwd=here,
                              env=environment, check=False)
        return Done(done.returncode, done.stdout, done.stderr.decode(errors="replace"), time.monotonic() - began)

    run.state = state
    run.here = here
    return run


@pytest.fixture
def run(command):
    """run(server, *words): a script of one line, by that server, with the token of the state directory."""

    def at(server, *words, code=b"print(6*7)", **more):
        url = server if isinstance(server, str) else server.url
        return command("run", "--server", url, "--state", command.state, *words, "-", stdin=code, **more)

    return at
