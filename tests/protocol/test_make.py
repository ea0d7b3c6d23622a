"""MAKE: folders, links and further names, for a home that is filled again."""
import errno

import pytest
import wire

STAT = """
import os
for name in {names!r}:
    s = os.lstat(name)
    print(name, oct(s.st_mode), s.st_mtime_ns, s.st_nlink, s.st_uid)
"""


def stat(client, session, *names):
    return client.result(session, STAT.format(names=names))[1].splitlines()


def put(client, session, path, text=b"", **more):
    upload, fd = client.file_create(session, path)
    with open(fd, "wb") as file:
        file.write(text)
    client.file_commit(upload, **more)


def test_a_file_with_its_time(client, session):
    put(client, session, "a", b"x", mtime_ns=1_234_567_890_123_456_789)
    put(client, session, "b", b"x", mtime_ns=-1_500_000_000)
    assert stat(client, session, "a", "b") == [
        "a 0o100644 1234567890123456789 1 65534", "b 0o100644 -1500000000 1 65534"]


def test_folders_links_and_further_names(client, session):
    put(client, session, "in/the/file", b"text")
    client.make(session, wire.MAKE_FOLDER, "in/the", mode=0o751, mtime_ns=5)
    client.make(session, wire.MAKE_FOLDER, "new/one", mode=0o500, mtime_ns=6)
    client.make(session, wire.MAKE_LINK, "link", "/etc/../any\ntext", mtime_ns=7)
    client.make(session, wire.MAKE_SAME, "again", "in/the/file")
    assert stat(client, session, "in/the", "new/one", "link", "again") == [
        "in/the 0o40751 5 2 65534", "new/one 0o40500 6 2 65534", "link 0o120777 7 1 65534",
        stat(client, session, "in/the/file")[0].replace("in/the/file", "again")]
    assert " 2 65534" in stat(client, session, "again")[0]
    found = client.list(session, wire.LIST_TARGETS)[1]
    assert found[b"link"]["target"] == b"/etc/../any\ntext"
    assert client.list(session)[1][b"link"]["target"] == b""
    assert client.file_read(session, "again") == b"text"


@pytest.mark.parametrize("kind, path, text, mode, error", [
    (wire.MAKE_FOLDER, "", "", 0, errno.EINVAL),
    (wire.MAKE_FOLDER, "../out", "", 0, errno.EINVAL),
    (wire.MAKE_FOLDER, "/out", "", 0, errno.EINVAL),
    (wire.MAKE_FOLDER, "x", "", 0o4755, errno.EINVAL),
    (wire.MAKE_FOLDER, "out/x", "", 0o755, errno.ELOOP),
    (wire.MAKE_FOLDER, "out", "", 0o755, errno.ELOOP),
    (wire.MAKE_FOLDER, "file", "", 0o755, errno.ENOTDIR),
    (wire.MAKE_LINK, "file", "x", 0, errno.EEXIST),
    (wire.MAKE_LINK, "out/x", "x", 0, errno.ELOOP),
    (wire.MAKE_SAME, "x", "out/passwd", 0, errno.ELOOP),
    (wire.MAKE_SAME, "x", "out", 0, errno.EINVAL),
    (wire.MAKE_SAME, "x", "../etc/passwd", 0, errno.EINVAL),
    (wire.MAKE_SAME, "x", "nothing", 0, errno.ENOENT),
    (wire.MAKE_SAME, "out/x", "file", 0, errno.ELOOP),
])
def test_nothing_leads_out(client, session, refused, kind, path, text, mode, error):
    client.result(session, "import os; os.symlink('/etc', 'out'); open('file', 'w').close()")
    before = client.list(session)[1]
    with refused(error):
        client.make(session, kind, path, text, mode)
    assert client.list(session)[1].keys() == before.keys()
