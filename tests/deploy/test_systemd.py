"""The units: systemd takes them as they are, and a service hardened as they say still makes jails."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNITS = ROOT / "deploy" / "systemd"
ANALYZE = shutil.which("systemd-analyze")

needs_systemd = pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed (package systemd)")


def unit(folder, name):
    """The unit as it is installed, but for a program and pages that are there."""
    text = (UNITS / name).read_text().replace("@bindir@", str(ROOT / "build"))
    path = folder / "cloche.service"
    path.write_text(re.sub(r"(?m)^Documentation=.*\n", "", text))
    return path


@needs_systemd
@pytest.mark.parametrize("name, words", [("cloche.service", []), ("user/cloche.service", ["--user"])])
def test_systemd_finds_no_fault(tmp_path, name, words):
    run = subprocess.run([ANALYZE, "verify", *words, unit(tmp_path, name)], capture_output=True, text=True, check=False,
                         env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)})
    assert run.returncode == 0 and not run.stderr.strip(), run.stderr


@needs_systemd
def test_a_fault_would_be_found(tmp_path):
    path = unit(tmp_path, "cloche.service")
    path.write_text(path.read_text().replace("KillMode=mixed", "KillMod=mixed"))
    run = subprocess.run([ANALYZE, "verify", path], capture_output=True, text=True, check=False)
    assert "KillMod" in run.stderr


@needs_systemd
def test_the_exposure_is_bounded(tmp_path):
    run = subprocess.run([ANALYZE, "security", "--offline=true", "--threshold=60", unit(tmp_path, "cloche.service")],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("name", ["cloche.service", "user/cloche.service"])
def test_what_a_jail_cannot_do_without(name):
    """Options that were tried and break a jail stay out; delegation stays in."""
    settings = dict(re.findall(r"(?m)^(\w+)=(.*)$", (UNITS / name).read_text()))
    assert settings["Delegate"].split() == ["memory", "pids", "cpu"]
    assert settings["OOMPolicy"] == "continue" and settings["KillMode"] == "mixed"
    for option in ("RestrictNamespaces", "PrivateUsers", "ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc",
                   "ProcSubset", "ProtectControlGroups", "ProtectHostname", "PrivateDevices", "ProtectClock"):
        assert option not in settings
    if name.startswith("user/"):
        assert "NoNewPrivileges" not in settings  # newuidmap is setuid


CAPABILITIES = re.compile(r"(?m)^CapabilityBoundingSet=(.*)$")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_run_works_within_the_units_capabilities(tmp_path):
    """setpriv does what systemd does for two of the options."""
    names = CAPABILITIES.search((UNITS / "cloche.service").read_text())[1].lower().split()
    words = ",".join(["-all", *("+" + name.removeprefix("cap_") for name in names)])
    run = subprocess.run(
        ["setpriv", "--no-new-privs", f"--bounding-set={words}", "--inh-caps=-all", ROOT / "build" / "cloche", "run",
         "--profile", "roomy", "--out", tmp_path / "out", "-"],
        input="import os;print(os.getuid(), os.path.exists('/proc/self'))", capture_output=True, text=True, check=False)
    assert run.stdout == "65534 True\n", run.stderr
