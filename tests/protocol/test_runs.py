"""Runs at the level of the protocol: refusals, cancels, closes in the middle of something, several connections."""
import errno
import fcntl
import os
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest
import tables
import wire
from wire import End, Type

SLEEP = "import time\nprint('up', flush=True)\ntime.sleep(60)"
ENDS_WITHIN_S = 15  # far below the script's sleep: whatever ends it, it is not the script itself


@pytest.fixture
def sleeping(client, session):
    """A run that goes on, over the test's connection."""
    run = client.run(session, SLEEP)
    assert run.line() == "up"
    return run


def stages():
    return {name: number for number, name, _ in tables.stages()}


def gone(shared, within=60):
    """Waits until jaild has no cell any more."""
    deadline = time.monotonic() + within
    while shared.status()["cells"] and time.monotonic() < deadline:
        time.sleep(0.01)
    return shared.status()["cells"] == 0 and not shared.inits()


def test_run_tells_its_start_and_its_end(client, session):
    run = client.run(session, "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(7)")
    started, ended = run.started(), run.ended()
    assert (ended["end"], ended["code"], ended["run"]) == (End.EXIT, 7, started["run"])
    assert 0 < started["start_us"] < 60_000_000 and 0 < ended["cpu_us"] and 0 < ended["memory_peak_bytes"]
    assert (run.text(), run.errors()) == ("out\n", b"err\n")


def test_report_tells_when_the_script_began(client, session):
    """By the clock that jaild and the script have, too: after the request, before the script's first line."""
    asked = time.monotonic_ns()
    run = client.run(session, "import time\nprint(time.monotonic_ns())")
    run.ended()
    assert asked < run.begun_ns() < int(run.text())
    started = run.started()
    assert asked // 1000 <= started["at_us"] - started["start_us"] < started["at_us"] <= time.monotonic_ns() // 1000


def test_report_of_a_script_that_never_began(client, session):
    run = client.run(session, "1 +")
    run.ended()
    assert run.begun_ns() is None


def test_second_run_in_a_session_is_refused_and_harms_nothing(client, session, sleeping, refused):
    for _ in range(3):
        with refused(errno.EBUSY):
            client.run(session, "print(1)").started()
    client.cancel(sleeping.started()["run"])
    assert sleeping.ended(ENDS_WITHIN_S)["end"] == End.CANCELLED
    assert client.result(session, "print(1)")[1] == "1\n"


def test_runs_of_two_sessions_go_on_side_by_side(client, session, sleeping):
    other = client.open("other")
    assert client.result(other, "print(1)")[1] == "1\n"
    client.close(other)
    assert client.status()["cells"] == 1


def test_wall_limit_above_the_sessions_is_refused(client, session, refused):
    most = tables.profile("strict")["wall_ms"]
    for wall_ms in (most + 1, 2**64 - 1, 2**63):
        with refused(errno.ERANGE):
            client.run(session, "print(1)", wall_ms=wall_ms).started()
    client.result(session, "print(1)", wall_ms=most)


def test_wall_limit_of_the_request(client, session):
    run = client.run(session, SLEEP, wall_ms=300)
    assert run.ended(ENDS_WITHIN_S)["end"] == End.TIMEOUT


def test_package_that_is_not_sealed(client, session, refused):
    half = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    data = wire.package("print(1)")
    packages = [wire.memfd(data, 0), wire.memfd(data, half), os.open("/etc/passwd", os.O_RDONLY), os.pipe()[0],
                os.open("/", os.O_PATH)]
    for fd in packages:
        with refused(errno.EPERM):
            client.run(session, "", package_fd=fd).started()
    assert client.result(session, "print(2)")[1] == "2\n"


def bad_packages():
    good = wire.package("print(1)", args=["a"], env=["B=c"])
    head = struct.Struct("<6I")

    def changed(index, value):
        words = list(head.unpack_from(good))
        words[index] = value
        return head.pack(*words) + good[head.size:]

    yield "empty", b""
    yield "head cut", good[:23]
    yield "end cut", good[:-1]
    yield "one more", good + b"\0"
    for index, name in enumerate(("magic", "language", "n_args", "n_env", "strings_size", "code_size")):
        for value in (0 if name != "language" else 3, 2**32 - 1, 65):
            if head.unpack_from(good)[index] != value:
                yield f"{name} {value}", changed(index, value)
    yield "program without words", wire.package("", "program")
    yield "too much code", wire.package("#" * (256 * 1024 + 1))
    yield "no such variable", wire.package("", env=["B"])
    for variable in ("LD_PRELOAD=/x", "PYTHONPATH=/x", "PATH=/x", "BASH_ENV=/x", "=x", "1A=x", "A B=x"):
        yield variable, wire.package("print(1)", env=[variable])


@pytest.mark.parametrize("data", [data for _, data in bad_packages()], ids=[name for name, _ in bad_packages()])
def test_malformed_package_is_refused_by_init(data, client, session):
    run = client.run(session, "", package_fd=wire.memfd(data))
    with pytest.raises(wire.Refused) as refusal:
        run.started()
    assert refusal.value.stage == stages()["RUN_PACKAGE"]
    assert run.text() == ""


def test_cancel(client, session, sleeping, refused):
    number = sleeping.started()["run"]
    client.cancel(number)
    assert sleeping.ended(ENDS_WITHIN_S)["end"] == End.CANCELLED
    with refused(errno.ESRCH):
        client.cancel(number)


def test_cancel_before_the_start_ends_it(client, session):
    """The number of a run that has not started can only be guessed; jaild must stand that."""
    number = client.run(session, "print(1)").ended()["run"]
    run = client.run(session, SLEEP)
    cancelled = client.send(Type.RUN_CANCEL, struct.pack("<Q", number + 1))
    client.answer(cancelled, Type.DONE)
    try:
        assert run.ended(ENDS_WITHIN_S)["end"] == End.CANCELLED
    except wire.Refused as refusal:
        assert refusal.error == errno.ECANCELED
    assert client.result(session, "print(1)")[1] == "1\n"


def test_close_during_a_run(client, shared):
    session = client.open("closing")
    run = client.run(session, SLEEP)
    assert run.line() == "up"
    client.close(session)
    assert run.ended(1)["end"] == End.CANCELLED, "the run's end comes before the answer to the close"
    assert gone(shared)


@pytest.mark.parametrize("delay_ms", [0, 1, 3, 10, 30])
def test_close_while_a_run_starts(delay_ms, client, shared):
    for number in range(8):
        session = client.open(f"closing-{number}")
        run = client.run(session, SLEEP)
        time.sleep(delay_ms / 1000)
        client.close(session)
        try:
            assert run.ended(1)["end"] == End.CANCELLED
        except wire.Refused as refusal:
            assert (refusal.error, refusal.stage) == (errno.ECANCELED, 0)
        run.close()
    assert gone(shared)


def test_close_at_the_moment_of_the_end(client):
    """Close and end race; each comes first now and then."""
    for number in range(60):
        session = client.open(f"racing-{number}")
        run = client.run(session, "", "program", args=["/bin/true"])
        run.started()
        time.sleep(number % 12 / 5000)
        client.close(session)
        assert run.ended(1)["end"] in (End.EXIT, End.CANCELLED)
        run.close()


def test_second_close_finds_no_session(client, refused):
    session = client.open("closing")
    run = client.run(session, SLEEP)
    run.started()
    body = struct.pack("<Q", session)
    first, second = client.send(Type.SESSION_CLOSE, body), client.send(Type.SESSION_CLOSE, body)
    with refused(errno.ENOENT):
        client.answer(second, Type.DONE)
    client.answer(first, Type.DONE)


def test_key_of_a_session_that_is_being_closed_is_in_use(client, refused):
    session = client.open("closing")
    run = client.run(session, SLEEP)
    run.started()
    first = client.send(Type.SESSION_CLOSE, struct.pack("<Q", session))
    try:
        client.close(client.open("closing"))
    except wire.Refused as refusal:
        assert refusal.error == errno.EEXIST
    client.answer(first, Type.DONE)
    client.close(client.open("closing"))


def test_list_and_files_during_a_run(client, session):
    run = client.run(session, "open('made', 'w').write('x')\n" + SLEEP)
    assert run.line() == "up"
    assert list(client.list(session)[1]) == [b"made"]
    client.file_put(session, "brought", b"y")
    assert client.file_read(session, "made") == b"x"
    assert sorted(client.list(session, wire.LIST_HASH)[1]) == [b"brought", b"made"]


def test_close_during_a_listing(client, shared):
    """More bytes than anything reads before the second message comes: holes would be passed over."""
    session = client.open("closing")
    client.result(session, "import os\nwith open('f', 'wb') as f:\n for i in range(60): f.write(bytes(1 << 20))\n"
                           "for i in range(100): os.link('f', f'f{i}')")
    listing = client.list_send(session, wire.LIST_HASH)
    client.close(session)
    with pytest.raises(wire.Refused):
        client.answer(listing, Type.LISTING_IS)
    assert shared.pen.processes() == {shared.launcher.pid, shared.pid, *shared.makers()}


def test_runs_and_uploads_of_a_connection_end_with_it(shared, client, session, refused):
    before = shared.descriptors()
    with shared.attach() as other:
        run = other.run(session, SLEEP)
        assert run.line() == "up"
        upload, fd = other.file_create(session, "half")
        os.close(fd)
    assert gone(shared)
    assert client.list(session)[1] == {}
    with refused(errno.ESRCH):
        client.file_commit(upload)
    assert shared.descriptors_once(before) == before
    assert client.result(session, "print(1)")[1] == "1\n"


def test_connection_that_does_not_read_is_hung_up_on_alone(shared, client, session):
    run = client.run(session, SLEEP)
    assert run.line() == "up"
    with shared.attach() as other:
        other.socket.settimeout(10)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(100_000):
                other.send(Type.STATUS)
    assert client.status()["cells"] == 1
    assert client.list(session)[1] == {}


def test_connections_have_a_limit(shared, client, refused):
    before = len(shared.descriptors())
    others = []
    try:
        with refused(errno.EMFILE):
            for _ in range(1000):
                others.append(client.attach())
        assert others[-1].status()["sessions"] == 0
        assert 200 < len(others) < 300
    finally:
        for other in others:
            other.hang_up()
    deadline = time.monotonic() + 60
    while len(shared.descriptors()) > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(shared.descriptors()) == before


def test_client_that_does_not_read_ends_jaild(jaild):
    session = jaild.open()
    run = jaild.run(session, SLEEP)
    assert run.line() == "up"
    jaild.socket.settimeout(10)
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(100_000):
            jaild.send(Type.STATUS)
    assert jaild.launcher.wait(10) == 0


def test_hang_up_kills_everything(pen):
    """Four cells with grandchildren that ignore signals and hold the pipes."""
    stubborn = """
import os, signal, time
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except OSError: pass
for _ in range(6):
    if os.fork() == 0:
        os.setsid()
        while True: time.sleep(1)
print('up', flush=True)
time.sleep(60)
"""
    jaild = wire.Jaild(pen)
    for number in range(4):
        assert jaild.run(jaild.open(f"s{number}"), stubborn).line() == "up"
    seen = pen.processes()
    assert len(seen) == 3 + 4 * (1 + 1 + 6)
    jaild.hang_up()
    left = pen.empties()
    jaild.stop()
    assert not left, "\n".join(left)


def test_hang_up_during_listings_uploads_and_starts(pen):
    for delay_ms in (0, 2, 10, 40):
        jaild = wire.Jaild(pen)
        sessions = [jaild.open(f"s{number}") for number in range(4)]
        for session in sessions:
            os.close(jaild.file_create(session, "half")[1])
            jaild.list_send(session, wire.LIST_HASH | wire.LIST_SETTLE)
            jaild.run(session, SLEEP)
        time.sleep(delay_ms / 1000)
        jaild.hang_up()
        left = pen.empties()
        jaild.stop()
        assert not left, "\n".join(left)


def test_half_closed_connection_is_a_hang_up(jaild, pen):
    assert jaild.run(jaild.open(), SLEEP).line() == "up"
    jaild.socket.shutdown(1)
    assert jaild.launcher.wait(10) == 0
    assert not pen.empties()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGUSR1])
def test_signals_to_the_launcher(number, jaild, pen):
    """SIGTERM ends all in order; the others are not for it."""
    assert jaild.run(jaild.open(), SLEEP).line() == "up"
    os.kill(jaild.launcher.pid, number)
    if number == signal.SIGTERM:
        assert jaild.launcher.wait(10) == 0
        assert not pen.empties()
    else:
        time.sleep(0.2)
        assert jaild.status()["cells"] == 1


def test_as_many_sessions_as_there_may_be_leave_room_for_runs(pen):
    """1,024 descriptors are what a shell and systemd give (soft limit); sessions and their limit must fit together."""
    with wire.Jaild(pen, before="ulimit -Sn 1024; ") as jaild:
        sessions = []
        with pytest.raises(wire.Refused) as refusal:
            while len(sessions) < 5000:
                sessions.append(jaild.open(f"s{len(sessions)}"))
        assert len(sessions) > 100 and refusal.value.error in (errno.EAGAIN, errno.ENFILE)
        for session in (sessions[0], sessions[-1]):
            assert jaild.result(session, "print(6 * 7)")[1] == "42\n"
        jaild.close(sessions[0])
        jaild.close(jaild.open("one-more"))


def test_client_that_wants_no_output(client, session):
    """Its /dev/null is replaced by the cell's, which was open for reading only: print failed."""
    fds = [wire.memfd(wire.package("print(1, flush=True)", "python", (), ())), wire.report()]
    null = os.open("/dev/null", os.O_RDWR)
    seq = client.send(Type.RUN, struct.pack("<QQII", session, 0, 0, 0), [fds[0], null, null, null, fds[1]])
    for fd in (*fds, null):
        os.close(fd)
    client.answer(seq, Type.RUN_STARTED)
    ended = client.answer(seq, Type.RUN_ENDED)
    assert (ended["end"], ended["code"]) == (End.EXIT, 0)


def test_folder_of_an_image_does_not_stay_open(pen):
    """It stayed, and ".." led from it to the whole host."""
    with wire.Jaild(pen, options=["--rootfs", "/"]) as jaild:
        assert "/" not in jaild.descriptors().values()


@pytest.mark.parametrize("number", [4, 5, 9, 17])
def test_socket_may_have_any_number(number, pen):
    """A client other than cloche may pass another descriptor than 3."""
    with wire.Jaild(pen, number=number) as jaild:
        assert jaild.result(jaild.open(), "print(6 * 7)")[1] == "42\n"


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_client_without_standard_streams(closed, pen):
    """A descriptor of jaild's took the missing number, and no cell could be made."""
    with wire.Jaild(pen, before=f"exec {closed}; ") as jaild:
        assert jaild.result(jaild.open(), "print(6 * 7)")[1] == "42\n"
        assert {jaild.descriptors()[number] for number in (0, 1)} == {"/dev/null"}


def test_what_is_no_seqpacket_socket_is_no_client(pen):
    for what in ("</dev/null", "<&1"):
        argv = ["/bin/bash", "-c", f'exec 3{what}; exec "$@"', "bash", tables.BUILD / "cloche-jaild"]
        argv += ["--socket-fd", "3"]
        done = subprocess.run(pen.wrap(argv), capture_output=True, timeout=20)
        assert done.returncode != 0
    assert not pen.empties()


@pytest.fixture
def frozen():
    """A sleeping process that SIGKILL cannot end before thaw() is called; it is a folder of the v1 freezer's."""
    tree = Path("/sys/fs/cgroup/freezer")
    if not (tree / "cgroup.procs").exists():
        pytest.skip("no cgroup v1 freezer, which alone holds a process against SIGKILL")
    folder = tree / f"test-{os.getpid()}"
    folder.mkdir()

    def freeze():
        process = subprocess.Popen(["/bin/sleep", "60"])
        (folder / "cgroup.procs").write_text(str(process.pid))
        (folder / "freezer.state").write_text("FROZEN")
        return process

    freeze.thaw = lambda: (folder / "freezer.state").write_text("THAWED")
    yield freeze
    freeze.thaw()
    deadline = time.monotonic() + 60
    while (folder / "cgroup.procs").read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    folder.rmdir()


def test_close_while_a_dead_cells_group_is_not_yet_empty(frozen, pen):
    """Between init's death and the group's emptiness jaild looks again and again; a close in that time frees the
    session under its own feet if it goes on with it.
    """
    for turn in range(12):
        with wire.Jaild(pen) as jaild:
            session = jaild.open()
            run = jaild.run(session, "print('up', flush=True)\nimport time\ntime.sleep(0.2)")
            assert run.line() == "up"
            leaf = next(folder for folder in pen.folders["unified"].rglob("s*.c*"))
            process = frozen()
            (leaf / "cgroup.procs").write_text(str(process.pid))
            while jaild.inits():
                time.sleep(0.005)
            frozen.thaw()
            time.sleep(turn / 10_000)
            jaild.close(session)
            process.wait()
            assert run.ended(5)["end"] == End.EXIT
            assert jaild.status()["sessions"] == 0


def test_a_group_that_does_not_become_empty_holds_no_answer_back(jaild, frozen, pen):
    """Whoever is in a dead cell's group was put there from outside: the answer comes, and the log tells."""
    session = jaild.open("one")
    run = jaild.run(session, SLEEP)
    assert run.line() == "up"
    leaf = next(folder for folder in pen.folders["unified"].rglob("s*.c*"))
    process = frozen()
    (leaf / "cgroup.procs").write_text(str(process.pid))
    jaild.cancel(run.started()["run"])
    assert run.ended(60)["end"] == End.CANCELLED
    assert jaild.result(session, "print(2)")[1] == "2\n"
    line = os.read(jaild.launcher.stderr.fileno(), 4096).decode()
    assert "does not become empty" in line
    jaild.close(session)
    frozen.thaw()
    process.wait()
