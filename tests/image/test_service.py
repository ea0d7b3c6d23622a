"""`cloche up` with the image: /v1/info lists what is inside, and Python runs start as copies of interpreters of the image."""
import http.client
import json
import re
import socket
import subprocess
import time

import pytest
from image_cache import PROGRAM


class Local(http.client.HTTPConnection):
    """HTTP over the unix socket of a service, whose admin root is."""

    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Service:
    def __init__(self, state):
        self.socket = state / "supervisor.sock"

    def call(self, method, target, body=None):
        connection = Local(self.socket)
        connection.request(method, target, json.dumps(body) if body else None, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        assert answer.status in (200, 204), data
        return data

    def info(self):
        return json.loads(self.call("GET", "/v1/info"))

    def info_when(self, condition):
        deadline = time.monotonic() + 120
        while not condition(info := self.info()):
            assert time.monotonic() < deadline, info
            time.sleep(0.1)
        return info

    def copies(self):
        """Runs so far that were copies, by the kind of the interpreter."""
        text = self.call("GET", "/metrics").decode()
        return {kind: int(n) for kind, n in re.findall(r'cloche_zygote_runs_total\{kind="(\w+)"\} (\d+)', text)}

    def run(self, key, code):
        answer = json.loads(self.call("POST", f"/v1/sessions/{key}/run", {"language": "python", "code": code}))
        assert (answer["outcome"], answer["stderr"]["text"]) == ("ok", ""), answer
        return answer


@pytest.fixture(scope="module")
def service(tree, tmp_path_factory):
    state = tmp_path_factory.mktemp("service") / "state"
    child = subprocess.Popen([PROGRAM, "up", "--state", state, "--listen", "none", "--rootfs", tree, "--log-level", "warning"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline().startswith("ready "), child.stderr.read()
        yield Service(state)
    finally:
        child.terminate()
        child.communicate(timeout=30)


def test_info_lists_languages_packages_and_fonts(service, tree):
    info = service.info_when(lambda info: info["packages"])  # found out after the service is ready
    listed = json.loads((tree / "usr/share/cloche/image.json").read_text())
    assert info["languages"] == listed["languages"]
    assert {p["name"]: p["version"] for p in info["packages"]} == {p["name"]: p["version"] for p in listed["packages"]}
    assert info["image"] == listed["id"]
    assert info["fonts"] == listed["fonts"] and len(info["fonts"]) > 100


@pytest.fixture
def warm(service):
    """The service with both interpreters of the image prepared, and none of what they are to load absent."""
    info = service.info_when(lambda info: info["packages"] and all(zygote["state"] == "serving" for zygote in info["warm"].values()))
    assert info["warm"]["small"]["absent"] == [] and info["warm"]["data"]["absent"] == []
    return service


def test_runs_in_the_image_have_their_pages_ahead(warm):
    """What was learnt of the image's Python, which is another one than the machine's."""
    told = warm.info()["warm"]
    for kind, least, most in ("small", 100, 512), ("data", 200, 1024):
        assert (told[kind]["lesson_failure"], told[kind]["last_failure"]) == (None, None)
        assert least < told[kind]["hot_pages"] <= most, told


WARM = {
    "print": ("small", "import sys, json\nprint(json.dumps({'version': sys.version_info[:2], 'sum': sum(range(10))}))", '{"version": [3, 14], "sum": 45}\n'),
    "exact": ("small", "from fractions import Fraction\nfrom zoneinfo import ZoneInfo\nprint(Fraction(1, 3) + 1, ZoneInfo('Asia/Tokyo'))", "4/3 Asia/Tokyo\n"),
    "table": ("data", "import pandas as pd\nprint(pd.DataFrame({'a': [1, 2]}).a.mean())", "1.5\n"),
    "chart": ("data", "import pandas as pd, matplotlib.pyplot as plt\npd.Series([1, 3, 2], name='Выручка').plot(title='Жук 你好 مرحبا नमस्ते 🚀')\nplt.show()", ""),
}


@pytest.mark.parametrize("name", WARM)
def test_a_run_is_a_copy_of_an_interpreter_of_the_image(warm, name):
    """The first run of a session may come before its spare has a copy; the second finds one."""
    kind, code, expected = WARM[name]
    before = warm.copies()
    answers = [warm.run(f"warm-{name}", code) for _ in range(2)]
    assert all(answer["stdout"]["text"] == expected for answer in answers)
    assert warm.copies()[kind] > before[kind]
    if name == "chart":
        assert [result["path"] for result in answers[1]["results"]] == ["figure-2.png"]
        picture = warm.call("GET", f"/v1/sessions/warm-{name}/files/figure-2.png")
        assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
    warm.call("DELETE", f"/v1/sessions/warm-{name}")
