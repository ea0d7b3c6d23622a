"""The command against a real service: a run by it is as a run here."""
import json
import os
import signal
import subprocess
import threading

import pytest
from service import PROGRAM, until
from terminal import QUESTION, SIXEL, on_terminal, sixel_draw

SCRIPTS = {
    "plain": ("python", "print('héllo')", []),
    "both_streams": ("python", "import sys;print('o');print('e',file=sys.stderr)", []),
    "status": ("python", "import sys;sys.exit(7)", []),
    "error": ("python", "undefined_name", []),
    "signal": ("bash", "kill -SEGV $$", []),
    "memory": ("python", "b=bytearray(400*10**6);b[::4096]=b'x'*len(b[::4096])", []),
    "timeout": ("python", "while 1: pass", ["-t", "0.5"]),
    "roomy": ("python", "import os;print(os.path.exists('/proc/self'))", ["-p", "roomy"]),
    "env": ("bash", "echo $A $TZ; date +%Z", ["-e", "A=b c", "-e", "TZ=Europe/Berlin"]),
    "crlf": ("bash", "echo a\r\necho b\r\n", []),
    "no_input": ("python", "print(input())", []),
    "files": ("python", "import os\nprint(sorted(os.listdir()))\nopen('in.csv','a').write('x')\nos.makedirs('d')\n"
                        "open('d/é','w').write('y')\nopen(b'z\\xff','w').write('z')\nos.symlink('/etc/passwd','l')", ["-f", "in.csv"]),
    "nothing": ("python", "", []),
    "nul": ("python", "print('a\\0b')", []),
}


def tree(folder):
    """Relative path -> content of all files, as bytes."""
    top = os.fsencode(folder)
    found = {}
    for inner, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(inner, name), "rb") as file:
                found[os.path.relpath(os.path.join(inner, name), top)] = file.read()
    return found


@pytest.fixture
def command(service, tmp_path):
    def run(*words, stdin=b"", here="here", timeout=60):
        folder = tmp_path / here
        folder.mkdir(exist_ok=True)
        (folder / "in.csv").write_text("1,2\n")
        return subprocess.run([PROGRAM, *map(str, words)], input=stdin, capture_output=True, cwd=folder, timeout=timeout,
                              check=False)

    run.at = ["--server", service.url, "--state", str(service.state)]
    run.folder = tmp_path
    return run


def test_a_run_has_the_profile_of_its_session(command):
    """It asked for strict where nobody had named one, and was refused."""
    more = b"import os; print(os.path.exists('/proc/self'))"
    for words in (["-p", "roomy"], [], ["-t", "100"]):
        done = command("run", *command.at, "--session", "r", *words, "-", stdin=more)
        assert (done.returncode, done.stdout) == (0, b"True\n"), done.stderr
    full = b"b=bytearray(1400*10**6);b[::4096]=b'x'*len(b[::4096])"
    done = command("run", *command.at, "--session", "r", "-", stdin=full)
    assert done.returncode == 137 and b"--profile" not in done.stderr
    done = command("run", *command.at, "--session", "r", "-p", "strict", "-", stdin=more)
    assert done.returncode == 125 and b"roomy" in done.stderr
    assert command("session", "rm", *command.at[2:], "r").returncode == 0
    done = command("run", *command.at, "-", stdin=full)
    assert done.returncode == 137 and b"(--profile roomy allows 1 GiB)" in done.stderr


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_run_there_is_as_a_run_here(command, name):
    language, code, words = SCRIPTS[name]
    words = ["-l", language, *words, "-"]
    here = command("run", *words, stdin=code.encode(), here="a")
    there = command("run", *command.at, *words, stdin=code.encode(), here="b")
    assert (here.returncode, here.stdout) == (there.returncode, there.stdout), (here, there)
    assert tree(command.folder / "a") == tree(command.folder / "b")

    def shape(text):  # the line of cost has times
        return ["".join(c for c in line if not c.isdigit()) for line in text.decode().splitlines() if " at peak" not in line]

    assert shape(here.stderr) == shape(there.stderr)


@pytest.mark.parametrize("name", ["plain", "error", "files"])
def test_the_json_is_as_here(command, name):
    language, code, words = SCRIPTS[name]
    words = ["--json", "-l", language, *words, "-"]
    here = json.loads(command("run", *words, stdin=code.encode(), here="a").stdout)
    there = json.loads(command("run", *command.at, *words, stdin=code.encode(), here="b").stdout)
    for answer in (here, there):
        for member in ("run_id", "session", "usage"):
            answer.pop(member)
        answer["end"].pop("text")
    assert here.pop("system")["kind"] == "host"  # there /v1/info tells it
    if name == "files":  # they opened the session
        here["session_state"] = "reused"
    assert here == there


def test_no_session_is_left_and_a_named_one_stays(service, command):
    assert command("run", *command.at, "-", stdin=b"1").returncode == 0
    assert service.api.get("/v1/sessions").json["sessions"] == []
    for text in (b"0\n", b"1\n"):
        done = command("run", *command.at, "--session", "mine", "-",
                       stdin=b"import os;print(len(os.listdir()));open('x','w')")
        assert done.stdout == text
    state = ["--state", service.state]
    assert b"mine" in command("session", "ls", *state).stdout
    assert command("files", "put", *state, "mine", "in.csv", "a/b.csv").returncode == 0
    assert command("files", "get", *state, "mine", "a/b.csv", "-o", "-").stdout == b"1,2\n"
    assert b"a/b.csv" in command("files", "ls", *state, "mine").stdout
    assert command("files", "rm", *state, "mine", "a/b.csv").returncode == 0
    assert command("session", "rm", *state, "mine").returncode == 0
    assert command("session", "rm", *state, "mine").returncode == 125


def test_the_policy_of_a_session_that_the_command_opens(service, command):
    state = ["--state", service.state]
    run = ["run", *command.at, "--session", "mine", "--policy"]
    assert command(*run, "kept", "-f", "in.csv", "-", stdin=b"open('made', 'w')").returncode == 0
    shown = command("session", "show", *state, "mine").stdout.decode()
    assert ["policy", "kept"] in [line.split() for line in shown.splitlines()]
    refused = command(*run, "ephemeral", "-", stdin=b"1")
    assert refused.returncode == 125 and b"policy" in refused.stderr
    assert command("session", "rm", *state, "mine").returncode == 0
    assert command("files", "put", *state, "theirs", "in.csv", "--policy", "kept").returncode == 0
    assert json.loads(command("session", "show", *state, "--json", "theirs").stdout)["policy"] == "kept"
    assert command("session", "rm", *state, "theirs").returncode == 0


def test_what_is_missing_there_is_hinted_at(command):
    done = command("run", *command.at, "-", stdin=b"open('sales.csv')")
    assert done.returncode == 1 and b"--file NAME" in done.stderr.splitlines()[-1]
    assert b"--file NAME" not in command("run", *command.at, "-f", "in.csv", "-", stdin=b"open('sales.csv')").stderr
    done = command("run", *command.at, "-", stdin=b"import no_such_package")
    assert b"/v1/info" in done.stderr.splitlines()[-1]
    assert b"--file NAME" not in command("run", *command.at, "--json", "-", stdin=b"open('sales.csv')").stdout


def test_what_a_live_session_lost_is_said(service, command):
    run = ["run", *command.at, "--session", "lively", "--live"]
    assert command(*run, "-", stdin=b"kept_name = 1").returncode == 0
    done = command(*run, "--reset", "-", stdin=b"print('kept_name' in globals())")
    assert done.stdout == b"False\n" and b"the session began anew (requested); lost: kept_name\n" in done.stderr
    assert command("session", "rm", "--state", service.state, "lively").returncode == 0


def test_a_program_stays_executable(service, command):
    tool = command.folder / "tool"
    tool.write_text("#!/bin/sh\necho ran\n")
    tool.chmod(0o755)
    assert command("run", *command.at, "-l", "bash", "-f", tool, "-", stdin=b"./tool").stdout == b"ran\n"


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_cancels_and_still_collects(service, command, form, number):
    here = command.folder / "signal"
    here.mkdir()
    with subprocess.Popen([PROGRAM, "run", *command.at, *form, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, cwd=here) as child:
        child.stdin.write(b"import time;print(1,flush=True);open('x','w').write('kept');time.sleep(20)")
        child.stdin.close()
        rows = until(lambda: [row for row in service.api.get("/v1/sessions").json["sessions"] if row["run_id"]])
        until(lambda: service.api.file(rows[0]["session"], "x").body == b"kept")
        child.send_signal(number)
        assert child.wait(60) == 128 + number
        out = child.stdout.read()
    assert (here / "out" / "x").read_text() == "kept"
    assert json.loads(out)["end"]["reason"] == "cancelled" if form else out == b"1\n"
    assert service.api.get("/v1/sessions").json["sessions"] == []


def test_a_reader_that_leaves_ends_the_run(service, command):
    """Else the run would go on for the 30 s of its profile."""
    done = subprocess.run(f"{PROGRAM} run {' '.join(command.at)} -l bash - | head -1", shell=True, input=b"yes",
                          capture_output=True, timeout=25, check=False)
    assert done.stdout == b"y\n"


def test_the_command_that_is_killed_ends_its_run(service, command):
    child = subprocess.Popen([PROGRAM, "run", *command.at, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    child.stdin.write(b"import time;time.sleep(20)")
    child.stdin.close()
    rows = lambda: service.api.get("/v1/sessions").json["sessions"]  # noqa: E731
    until(lambda: any(row["run_id"] for row in rows()))
    child.kill()
    child.wait()
    until(lambda: not any(row["run_id"] for row in rows()))
    for row in rows():
        service.api.delete(f"/v1/sessions/{row['session']}")


def test_a_taken_name_gets_a_number_over_http_too(command):
    """Nothing of the person's is overwritten by what comes from a server (B6)."""
    out = command.folder / "here/out"
    out.mkdir(parents=True)
    (out / "a.csv").write_text("mine")
    (out / "none").write_text("mine")
    for turn in (2, 3):
        done = command("run", "--json", *command.at, "-", stdin=b"open('a.csv','w').write('x');open('none','w').write('y')")
        saved = {row["path"]: row["saved"] for row in json.loads(done.stdout)["files"]}
        assert saved == {"a.csv": f"out/a ({turn}).csv", "none": f"out/none ({turn})"}
        assert (out / f"a ({turn}).csv").read_text() == "x" and (out / f"none ({turn})").read_text() == "y"
    assert (out / "a.csv").read_text() == (out / "none").read_text() == "mine"


def test_over_the_socket_without_a_token(service, command, tmp_path):
    done = command("run", "--server", f"unix:{service.state}/supervisor.sock", "--state", tmp_path, "-", stdin=b"print(1)")
    assert done.stdout == b"1\n"
    done = command("run", "--server", service.url, "--state", tmp_path, "-", stdin=b"print(1)")
    assert done.returncode == 125 and b"token" in done.stderr


def test_a_terminal_with_sixel_gets_the_picture_made_there(service, command):
    script = command.folder / "chart.py"
    script.write_text("from PIL import Image\nImage.new('RGB', (40, 20), (255, 0, 0))\n")
    shown = on_terminal([PROGRAM, "run", *command.at, str(script)], SIXEL, cwd=command.folder)
    assert shown.status == 0 and shown.is_as_before and b"wrote" in shown.said
    width, height, rows = sixel_draw(shown.out[len(QUESTION):-1])
    assert (width, height) == (40, 20) and set(sum(rows, [])) == {(100, 0, 0)}
    assert service.api.get("/v1/sessions").json["sessions"] == []


def test_each_picture_is_read_in_a_session_of_its_own_that_is_not_kept(service, command):
    """Under `strict`, whatever the run has and the token's sessions are."""
    added = ["token", "add", "--state", service.state, "--tenant", "painter", "--policy", "kept"]
    token = command.folder / "token"
    token.write_text(command(*added).stdout.decode())
    api, seen, stop = service.api.with_token(token.read_text().strip()), {}, threading.Event()

    def look():
        while not stop.wait(0.02):
            seen.update({row["session"]: (row["policy"], row["profile"]) for row in api.get("/v1/sessions").json["sessions"]})

    script = command.folder / "charts.py"
    script.write_text("from PIL import Image\nimport matplotlib.pyplot as plt\nfor i in range(2):\n"
                      "  plt.figure(figsize=(8, 8)); plt.imshow(Image.effect_noise((800, 800), 90 + i))\nplt.show()\n")
    looker = threading.Thread(target=look)
    looker.start()
    at = ["--server", service.url, "--token-file", str(token)]
    shown = on_terminal([PROGRAM, "run", *at, "-p", "roomy", str(script)], SIXEL, cwd=command.folder)
    stop.set()
    looker.join()
    assert shown.status == 0 and shown.out.count(b"\x1bPq") == 2, shown
    pictures = {key: how for key, how in seen.items() if key.startswith("picture-")}
    assert len(pictures) == 2 and set(pictures.values()) == {("ephemeral", "strict")}, seen
    assert ("kept", "roomy") in seen.values()


def test_no_supervisor_has_an_id_that_somebody_may_take(service, tmp_path):
    """It was not looked at who has the id that it goes on as where there is no user cloche."""
    (tmp_path / "subuid").write_text("ann:1879113728:1\n")
    with open("/etc/passwd", encoding="utf-8") as file:
        (tmp_path / "passwd").write_text("".join(line for line in file if not line.startswith("cloche:")))

    def there(*words):
        script = "mount --bind subuid /etc/subuid && mount --bind passwd /etc/passwd && exec \"$@\""
        return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", PROGRAM, *words], cwd=tmp_path, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)

    check, = (row for row in json.loads(there("doctor", "--json").stdout)["checks"] if row["name"] == "supervisor-id")
    assert not check["ok"] and "/etc/subuid" in check["cause"] and "useradd --system cloche" in check["remedy"]
    done = there("up", "--no-assistant", "--state", "state", "--listen", "none")
    assert done.returncode == 125 and "/etc/subuid gives" in done.stderr and "useradd --system cloche" in done.stderr
    (tmp_path / "subuid").write_text("ann:1879048192:2415919103\n")  # and of all the others
    checks = {row["name"]: row for row in json.loads(there("doctor", "--json").stdout)["checks"]}
    assert checks["start"]["cause"].startswith("cannot find a range of subordinate ids: ")
    assert "give all ids from" in checks["start"]["cause"] and checks["start"]["remedy"] == "shorten those lines"
