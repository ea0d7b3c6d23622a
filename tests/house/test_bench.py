"""bench/warm works and says everything that docs/performance.md shows of it. What it measures is nobody's to assert."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = {"bash true": ["bare", "HTTP"], **{name: ["bare", "HTTP", "HTTP, executed"] for name in ("print", "numpy", "chart")}}
WITHIN_S = 240  # ends what hangs; some ten seconds on an idle machine


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """(the figures, what was printed) of the shortest measurement that there is."""
    if os.geteuid() != 0:
        pytest.skip("needs root, which the service's limits are set by")
    subprocess.run(["ninja", "-C", ROOT / "build", "bench/driver"], check=True, stdout=subprocess.DEVNULL)
    figures = tmp_path_factory.mktemp("bench") / "figures.json"
    done = subprocess.run([ROOT / "bench/warm", "--smoke", "--json", figures], capture_output=True, text=True, timeout=WITHIN_S,
                          check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(figures.read_text()), done.stdout


def test_it_tells_all_that_it_measures(smoke):
    result, _ = smoke
    assert sorted(result) == ["calls", "growth", "host", "left_out", "many", "memory", "rounds", "runs"]
    assert (result["rounds"], result["left_out"]) == (1, {}) and result["host"]["cpus"] > 0


def test_it_calls_each_script_in_each_way(smoke):
    result, _ = smoke
    assert {name: list(rows) for name, rows in result["calls"].items()} == SCRIPTS
    assert all(len(samples) == 1 and samples[0] > 0 for rows in result["calls"].values() for samples in rows.values())
    assert list(result["growth"]) == ["1", "2"] and all(took > 0 for samples in result["growth"].values() for took in samples)


def test_it_tells_runs_per_second_and_percentiles(smoke):
    result, _ = smoke
    assert list(result["many"]) == ["print, 2 at once", "chart, 2 at once"]
    for row in result["many"].values():
        assert list(row["rates"]) == ["HTTP", "bare"] and all(rate > 0 for rate in row["rates"].values())
        assert list(row["latency_ms"]) == ["p50", "p95", "p99"] and all(ms > 0 for ms in row["latency_ms"].values())
    assert sum(number for name, number in result["runs"].items() if "runs_total" in name) > 0


def test_it_tells_who_holds_how_much_memory(smoke):
    result, said = smoke
    rows = result["memory"]
    assert list(rows) == ["small zygote", "data zygote", "small spare", "data spare", "idle session", "chart that runs"]
    assert "kernel_kib" in rows.pop("idle session")
    assert all(size["pss_kib"] > 0 and size["private_kib"] >= 0 for size in rows.values())
    assert all(f"{name}: {size['pss_kib']:.0f} PSS" in said for name, size in rows.items())


def test_it_says_what_is_to_reach(smoke):
    """Issue 5's ratios and sizes; those to peers only with peers."""
    _, said = smoke
    lines = [line.split("(")[0].rsplit(None, 1)[0].strip() for line in said.splitlines() if "to reach" in line]
    assert lines == ["print, warm, p50 / bare", "print, warm, p99 / bare's median", "chart, warm / bare", "bash true / bare",
                     "print, 2 sessions open / 1", "small spare, private MiB", "data spare, private MiB",
                     "idle session, its own and the kernel's, KiB"]
