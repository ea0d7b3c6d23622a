"""The runner counts what happened: a suite that fails, hangs, skips or runs nothing is never ok."""

import importlib.machinery
import importlib.util
import pathlib
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = {
    "passed": '<testcase classname="a" name="good"/>',
    "failed": '<testcase name="bad"><failure message="1 is not 2"/></testcase>',
    "error": '<testcase name="broken"><error message="no"/></testcase>',
    "skipped": '<testcase name="absent"><skipped message="no kernel"/></testcase>',
}


@pytest.fixture
def runner(tmp_path, monkeypatch):
    loader = importlib.machinery.SourceFileLoader("run", str(ROOT / "tests/run"))
    spec = importlib.util.spec_from_loader("run", loader)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "run", module)
    loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "LOGS", tmp_path)
    monkeypatch.delenv("CLOCHE_MUST_WORK", raising=False)
    return module


def reporting(runner, *kinds, status=0):
    """A suite whose only step writes a report with these cases."""
    text = "<testsuites><testsuite>" + "".join(CASES[k] for k in kinds) + "</testsuite></testsuites>"
    step = ("sh", "-c", f"printf '%s' '{text}' > r.xml; exit {status}")
    return runner.Suite("x", 10, (step,), "r.xml")


def test_counts_each_kind(runner):
    result = runner.run_suite(reporting(runner, "passed", "passed", "failed", "error", "skipped"))
    assert result.counts == {"passed": 2, "failed": 2, "skipped": 1}
    assert result.failures == ["bad: 1 is not 2", "broken: no"]
    assert result.skips == ["absent: no kernel"]


def test_a_skip_fails_where_all_must_work(runner, monkeypatch):
    monkeypatch.setenv("CLOCHE_MUST_WORK", "1")
    result = runner.run_suite(reporting(runner, "passed", "skipped"))
    assert result.counts == {"passed": 1, "failed": 1}


def test_a_bad_status_fails_although_the_report_is_good(runner):
    assert runner.run_suite(reporting(runner, "passed", status=3)).counts["failed"] == 1


def test_a_suite_without_tests_fails(runner):
    assert runner.run_suite(reporting(runner)).counts["failed"] == 1


def test_an_old_report_is_not_read(runner, tmp_path):
    (tmp_path / "r.xml").write_text(f"<testsuite>{CASES['passed']}</testsuite>")
    result = runner.run_suite(runner.Suite("x", 10, (("true",),), "r.xml"))
    assert result.counts == {"failed": 1}


def test_steps_without_a_report_count_themselves(runner):
    result = runner.run_suite(runner.Suite("x", 10, (("true",), ("false",), ("true",))))
    assert result.counts == {"passed": 1, "failed": 1}
    assert result.failures == ["false: status 1"]


def test_a_program_that_is_missing_fails(runner):
    assert runner.run_suite(runner.Suite("x", 10, (("/no/such",),))).counts == {"failed": 1}


def test_a_suite_over_its_budget_is_killed_with_its_children(runner, tmp_path):
    step = ("sh", "-c", "(sleep 2; touch survived) & sleep 60")
    start = time.monotonic()
    result = runner.run_suite(runner.Suite("x", 0.3, (step,)))
    assert time.monotonic() - start < 30
    assert "over its budget" in result.failures[0]
    time.sleep(2.5)
    assert not (tmp_path / "survived").exists()


def test_the_sums_and_the_output_of_a_failure_are_printed(runner, capsys):
    step = ("sh", "-c", "echo what went wrong; exit 1")
    sums = runner.run_all([reporting(runner, "passed"), runner.Suite("y", 10, (step,))])
    assert sums == {"passed": 1, "failed": 1}
    said = capsys.readouterr().out
    assert "what went wrong" in said
    assert "FAILED y:" in said


def test_whatever_hangs_all_suites_end_in_time(runner):
    slow = runner.Suite("slow", 3600, (("sleep", "3600"),))
    start = time.monotonic()
    sums = runner.run_all([slow, slow, slow], within_s=0.5)
    assert time.monotonic() - start < 60
    assert sums == {"failed": 3}


def test_ci_waits_longer_than_that(runner):
    assert runner.ALL_S <= 5300
    assert max(suite.budget_s for suite in runner.suites(False)) < runner.ALL_S / 2
