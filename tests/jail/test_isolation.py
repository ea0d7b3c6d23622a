"""J1-J4, J12-J14, J18: what a run can see and reach. The attacks on the same walls are in tests/attack."""
import errno
import os

import pytest

pytestmark = pytest.mark.both

FIXED_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/mnt/data", "USER": "sandbox", "LANG": "C.UTF-8", "TZ": "UTC",
    "TMPDIR": "/tmp", "MPLBACKEND": "Agg", "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1", "PYTHON_CPU_COUNT": "1",
}


def test_J1_each_run_is_a_fresh_process_and_leaves_nothing_to_the_next(cloche):
    script = ("import os\nprint(sorted(os.listdir('/tmp')), sorted(os.listdir('/dev/shm')), sorted(os.listdir('.')))\n"
              "for folder in ('/tmp', '/dev/shm', '.'):\n    open(f'{folder}/mark', 'w').write('x')\n"
              "print(os.getpid())\nif os.fork() == 0:\n    os.setsid()\n    import time\n    time.sleep(60)\n")
    first, second = cloche.run(script), cloche.run(script)
    assert first.text.splitlines()[0] == second.text.splitlines()[0] == "[] [] []"
    look = cloche.run("import os\nfor pid in range(2, 500):\n    if pid != os.getpid():\n        try:\n"
                      "            os.kill(pid, 0)\n            print(pid)\n        except ProcessLookupError:\n            pass\n")
    assert look.text == "", "a process of an earlier run is there"


@pytest.mark.parametrize("address", ["1.1.1.1", "10.0.0.1", "169.254.169.254"])
def test_J2_no_network(cloche, checked, address):
    run = cloche.run(f"import socket\nsocket.create_connection(('{address}', 80), 3)\n")
    answer = checked(run)
    assert answer["outcome"] == "error" and answer["error"]["name"] in ("OSError", "PermissionError")
    assert any(os.strerror(code) in answer["error"]["value"] for code in (errno.ENETUNREACH, errno.EPERM))


def test_J2_no_interface_but_loopback(cloche):
    run = cloche.run("import socket\nfor index in range(1, 100):\n    try: print(socket.if_indextoname(index))\n    except OSError: pass\n")
    assert run.text.split() == ["lo"]


def test_J3_no_dns(cloche, checked):
    answer = checked(cloche.run("import socket\nsocket.getaddrinfo('example.com', 80)\n"))
    assert answer["error"]["name"].endswith("gaierror")
    assert answer["usage"]["wall_ms"] < 3000, "a name was asked for somewhere"


def test_J4_uid_and_gid_are_65534(cloche):
    run = cloche.run("import os\nprint(*os.getresuid(), *os.getresgid())\n")
    assert run.text.split() == ["65534"] * 6


@pytest.mark.parametrize("path", ["/usr/x", "/x", "/usr/lib/x", "/etc/x", "/dev/x", "/run/x", "/venv/x"])
def test_J12_system_mounts_are_read_only(cloche, path):
    run = cloche.run(f"try:\n    open({path!r}, 'w')\n    print('written')\nexcept OSError as e:\n    print(e.errno)\n")
    allowed = [errno.EROFS, errno.EACCES] + ([errno.ENOENT] if path == "/venv/x" else [])
    assert int(run.text) in allowed


def test_J13_no_proc(cloche):
    run = cloche.run("import os\nprint(os.path.exists('/proc/self'), os.path.exists('/proc') and os.listdir('/proc') or 'nothing')\n")
    assert run.text == "False nothing\n"


def test_J14_unshare_and_mount_are_denied(cloche):
    script = ("import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
              "print(libc.unshare(0x10000000), ctypes.get_errno())\n"
              "print(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None), ctypes.get_errno())\n")
    run = cloche.run(script)
    assert run.text.splitlines() == [f"-1 {errno.EPERM}"] * 2


def test_J18_environment_is_exactly_the_fixed_list(cloche):
    run = cloche.run("import os, json\nprint(json.dumps(dict(os.environ)))\n")
    import json
    found = json.loads(run.text)
    folders = {"MPLCONFIGDIR": "/mnt/data/.config", "XDG_CACHE_HOME": "/mnt/data/.cache"}
    for name, below in folders.items():
        assert found.pop(name).startswith(below)
    veclib = {"VECLIB_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"} & set(found)
    assert veclib and all(found.pop(name) == "1" for name in veclib)
    assert found == FIXED_ENV


def test_J18_bash_has_the_same_environment(cloche):
    names = {line.split("=")[0] for line in cloche.bash("env\n").text.splitlines()}
    own = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names - own - {"MPLCONFIGDIR", "XDG_CACHE_HOME", "VECLIB_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"} == set(FIXED_ENV)
