"""Two sessions at once: the second attacks the first, which waits. pairs/NAME/first.py prints READY when it is set up."""
import os
import signal

import pytest
from idea import HERE, LINES, PRELUDE, read
from judge import check_end
from runner import first_line, stop

PAIRS = sorted(path.name for path in (HERE / "pairs").iterdir() if path.is_dir())


@pytest.mark.both
@pytest.mark.parametrize("name", PAIRS)
def test_pair(name, cloche, checked):
    first = read(HERE / "pairs" / name / "first.py")
    second = (HERE / "pairs" / name / "second.py").read_text()
    assert first.header["line"] in LINES
    victim = cloche.start(first.script, json_answer=False, out=False)
    try:
        line = first_line(victim)
        while line != "READY":
            line = first_line(victim)
        run = cloche.run(PRELUDE + second, timeout=15)
        checked(run)
        problems = check_end(first, run)
        assert not problems, "\n".join(problems) + "\n" + run.explain()
        assert victim.poll() is None, "the first run died"
        os.kill(victim.pid, signal.SIGINT)
        said, _ = victim.communicate(timeout=10)
        assert b"ESCAPED" not in said
        assert victim.returncode == 130
    finally:
        stop(victim)
