"""Listings of homes that scripts have made: every kind of entry, and homes made to be slow."""
import errno
import struct

import pytest
import wire
from wire import Type

MANY = 16_000
# Names as long as they get, folders in folders, and in long runs all at once.
FILL = f"""
import os
for number in range({MANY} - 400):
    open("n" * 240 + str(number), "w").close()
path = "."
for number in range(380):
    path += "/d"
    os.mkdir(path)
"""
# Records of more bytes than a listing holds: all inodes, under paths as long as they get.
LONG_PATHS = """
import os
for depth in range(15):
    os.mkdir("d" * 255)
    os.chdir("d" * 255)
for number in range(16_300):
    open(f"{number:06}".ljust(255, "x"), "w").close()
"""
# More bytes than anything reads in a second, without any memory behind them.
SPARSE = """
for number in range(2000):
    with open(f"sparse-{number}", "wb") as file:
        file.truncate(99 << 20)
"""


def true(client, session):
    run = client.run(session, "", "program", args=["/bin/true"])
    run.ended()
    run.close()


def test_every_kind_of_entry(client, session):
    client.result(session, """
import os
open("file", "w").write("four")
os.link("file", "hard")
os.chmod("file", 0o751)
os.mkdir("folder", 0o700)
open("folder/inner", "w")
os.symlink("/etc/passwd", "link")
os.mkfifo("fifo")
open(b"\\xff\\xfe\\n", "w")
""")
    answer, found = client.list(session, wire.LIST_HASH)
    assert {path: entry["kind"] for path, entry in found.items()} == {
        b"file": "file", b"hard": "file", b"folder": "folder", b"folder/inner": "file", b"link": "link",
        b"fifo": "other", b"\xff\xfe\n": "file"}
    assert found[b"file"]["mode"] == 0o751 and found[b"file"]["links"] == 2 and found[b"file"]["size"] == 4
    assert found[b"file"]["hash"] == found[b"hard"]["hash"] != found[b"folder/inner"]["hash"]
    assert found[b"link"]["hash"] is None and found[b"fifo"]["hash"] is None
    assert answer["is_truncated"] == 0


def test_times_that_do_not_fit_are_the_nearest_that_do(client, session):
    client.result(session, """
import os
for name, seconds in ("late", 2**40), ("early", -2**40):
    open(name, "w")
    os.utime(name, (seconds, seconds))
""")
    _, found = client.list(session)
    assert (found[b"late"]["mtime"], found[b"early"]["mtime"]) == (2**63 - 1, -2**63)


def test_hash_sees_what_times_do_not(client, session):
    """A write through a mapping changes no time on tmpfs."""
    client.file_put(session, "file", bytes(4096))
    _, before = client.list(session, wire.LIST_HASH | wire.LIST_SETTLE)
    client.result(session, "import mmap\nfile = open('file', 'r+b')\nmmap.mmap(file.fileno(), 0)[7] = 1")
    _, after = client.list(session, wire.LIST_HASH)
    assert before[b"file"]["hash"] != after[b"file"]["hash"]


def test_hash_depends_on_the_clients_key(client, session):
    """Who does not know the key cannot make two contents of one hash."""
    client.file_put(session, "file", b"some bytes")
    one, again, two = (client.list(session, wire.LIST_HASH, hash_key=bytes([key] * 16))[1][b"file"]["hash"]
                       for key in (1, 1, 2))
    assert one == again != two


def test_settled_listing_is_older_than_a_later_change(client, session):
    for number in range(20):
        client.file_put(session, "file", b"%d" % number)
        _, before = client.list(session, wire.LIST_SETTLE)
        client.file_put(session, "other", b"x")
        _, after = client.list(session)
        assert after[b"other"]["ctime"] > before[b"file"]["ctime"]


@pytest.mark.parametrize("code, is_empty", [("true", 1), (">.hidden", 0), ("mkdir folder", 0), ("mkfifo fifo", 0),
                                            ("ln -s nowhere link", 0), ("echo >x; rm x", 1), (FILL, 0)])
def test_end_of_a_run_tells_of_an_empty_home(code, is_empty, client, session):
    language = "python" if code is FILL else "bash"
    assert client.result(session, code, language, within=60)[0]["is_home_empty"] == is_empty
    assert (len(client.list(session)[1]) == 0) == is_empty


def test_home_with_all_its_inodes(client, session):
    client.result(session, FILL, within=60)
    answer, found = client.list(session)
    assert answer["is_truncated"] or len(found) == MANY - 20
    assert len(found) > 1000


def test_records_of_more_bytes_than_a_listing_holds(client, session):
    """A record that fitted in part made the whole listing unreadable, and the run's answer with it."""
    client.result(session, LONG_PATHS, within=60)
    answer, found = client.list(session)
    assert answer["is_truncated"] == 1
    assert len(found) == answer["entries"] > 1000


@pytest.mark.parametrize("fill", [FILL, SPARSE], ids=["16,000 entries", "198 GB of holes"])
def test_slow_home_does_not_stall_other_sessions(fill, client, session):
    """Four runs of another session begin and end while the slow home is read."""
    client.result(session, fill, within=60)
    other = client.open("other")
    true(client, other)
    listing = client.list_send(session, wire.LIST_HASH | wire.LIST_SETTLE)
    for _ in range(4):
        true(client, other)
    answer, found = wire.listing_read(client.answer(listing, Type.LISTING_IS))
    if fill is SPARSE:  # holes are not read
        assert answer["is_truncated"] == 0
        assert all(entry["hash"] for entry in found.values())
    client.close(other)


def test_second_listing_of_a_session_is_refused(client, session, refused):
    client.result(session, SPARSE)
    first = client.list_send(session, wire.LIST_HASH)
    with refused(errno.EBUSY):
        client.list(session)
    wire.listing_read(client.answer(first, Type.LISTING_IS))
    client.list(session)


def test_listings_of_many_sessions_at_once(client, shared):
    before = shared.descriptors()
    sessions = [client.open(f"s{number}") for number in range(20)]
    for number, session in enumerate(sessions):
        client.file_put(session, f"file-{number}", b"x")
    numbers = [client.list_send(session, wire.LIST_HASH) for session in sessions]
    for number, seq in enumerate(numbers):
        _, found = wire.listing_read(client.answer(seq, Type.LISTING_IS))
        assert list(found) == [b"file-%d" % number]
    for session in sessions:
        client.close(session)
    assert shared.descriptors() == before


def test_listing_against_a_home_that_changes(client, session):
    """Folders flip to links and back while they are read: no entry lies outside."""
    run = client.run(session, """
import os
for number in range(300):
    os.makedirs(f"folder-{number}/inner")
print("up", flush=True)
while True:
    for number in range(300):
        os.rename(f"folder-{number}", "away")
        os.symlink("/", f"folder-{number}")
        os.unlink(f"folder-{number}")
        os.rename("away", f"folder-{number}")
""")
    assert run.line() == "up"
    for _ in range(40):
        _, found = client.list(session, wire.LIST_HASH)
        for path in found:
            words = path.split(b"/")
            assert words[0].startswith(b"folder-") or words[0] == b"away", path
            assert words[1:] in ([], [b"inner"]), path
    client.cancel(run.started()["run"])
    run.ended()


@pytest.mark.parametrize("flags", [8, 0xFFFFFFF8, 0xFFFFFFFF])
def test_flags_that_nobody_knows_are_refused(flags, client, session, refused):
    with refused(errno.ERANGE):
        client.call(Type.LIST, struct.pack("<QII16x", session, flags, 0), Type.LISTING_IS)
    client.list(session)
