"""The same as an ordinary user, in a cgroup that root delegated to him."""

import guest_cell as cell
from guest_limits import ALLOCATE, MEMORY_KILLED, fifteen_processes, limits_in_the_tree
from guest_runs import check, doctor, kill_in_mid_run
from guest_table import guest_test


@guest_test
def rootless_doctor_finds_all_well():
    return doctor(uid=cell.ADA)


@guest_test
def rootless_hello_from_python():
    ended = cell.run("import os; print('hello', os.getresuid())", uid=cell.ADA)
    check(ended, 0, "ok", "exit")
    assert ended.stdout == "hello (65534, 65534, 65534)\n", ended


@guest_test
def rootless_hello_from_bash():
    check(cell.run("echo hello; exit 3", language="bash", uid=cell.ADA), 3, "error", "exit")


@guest_test
def rootless_limits_stand_in_the_tree():
    leaf = limits_in_the_tree(uid=cell.ADA)
    assert leaf.startswith(f"{cell.SCOPE}/"), leaf
    return leaf


@guest_test
def rootless_memory_over_the_limit():
    check(cell.run(ALLOCATE.format(mib=400), uid=cell.ADA), *MEMORY_KILLED)


@guest_test
def rootless_pids_fifteen_more_then_eagain():
    fifteen_processes(uid=cell.ADA)


@guest_test
def rootless_without_delegation_is_refused_by_name():
    """A user in a cgroup that is not his gets no run without limits, and is told what is missing."""
    started = cell.start("print('ran')", uid=cell.ADA, place=f"{cell.ROOT}/session.scope")
    out, said = started.communicate(timeout=cell.RUN_S)
    cell.close()
    assert started.returncode == 125 and "cgroup" in out + said, (started.returncode, out, said)


def kill_in_scope(program):
    try:
        return kill_in_mid_run(program, uid=cell.ADA)
    finally:
        # The cgroups of a killed life stay in the scope, which goes as a whole.
        cell.scope_remove()


@guest_test
def rootless_sigkill_of_cloche():
    return kill_in_scope("cloche")


@guest_test
def rootless_sigkill_of_jaild():
    return kill_in_scope("cloche-jaild")


@guest_test
def rootless_sigkill_of_init():
    return kill_in_scope("cloche-init")
