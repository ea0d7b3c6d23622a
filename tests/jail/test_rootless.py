"""B24: an ordinary user with subordinate ids gets all protections; what is missing is named with its remedy."""
import account
import pytest
from runner import Cloche, Identity


@pytest.fixture
def ordinary(rootless, tmp_path):
    made = Cloche(rootless, tmp_path)
    yield made
    made.close()


@pytest.fixture
def without_delegation(rootless, tmp_path):
    entry = account.ensure_user()
    made = Cloche(account.Rootless(entry, []), tmp_path)
    yield made
    made.close()


def test_B24_all_protections_are_on(ordinary, checked):
    answer = checked(ordinary.run("print('rootless')\n"))
    assert answer["outcome"] == "ok" and answer["protections"] == "full"


def test_B24_root_has_all_protections_too(program, tmp_path, checked):
    answer = checked(Cloche(Identity(), tmp_path).run("print('root')\n"))
    assert answer["outcome"] == "ok" and answer["protections"] == "full"


def test_B24_missing_delegation_is_named_and_nothing_runs(without_delegation):
    run = without_delegation.run("print('it ran')\n", json_answer=False)
    text = run.stderr.decode().lower()
    assert run.status == 125, run.explain()
    assert b"it ran" not in run.stdout
    assert "delegat" in text and ("systemd-run" in text or "cgroup" in text), text
    assert "--unlimited-host" in text, "the way for a person who accepts it is not named"


def test_B24_unlimited_host_runs_and_says_what_is_off(without_delegation, checked):
    run = without_delegation.run("print('it ran')\n", extra=["--unlimited-host"])
    answer = checked(run)
    assert answer["outcome"] == "ok" and run.text == "it ran\n"
    assert isinstance(answer["protections"], list) and answer["protections"], answer["protections"]


def test_B24_doctor_names_the_missing_delegation(without_delegation):
    run = without_delegation.command("doctor")
    assert run.status == 1 and "delegat" in run.text.lower(), run.explain()


def test_B24_a_user_without_subordinate_ids_is_told_the_remedy(program, tmp_path):
    import pwd
    entry = pwd.getpwnam("games")
    run = Cloche(account.Rootless(entry, []), tmp_path).run("print('it ran')\n", json_answer=False)
    assert run.status == 125 and b"it ran" not in run.stdout, run.explain()
    assert b"/etc/subuid" in run.stderr, run.stderr
