"""Every system call that security.md denies, called raw by its number; and the list that the program prints."""
import errno
import json

import pytest
from denied_calls import CORE, HARDENING, script
from idea import PRELUDE

PRINTED = ["ptrace", "mount", "umount2", "pivot_root", "unshare", "setns", "bpf", "perf_event_open", "keyctl", "kexec_load",
           "init_module", "io_uring_setup", "userfaultfd", "process_vm_readv"]
_answers = {}


@pytest.fixture
def answers(cloche):
    """What each call answered in the jail: name -> [result, errno], made once for each identity."""
    who = cloche.identity.name
    if who not in _answers:
        run = cloche.run(script(PRELUDE))
        assert run.status == 0, run.explain()
        _answers[who] = json.loads(run.text)
    return _answers[who]


@pytest.mark.both
@pytest.mark.parametrize("name", CORE)
def test_core_call_is_refused_with_EPERM(answers, name):
    assert answers[name] == [-1, errno.EPERM]


@pytest.mark.both
@pytest.mark.parametrize("name", HARDENING)
def test_hardening_call_is_refused(answers, name):
    assert answers[name] in ([-1, errno.EPERM], [-1, errno.ENOSYS])


@pytest.mark.both
def test_J15_the_printed_list_holds_what_is_refused(cloche):
    printed = cloche.command("jail", "syscalls", "--denied")
    assert printed.status == 0, printed.explain()
    words = set(printed.text.replace(",", " ").split())
    assert set(CORE) - words == set(), "refused by security.md, but not printed"
    assert set(PRINTED) <= words
