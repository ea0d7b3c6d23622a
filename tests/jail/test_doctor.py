"""`cloche doctor`: every mechanism is tried on this host; the shape of its answer."""
import json

import pytest

pytestmark = pytest.mark.both


def test_doctor_finds_this_host_good(cloche):
    run = cloche.command("doctor")
    assert run.status == 0, run.explain()
    assert max(map(len, run.text.splitlines())) <= 120


def test_doctor_answers_in_json(cloche):
    run = cloche.command("doctor", "--json")
    checks = json.loads(run.stdout)["checks"]
    assert run.status == 0 and len(checks) >= 8
    for check in checks:
        assert set(check) == {"name", "ok", "cause", "remedy"} and isinstance(check["ok"], bool), check
        assert check["ok"] or (check["cause"] and check["remedy"]), check
    names = " ".join(check["name"] for check in checks).lower()
    for word in ("user namespace", "cgroup", "landlock", "seccomp", "system calls"):
        assert word.replace(" ", "") in names.replace(" ", "").replace("_", "").replace("-", ""), names
