"""The walker that waits for a home: what it may, that it reads one home only, and what comes of one that fails."""
import contextlib
import errno
import os
import signal
import time
from pathlib import Path

import pytest
import wire
from wire import Type

# More bytes than anything reads in a second.
SLOW = """
import os
with open("file", "wb") as file:
    file.write(os.urandom(1 << 20) * 90)
for number in range(300):
    os.link("file", f"link-{number}")
"""
CAP_DAC_READ_SEARCH = 2


@pytest.fixture(scope="module", autouse=True)
def wanted(shared):
    """As a service does."""
    shared.spares(1)


@pytest.fixture
def full(client):
    """A session with one file in its home."""
    made = client.open("full")
    client.file_put(made, "file", b"1")
    yield made
    client.close(made)


def test_a_walker_waits_and_lists_once(client, full, shared):
    client.list(full)
    first = shared.waiting_walker()
    assert len(client.list(full)[1]) == 1
    second = shared.waiting_walker()
    assert first != second and shared.walkers() == [second]


def test_what_a_walker_that_waits_may(client, full, shared):
    """It has its socket and the log; of rights, to read. No descriptor of a home is in it before it is asked."""
    client.list(full)
    walker = shared.waiting_walker()
    names = {name: os.readlink(f"/proc/{walker}/fd/{name}") for name in os.listdir(f"/proc/{walker}/fd")}
    assert set(names) == {"0", "1", "2"} and names["0"].startswith("socket:") and names["1"] == names["2"], names
    status = dict(line.split(":\t") for line in Path(f"/proc/{walker}/status").read_text().splitlines())
    for kind in "CapPrm", "CapEff":
        assert int(status[kind], 16) == 1 << CAP_DAC_READ_SEARCH, (kind, status[kind])
    assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0 and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"


def test_walker_that_was_killed_while_it_waited(client, full, shared):
    for _ in range(3):
        client.list(full)
        walker = shared.waiting_walker()
        os.kill(walker, signal.SIGKILL)
        while Path(f"/proc/{walker}").exists():  # until jaild has taken note
            time.sleep(0.001)
        assert len(client.list(full)[1]) == 1


def kill_while_it_reads(client, session, shared):
    """True if the walker of a listing was killed before it has ended by itself, as it does after a second."""
    walker = shared.waiting_walker()
    listing = client.list_send(session, wire.LIST_HASH)
    with contextlib.suppress(OSError):  # it has ended
        while os.readlink(f"/proc/{walker}/fd/0").startswith("socket:"):
            time.sleep(0.001)  # until the home takes the socket's place
        os.kill(walker, signal.SIGKILL)
    try:
        client.answer(listing, Type.LISTING_IS)
    except wire.Refused as said:
        assert said.error == errno.ETIMEDOUT
        return True
    return False


def test_walker_that_is_killed_while_it_reads(client, full, session, shared):
    client.result(session, SLOW, within=60)
    client.list(full)
    assert any(kill_while_it_reads(client, session, shared) for _ in range(20))
    assert len(client.list(full)[1]) == 1


def test_walker_that_hangs(client, full, session, shared, refused):
    """One that does not read is ended; others are listed meanwhile, and so is the home itself afterwards."""
    client.list(full)
    os.kill(shared.waiting_walker(), signal.SIGSTOP)
    began = time.monotonic()
    listing = client.list_send(full)
    client.file_put(session, "x", b"1")
    assert len(client.list(session)[1]) == 1
    with refused(errno.ETIMEDOUT):
        client.answer(listing, Type.LISTING_IS)
    assert time.monotonic() - began > 2.5
    assert len(client.list(full)[1]) == 1


def test_no_walker_waits_when_no_spares_are_wanted(jaild):
    session = jaild.open("s")
    jaild.file_put(session, "x", b"1")
    before = jaild.descriptors()
    assert len(jaild.list(session)[1]) == 1
    time.sleep(0.1)
    assert not jaild.walkers()
    jaild.spares(1)
    jaild.waiting_walker()
    jaild.spares(0)
    while jaild.walkers() or jaild.status()["spares"]:
        time.sleep(0.01)
    assert len(jaild.list(session)[1]) == 1
    time.sleep(0.1)
    assert not jaild.walkers() and len(jaild.descriptors()) == len(before)


def test_session_that_closes_while_its_walker_hangs(client, shared):
    made = client.open("closing")
    client.file_put(made, "x", b"1")
    client.list(made)
    os.kill(shared.waiting_walker(), signal.SIGSTOP)
    client.list_send(made)
    client.close(made)
    shared.waiting_walker()


def test_walkers_end_with_jaild(pen):
    """The pen sees to it that nothing is left."""
    with wire.Jaild(pen) as jaild:
        jaild.spares(1)
        session = jaild.open("s")
        jaild.file_put(session, "x", b"1")
        jaild.list(session)
        jaild.waiting_walker()
