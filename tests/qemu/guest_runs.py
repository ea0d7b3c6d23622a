"""Runs and their ends as root: what a script's end is called, and that nothing of a run outlives it."""

import json
import os
import signal
import subprocess

import guest_cell as cell
from guest_kernel import CLONE_NEWCGROUP, CLONE_NEWNS, LIBC
from guest_table import guest_test

# A child that has left its session and its parent, and holds the script's pipes.
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "1000"])
    os._exit(0)
os.wait()
"""


def check(ended, status, outcome, reason):
    assert (ended.status, ended.answer["outcome"], ended.reason) == (status, outcome, reason), ended


def doctor(uid=0):
    arguments = cell.command("doctor", "--json")
    cell.scope_make(uid)
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=cell.RUN_S, cwd="/tmp",
                              preexec_fn=cell.entry(uid, cell.SCOPE))
    finally:
        cell.close()
    checks = json.loads(done.stdout)["checks"]
    assert checks, done.stdout
    failed = [one for one in checks if not one["ok"]]
    assert not failed and done.returncode == 0, (done.returncode, failed)
    return f"{len(checks)} checks"


@guest_test
def doctor_finds_all_well():
    return doctor()


@guest_test
def hello_from_python():
    ended = cell.run("print('hello', 6 * 7)")
    check(ended, 0, "ok", "exit")
    assert ended.stdout == "hello 42\n", ended
    return json.dumps(ended.answer["usage"])


@guest_test
def hello_from_bash():
    ended = cell.run("echo hello; exit 3", language="bash")
    check(ended, 3, "error", "exit")
    assert ended.stdout == "hello\n" and ended.answer["end"]["code"] == 3, ended


@guest_test
def exit_status_of_python():
    check(cell.run("raise SystemExit(7)"), 7, "error", "exit")


@guest_test
def kill_by_itself_is_no_memory_end():
    """SIGKILL is also what the kernel's memory killer sends: the two must not be confused."""
    check(cell.run("kill -KILL $$", language="bash"), 128 + signal.SIGKILL, "killed", "signal")


@guest_test
def cancel_ends_daemons_too():
    started = cell.start(DAEMON + "time.sleep(1000)")
    cell.wait_for_sleep(started)
    check(cell.cancel(started), 130, "killed", "cancelled")


@guest_test
def timeout_ends_daemons_too():
    started = cell.start(DAEMON + "time.sleep(1000)", "--timeout", "8")
    daemon = cell.wait_for_sleep(started)
    ended = cell.collect(started)
    outlived = os.path.exists(f"/proc/{daemon}")
    cell.close()
    assert not outlived, "the daemon outlived the answer"
    check(ended, 124, "timeout", "timeout")


@guest_test
def exit_ends_daemons_too():
    """The daemon holds stdout open; the answer neither waits for it nor leaves it behind."""
    check(cell.run(DAEMON + "print('done')"), 0, "ok", "exit")


@guest_test
def fork_bomb_ends():
    ended = cell.run("bomb() { bomb | bomb & }; bomb; sleep 1000", "--timeout", "5", language="bash")
    assert ended.reason in ("timeout", "exit"), ended
    return ended.reason


def kill_in_mid_run(program, uid=0, place=cell.SCOPE):
    """SIGKILL of one of our processes in mid-run: the kernel ends all others. Returns what cloche then said."""
    started = cell.start(DAEMON + "time.sleep(1000)", uid=uid, place=place)
    cell.wait_for_sleep(started)
    # init is executed from a memfd, and its link says so in front of the name.
    victims = [pid for pid, name in cell.ours().items() if name.endswith(program)]
    assert victims, f"no {program} among {cell.ours()}"
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    out, said = started.communicate(timeout=cell.RUN_S)
    cell.check_no_process()
    return f"status {started.returncode}, {said.strip()[-200:]!r}"


def kill_and_run_again(program):
    """What has no life is swept by the next run. In the root of the tree, because the next run must find the same place:
    systemd trims a scope."""
    said = kill_in_mid_run(program, place=cell.ROOT)
    left = cell.cgroups()
    check(cell.run("print('next')", place=cell.ROOT), 0, "ok", "exit")
    return f"{said}, cgroups swept: {len(left)}"


@guest_test
def sigkill_of_cloche():
    return kill_and_run_again("cloche")


@guest_test
def sigkill_of_jaild():
    return kill_and_run_again("cloche-jaild")


@guest_test
def sigkill_of_init():
    return kill_and_run_again("cloche-init")


@guest_test
def sweep_spares_a_run_in_progress():
    """Two of them in the same place: the second one's sweep must tell the living from the dead."""
    first = cell.start("sleep 1000", language="bash", place=cell.ROOT)
    cell.wait_for_sleep(first)
    check(cell.collect(cell.start("print('second')", place=cell.ROOT)), 0, "ok", "exit")
    assert first.poll() is None and cell.wait_for_sleep(first)
    check(cell.cancel(first), 130, "killed", "cancelled")


@guest_test
def cgroup_namespace_of_a_container():
    """As in a container: our own cgroup is the root of what we see of the tree, and is not the tree's."""
    into_scope = cell.entry(0, cell.SCOPE)
    mount_anew = f"mount --make-rprivate / && umount {cell.ROOT} && mount -t cgroup2 cgroup2 {cell.ROOT}"

    def enter():
        into_scope()
        if LIBC.unshare(CLONE_NEWCGROUP | CLONE_NEWNS) or subprocess.call(mount_anew, shell=True):
            os._exit(99)

    check(cell.run("print('hello')", enter=enter), 0, "ok", "exit")


@guest_test
def cgroup_with_other_processes_is_refused_by_name():
    """Without systemd and beside other processes the kernel lets nobody divide the cgroup: no run, and said so."""
    started = cell.start("print('ran')", place=f"{cell.ROOT}/session.scope")
    out, said = started.communicate(timeout=cell.RUN_S)
    cell.close()
    assert started.returncode == 125 and "cgroup" in out + said, (started.returncode, out, said)
