"""cgroup v2 on Debian's stock kernel, under QEMU. One boot; each test of guest.py is one test here.

Run: /usr/bin/python3 -m pytest tests/qemu        CLOCHE_QEMU_ONLY=name,name narrows what the guest runs.
"""

import os

import pytest

import guest
import machine

ONLY = os.environ.get("CLOCHE_QEMU_ONLY", "")
NAMES = [name for name in guest.TESTS if not ONLY or name in ONLY.split(",")]


@pytest.fixture(scope="session")
def booted():
    try:
        return machine.boot(ONLY)
    except machine.Missing as missing:
        return missing


def test_guest_boots(booted):
    if isinstance(booted, machine.Missing):
        pytest.skip(str(booted))
    assert booted.ready_s, f"no word from the guest; its console ended with:\n{booted.last_words()}"
    print(f"ready after {booted.ready_s} s")


@pytest.mark.parametrize("name", NAMES)
def test_guest(name, booted):
    if isinstance(booted, machine.Missing):
        pytest.skip(str(booted))
    found = booted.results.get(name)
    if found is None:
        pytest.fail(f"the guest told nothing of this test; its console ended with:\n{booted.last_words()}", pytrace=False)
    if found["result"] == "skip":
        pytest.skip(found["detail"])
    if found["result"] == "fail":
        pytest.fail(f"in the guest:\n{found['detail']}", pytrace=False)
