"""Paths that lead out of a home, or to what is no file, in every request that takes one; and names that flip meanwhile.

The home is prepared by a script, as an attacker would. jaild's own tree has a /proc and other sessions' homes, so what
a path reaches when it gets out is not nothing.
"""
import errno
import os
import subprocess
import time
from pathlib import Path

import pytest
import wire

LONG = os.environ.get("CLOCHE_LONG") == "1"
PREPARE = """
import os
os.mkdir("folder")
open("folder/file", "w").write("inside")
open("file", "w").write("inside")
os.symlink("file", "link")
os.symlink("folder", "link-folder")
os.symlink("/", "link-root")
os.symlink("..", "link-up")
os.symlink("../../../../../../etc", "link-etc")
os.symlink("/proc/self", "link-proc")
os.symlink("/proc/self/root", "link-magic")
os.symlink("/proc/self/status", "link-status")
os.symlink("/etc/passwd", "link-passwd")
os.symlink("nowhere", "link-nowhere")
os.symlink("loop", "loop")
os.mkfifo("fifo")
os.link("file", "hard")
"""
# What no request may reach: those that a file of the home is behind are among them.
OUTSIDE = [
    "/", "//", "/etc/passwd", "/proc/self/status", "..", "../", "../..", "../2/file", "../../proc/self/status",
    "folder/../../proc/self/status", "folder/../..", "link", "link/", "link-folder/file", "link-root", "link-root/",
    "link-root/proc/self/status", "link-up/", "link-up/1/file", "link-etc/passwd", "link-proc/status", "link-magic/",
    "link-magic/proc/self/status", "link-status", "link-passwd", "link-nowhere", "link-nowhere/a", "loop", "loop/a",
    "folder/../link-root/proc/self/status",
]
NO_FILE = ["", ".", "./", "folder", "folder/", "folder/.", "fifo", "fifo/", "file/", "file/a",
           "file/."]
TOO_LONG = ["a" * 256, "a/" * 2047 + "a" * 2, "folder/" + "b" * 300]
REFUSALS = {errno.EINVAL, errno.ELOOP, errno.EXDEV, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENXIO,
            errno.ENAMETOOLONG, errno.EACCES, errno.EPERM}


@pytest.fixture(scope="module")
def home(shared):
    """A session with the prepared home, for tests that change nothing in it."""
    session = shared.open("prepared")
    shared.result(session, PREPARE)
    yield session
    shared.close(session)


def refuses(call):
    with pytest.raises(wire.Refused) as refusal:
        call()
    assert refusal.value.stage == 0 and refusal.value.error in REFUSALS, str(refusal.value)


def tree(client, session):
    """The home's whole content, without times of folders, which a refused request may not touch either."""
    return {path: (entry["kind"], entry["mode"], entry["size"], entry["inode"])
            for path, entry in client.list(session)[1].items()}


@pytest.mark.parametrize("path", OUTSIDE + NO_FILE + TOO_LONG, ids=lambda path: ascii(path)[:40])
def test_open_of_what_is_no_file_of_the_home(path, client, home):
    refuses(lambda: os.close(client.file_open(home, path)[0]))


@pytest.mark.parametrize("path", OUTSIDE + NO_FILE + TOO_LONG, ids=lambda path: ascii(path)[:40])
def test_remove_of_what_is_no_file_of_the_home(path, client, home):
    before = tree(client, home)
    refuses(lambda: client.file_remove(home, path))
    assert tree(client, home) == before


# A new file may replace a link or a fifo under its own name: it never goes through them.
REPLACED = {"link", "link-root", "link-status", "link-passwd", "link-nowhere", "loop", "fifo"}


@pytest.mark.parametrize("path", [path for path in OUTSIDE + NO_FILE + TOO_LONG if path not in REPLACED],
                         ids=lambda path: ascii(path)[:40])
def test_create_outside_of_the_home(path, client, home):
    before = tree(client, home)
    refuses(lambda: client.file_put(home, path, b"planted"))
    assert tree(client, home) == before


def test_create_makes_no_folder_outside(client, session, shared):
    """Folders on the way are made: not behind a link."""
    client.result(session, PREPARE)
    before = tree(client, session), shared.mounts()
    for path in ("link-root/new/file", "link-up/new/file", "link-etc/new/file", "../new/file", "/new/file",
                 "link-folder/new/file", "folder/../new/file"):
        refuses(lambda: client.file_put(session, path, b"planted"))
    assert (tree(client, session), shared.mounts()) == before
    assert not Path(f"/proc/{shared.pid}/root/new").exists() and not Path("/new").exists()


@pytest.mark.parametrize("name", sorted(REPLACED))
def test_create_replaces_a_link_and_does_not_follow_it(name, client, session):
    client.result(session, PREPARE)
    before = tree(client, session)
    client.file_put(session, name, b"brought")
    after = tree(client, session)
    assert after.pop(name.encode())[:3] == ("file", 0o644, 7)
    before.pop(name.encode())
    assert after == before
    assert client.file_read(session, "file") == b"inside"


def test_create_over_a_hard_link_leaves_the_other_name_alone(client, session):
    client.result(session, PREPARE)
    client.file_put(session, "hard", b"brought")
    assert (client.file_read(session, "file"), client.file_read(session, "hard")) == (b"inside", b"brought")


def test_remove_of_files(client, session, refused):
    client.result(session, PREPARE)
    client.file_remove(session, "folder/file")
    client.file_remove(session, "hard")
    assert client.file_read(session, "file") == b"inside"
    with refused(errno.ENOENT):
        client.file_remove(session, "hard")


def test_names_that_only_look_bad(client, session):
    names = ["...", "..a", "a..", "a b", "-rf", "~", "$HOME", "`id`", "a\nb", "*", "\\", "файл", b"\xff\xfe",
             "a" * 255, "a/b/c/d/e", "con:", ".hidden"]
    for name in names:
        client.file_put(session, name, b"x")
        assert client.file_read(session, name) == b"x"
        client.file_remove(session, name)


def test_dots_and_double_slashes_in_paths_that_stay_inside(client, home):
    for path in ("./file", ".//file", "folder//file", "folder/./file", "folder/../file"):
        assert client.file_read(home, path) == b"inside"


def test_descriptor_of_open_is_read_only(client, session):
    client.file_put(session, "file", b"inside", 0o600)
    fd, answer = client.file_open(session, "file")
    try:
        assert answer["size_bytes"] == 6 and os.fstat(fd).st_ino == answer["inode"]
        with pytest.raises(OSError):
            os.write(fd, b"x")
        with pytest.raises(OSError):
            os.ftruncate(fd, 0)
    finally:
        os.close(fd)


def test_file_that_its_owner_may_not_read_is_read_all_the_same(client, session):
    client.result(session, """
import os
os.mkdir("d")
open("d/f", "w").write("x")
os.chmod("d/f", 0)
os.chmod("d", 0)
""")
    assert client.file_read(session, "d/f") == b"x"


# names that flip

FLIP = """
import os, sys
print("up", flush=True)
while True:
    for target in {targets}:
        os.symlink(target, "new")
        os.rename("new", "name")
    with open("new", "w") as file:
        file.write("mine")
    os.rename("new", "name")
"""
# The client makes things under these names meanwhile: whatever fails, the next turn goes on.
FLIP_FOLDER = """
import os, shutil
def turn():
    os.mkdir("way")
    open("way/status", "w").write("mine")
    os.mkdir("way/a")
    os.rename("way", "kept")
    os.symlink({target!r}, "way")
    os.unlink("way")
    os.rename("kept", "way")
    shutil.rmtree("way")
print("up", flush=True)
while True:
    try:
        turn()
    except OSError:
        for name in ("way", "kept"):
            try:
                os.unlink(name)
            except OSError:
                shutil.rmtree(name, ignore_errors=True)
"""
TARGETS = ["/etc/passwd", "/proc/self/status", "../../proc/self/status", "/proc/self/environ", "/homes/1/secret"]
OPENS = 20_000 if LONG else 2_000


def test_open_against_a_flipping_name_never_gets_foreign_content(client, session, shared):
    other = client.open("secretive")
    client.file_put(other, "secret", b"secret")
    run = client.run(session, FLIP.format(targets=TARGETS))
    assert run.line() == "up"
    got, errors = 0, set()
    for _ in range(OPENS):
        try:
            content = client.file_read(session, "name")
        except wire.Refused as refusal:
            errors.add(refusal.error)
            continue
        assert content in (b"", b"mine"), f"foreign content: {content[:200]!r}"
        got += 1
    client.close(other)
    client.cancel(run.started()["run"])
    run.ended()
    assert errors <= {errno.ELOOP, errno.ENOENT, errno.EAGAIN, errno.EINVAL}
    assert got and errno.ELOOP in errors, "the names did not flip while they were opened"


@pytest.mark.parametrize("target", ["/proc/self", "/", "../..", "."])
def test_requests_against_a_flipping_folder_stay_inside(target, client, session, shared):
    run = client.run(session, FLIP_FOLDER.format(target=target))
    assert run.line() == "up"
    done, refusals = 0, 0
    deadline = time.monotonic() + (30 if LONG else 2)
    root = Path(f"/proc/{shared.pid}/root")
    before = sorted(os.listdir(root)), sorted(os.listdir("/"))
    while time.monotonic() < deadline:
        for call in (lambda: client.file_read(session, "way/status") in (b"", b"mine") or pytest.fail("foreign"),
                     lambda: client.file_put(session, "way/planted", b"x"),
                     lambda: client.file_put(session, "way/a/b/planted", b"x"),
                     lambda: client.file_remove(session, "way/planted")):
            try:
                call()
                done += 1
            except wire.Refused as refusal:
                assert refusal.error in REFUSALS | {errno.EAGAIN, errno.EEXIST}, str(refusal)
                refusals += 1
    client.cancel(run.started()["run"])
    run.ended()
    assert (sorted(os.listdir(root)), sorted(os.listdir("/"))) == before
    assert done and refusals, "the folder did not flip"


def test_device_is_no_file(client, session, shared):
    """A script cannot make one; the host does it here, as an id of the session's that may."""
    client.file_put(session, "file", b"x")
    home = next(folder for folder in Path(f"/proc/{shared.pid}/root/homes").iterdir() if (folder / "file").exists())
    owner = os.stat(home / "file").st_uid
    make = ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups", "--inh-caps=+mknod",
            "--ambient-caps=+mknod", "mknod", "device", "c", "1", "3"]
    subprocess.run(make, cwd=home, check=True, capture_output=True)
    assert client.list(session)[1][b"device"]["kind"] == "other"
    for call in (client.file_read, client.file_remove):
        refuses(lambda: call(session, "device"))
