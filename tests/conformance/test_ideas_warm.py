"""The ideas of tests/attack in copies of a zygote: each judges itself, as there."""
import os
import sys
from pathlib import Path

import pytest
import wire
from wire import End

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "attack"))

from idea import read_all  # noqa: E402

HOW = {End.MEMORY: "memory", End.TIMEOUT: "timeout"}
# Those that need nothing but a script; the others speak of the command line or of another profile.
ALL = [idea for idea in read_all() if idea.language == "python" and not set(idea.header) & {"program", "profile", "args"}]
IDEAS = ALL if os.environ.get("CLOCHE_LONG") == "1" else ALL[::3]


@pytest.mark.parametrize("idea", IDEAS, ids=[idea.name for idea in IDEAS])
def test_idea_warm(warm, idea):
    session = warm.open(idea.name[:60])
    stdin = idea.header.get("stdin")
    before = warm.zygotes()["small"]
    run = warm.run(session, idea.script, warm="small", wall_ms=int(float(idea.header.get("timeout", "15")) * 1000),
                   stdin=stdin and (stdin + "\n").encode())
    out, err = run.both(60)
    ended = run.ended(60)
    lines = out.decode(errors="replace").strip().splitlines()
    how = HOW.get(ended["end"]) or ("ok" if (ended["end"], ended["code"]) == (End.EXIT, 0) else "error")
    shown = f"{ended} {lines[-3:]} {err[-2000:].decode(errors='replace')}"
    if "any" not in idea.expect:
        assert how in idea.expect, shown
    if how in ("ok", "error"):
        assert lines and lines[-1] == "SAFE", shown
    run.close()
    warm.close(session)
    after = warm.zygotes()["small"]
    assert after["copies"] > before["copies"] and after["generation"] == before["generation"]


def test_there_are_ideas():
    assert len(ALL) > 130
