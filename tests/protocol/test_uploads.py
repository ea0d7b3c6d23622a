"""Uploads: a file is whole under its name or not there at all."""
import errno
import os

import pytest
import wire

MOST = 64


def home_is_empty(client, session):
    return client.list(session)[1] == {}


def test_nothing_is_seen_before_the_commit(client, session):
    upload, fd = client.file_create(session, "file")
    os.write(fd, b"half")
    assert home_is_empty(client, session)
    assert client.result(session, "import os; print(os.listdir())")[1] == "[]\n"
    os.write(fd, b" whole")
    client.file_commit(upload)
    os.close(fd)
    assert client.file_read(session, "file") == b"half whole"


def test_aborted_upload_leaves_nothing(client, session, shared, refused):
    before = shared.descriptors()
    for _ in range(3):
        upload, fd = client.file_create(session, "file")
        os.write(fd, b"x" * 1_000_000)
        client.file_abort(upload)
        os.close(fd)
        with refused(errno.ESRCH):
            client.file_commit(upload)
        with refused(errno.ESRCH):
            client.file_abort(upload)
    assert home_is_empty(client, session)
    assert shared.descriptors() == before
    assert shared.pen.memory()["shmem"] < 4_000_000


def test_committed_upload_is_over(client, session, refused):
    upload, fd = client.file_create(session, "file")
    os.close(fd)
    client.file_commit(upload)
    for call in (client.file_commit, client.file_abort):
        with refused(errno.ESRCH):
            call(upload)


def test_at_most_64_at_once(client, session, shared, refused):
    before = shared.descriptors()
    uploads = []
    for number in range(MOST):
        upload, fd = client.file_create(session, f"file-{number}")
        os.close(fd)
        uploads.append(upload)
    for _ in range(3):
        with refused(errno.EAGAIN):
            client.file_create(session, "one-more")
    client.file_abort(uploads.pop())
    upload, fd = client.file_create(session, "one-more")
    os.close(fd)
    client.file_commit(upload)
    for upload in uploads:
        client.file_abort(upload)
    assert list(client.list(session)[1]) == [b"one-more"]
    assert shared.descriptors() == before


def test_close_of_the_session_drops_its_uploads(client, shared, refused):
    before = shared.descriptors()
    session = client.open("closing")
    uploads = []
    for number in range(MOST):
        upload, fd = client.file_create(session, f"file-{number}")
        os.close(fd)
        uploads.append(upload)
    client.close(session)
    with refused(errno.ESRCH):
        client.file_commit(uploads[0])
    assert shared.descriptors() == before


def test_commit_replaces_a_file_at_once(client, session):
    client.file_put(session, "file", b"old")
    upload, fd = client.file_create(session, "file")
    os.write(fd, b"new")
    os.close(fd)
    assert client.file_read(session, "file") == b"old"
    client.file_commit(upload)
    assert client.file_read(session, "file") == b"new"
    assert list(client.list(session)[1]) == [b"file"], "a temporary name is left"


def test_commit_over_a_folder(client, session, refused):
    upload, fd = client.file_create(session, "name")
    os.close(fd)
    client.result(session, "import os; os.mkdir('name'); open('name/f', 'w')")
    with refused(errno.EISDIR):
        client.file_commit(upload)
    assert sorted(client.list(session)[1]) == [b"name", b"name/f"]


def test_commit_into_a_folder_that_is_gone(client, session):
    upload, fd = client.file_create(session, "folder/name")
    os.close(fd)
    client.result(session, "import os; os.rmdir('folder')")
    with pytest.raises(wire.Refused) as refusal:
        client.file_commit(upload)
    assert (refusal.value.error, refusal.value.stage) == (errno.ENOENT, 0)
    assert home_is_empty(client, session)


def test_commit_into_a_folder_that_has_moved_goes_with_it(client, session):
    """The folder was found at the start; what stands in its place now, a link to elsewhere, is of no interest."""
    upload, fd = client.file_create(session, "folder/name")
    os.close(fd)
    client.result(session, "import os; os.rename('folder', 'moved'); os.symlink('/', 'folder')")
    client.file_commit(upload)
    assert sorted(client.list(session)[1]) == [b"folder", b"moved", b"moved/name"]


def test_folders_on_the_way_belong_to_the_script(client, session):
    client.file_put(session, "a/b/c.txt", b"x")
    code = """
import os
print([(os.stat(p).st_uid == os.getuid(), os.stat(p).st_gid == os.getgid()) for p in ("a", "a/b", "a/b/c.txt")])
open("a/b/more", "w"); os.rename("a/b", "a/d"); os.unlink("a/d/c.txt"); os.unlink("a/d/more"); os.rmdir("a/d")
"""
    assert client.result(session, code)[1] == "[(True, True), (True, True), (True, True)]\n"


@pytest.mark.parametrize("mode", [0o644, 0o755, 0], ids=oct)
def test_mode_is_taken(mode, client, session):
    client.file_put(session, "file", b"x", mode)
    assert client.list(session)[1][b"file"]["mode"] == mode


@pytest.mark.parametrize("mode", [0o7777, 0o4755, 0o100644, 0xFFFFFFFF], ids=oct)
def test_mode_that_is_more_than_permission_bits_is_refused(mode, client, session, refused):
    with refused(errno.ERANGE):
        client.file_put(session, "file", b"x", mode)
    assert client.list(session)[1] == {}


def test_home_that_is_full(client, session):
    upload, fd = client.file_create(session, "large")
    with pytest.raises(OSError) as failure:
        while True:
            os.write(fd, bytes(1 << 20))
    assert failure.value.errno in (errno.ENOSPC, errno.EDQUOT)
    os.close(fd)
    client.file_abort(upload)
    client.file_put(session, "small", b"x")


def test_home_without_inodes_left(client):
    session = client.open("few", home_inodes=64)
    made = 0
    with pytest.raises(wire.Refused) as refusal:
        while made < 100:
            client.file_put(session, f"file-{made}", b"")
            made += 1
    assert refusal.value.error == errno.ENOSPC and 32 < made < 64
    client.file_remove(session, "file-0")
    client.file_put(session, "file-0", b"")
    client.close(session)
