"""The audit log while it is rotated, and what SIGHUP means."""
import fcntl
import json
import os
import pty
import signal
import stat
import subprocess
import termios

import pytest
from pen import load
from service import END_WITHIN_S, PROGRAM, READY_WITHIN_S, Background, make_pen, until


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_no_line_is_lost_while_the_log_is_rotated(start):
    service = start()
    log = service.state / "audit.log"
    runs = 25

    def client(key):
        return [service.api.answer(key, "true", language="bash")["run_id"] for _ in range(runs)]

    clients = [Background(client, f"k{i}") for i in range(3)]
    for number in range(1, 4):
        until(lambda: log.exists() and log.stat().st_size > 0)
        log.rename(service.state / f"audit.log.{number}")
        os.kill(service.main(), signal.SIGHUP)
    answered = sorted(run_id for one in clients for run_id in one.result())
    until(log.exists)
    files = [log, *(service.state / f"audit.log.{number}" for number in range(1, 4))]
    assert sorted(line["run_id"] for file in files for line in lines_of(file)) == answered
    assert len(answered) == 3 * runs
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_log_that_cannot_be_opened_anew_stays(start):
    service = start()
    log = service.state / "audit.log"
    old = log.rename(service.state / "audit.log.1")
    log.symlink_to("elsewhere")
    os.kill(service.main(), signal.SIGHUP)
    until(lambda: "audit log not opened" in service.logged())
    run_id = service.api.answer("k", "true", language="bash")["run_id"]
    assert lines_of(old)[-1]["run_id"] == run_id
    log.unlink()
    os.kill(service.main(), signal.SIGHUP)
    until(log.exists)
    os.kill(service.supervisor(), signal.SIGKILL)  # the next one gets the new log too
    service.wait_ready()
    run_id = service.api.answer("k", "true", language="bash")["run_id"]
    assert lines_of(log)[-1]["run_id"] == run_id


def test_a_terminal_that_goes_ends_the_service(programs, tmp_path):
    pen = make_pen("api")
    master, slave = pty.openpty()
    words = pen.wrap([PROGRAM, "up", "--no-assistant", "--state", tmp_path / "state", "--listen", "127.0.0.1:0"])
    try:
        with open(tmp_path / "log", "wb") as log:
            process = subprocess.Popen(words, stdin=slave, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
                                       preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        watchdog = Background(process.wait, READY_WITHIN_S * load() + 60)
        assert process.stdout.readline().startswith(b"ready ")
        os.close(master)
        watchdog.join(END_WITHIN_S * load())
        assert process.poll() == 0
        process.stdout.close()
        assert not pen.empties()
    finally:
        for pid in pen.processes():
            os.kill(pid, signal.SIGKILL)
        pen.close()


def test_a_terminal_is_told_once_that_it_is_ready(programs, tmp_path):
    pen = make_pen("api")
    master, slave = pty.openpty()
    words = pen.wrap([PROGRAM, "up", "--no-assistant", "--state", tmp_path / "state", "--listen", "none"])
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
        os.close(slave)
        watchdog = Background(process.wait, READY_WITHIN_S * load() + 60)
        told = b""
        while b"ready unix:" not in told:
            told += os.read(master, 4096)
        process.terminate()
        try:
            while piece := os.read(master, 4096):
                told += piece
        except OSError:  # the terminal of nobody
            pass
        watchdog.join(END_WITHIN_S * load())
        assert told.count(b"ready") == 1, told
    finally:
        os.close(master)
        for pid in pen.processes():
            os.kill(pid, signal.SIGKILL)
        pen.close()


@pytest.mark.parametrize("level, is_told", [("info", True), ("error", False)])
def test_the_level_of_the_log_is_that_of_every_program(level, is_told, start):
    """jaild wrote its lines of level info whatever was asked for; `ready` comes after the first of them."""
    log = start("--log-level", level).logged()
    assert ("a zygote serves" in log) == is_told
    assert is_told or log == ""
