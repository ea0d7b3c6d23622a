"""`cloche up` with the image: /v1/info lists what is inside."""
import http.client
import json
import socket
import subprocess
import time

from image_cache import PROGRAM


class Local(http.client.HTTPConnection):
    """HTTP over the unix socket of a service, whose admin root is."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def test_info_lists_languages_packages_and_fonts(tree, tmp_path):
    state = tmp_path / "state"
    child = subprocess.Popen([PROGRAM, "up", "--state", state, "--listen", "none", "--rootfs", tree, "--log-level", "warning"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline().startswith("ready "), child.stderr.read()
        info = {"packages": []}
        deadline = time.monotonic() + 60
        while not info["packages"]:  # found out after the service is ready
            assert time.monotonic() < deadline
            time.sleep(0.1)
            connection = Local(state / "supervisor.sock")
            connection.request("GET", "/v1/info")
            info = json.loads(connection.getresponse().read())
            connection.close()
    finally:
        child.terminate()
        child.communicate(timeout=30)
    listed = json.loads((tree / "usr/share/cloche/image.json").read_text())
    assert info["languages"] == listed["languages"]
    assert {p["name"]: p["version"] for p in info["packages"]} == {p["name"]: p["version"] for p in listed["packages"]}
    assert info["image"] == listed["id"]
    assert info["fonts"] == listed["fonts"] and len(info["fonts"]) > 100
