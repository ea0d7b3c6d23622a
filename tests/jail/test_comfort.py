"""B9, B10 and what else scripts expect of a computer: folders, locale, time zone, multiprocessing, line ends."""
import pytest

pytestmark = pytest.mark.both


def test_B9_folders_are_writable(cloche):
    run = cloche.run("import os\nfor path in ('/dev/shm', os.environ['TMPDIR'], os.environ['HOME'], os.environ['MPLCONFIGDIR'], "
                     "os.environ['XDG_CACHE_HOME']):\n    os.makedirs(path, exist_ok=True)\n    open(path + '/x', 'w').write('x')\n"
                     "print('ok')\n")
    assert run.text == "ok\n"


def test_B9_caches_are_no_results(cloche):
    run = cloche.run("import os\nfor name in ('MPLCONFIGDIR', 'XDG_CACHE_HOME'):\n    os.makedirs(os.environ[name], exist_ok=True)\n"
                     "    open(os.environ[name] + '/cache.json', 'w').write('{}')\nopen('result.txt', 'w').write('r')\n")
    assert run.changes() == {"result.txt": "created"}
    assert run.files() == {"result.txt": b"r"}


def test_B9_text_is_utf_8(cloche):
    run = cloche.run("import locale, sys\nprint(sys.stdout.encoding, locale.getpreferredencoding(), 'Ж', open('ж.txt', 'w').encoding)\n")
    assert run.text.split() == ["utf-8", "UTF-8", "Ж", "UTF-8"] or run.text.lower().split() == ["utf-8", "utf-8", "ж", "utf-8"]
    assert cloche.bash("x=Жук; echo ${#x}\n").text == "3\n"


def test_B9_time_zone_is_utc_or_as_asked(cloche):
    script = "import time\nprint(time.strftime('%Z %H', time.localtime(1700000000)))\n"
    assert cloche.run(script).text == "UTC 22\n"
    assert cloche.run(script, env=["TZ=Asia/Tokyo"]).text == "JST 07\n"


def test_B9_a_process_pool_works(cloche):
    run = cloche.run("import multiprocessing\n\ndef square(x):\n    return x * x\n\nif __name__ == '__main__':\n"
                     "    with multiprocessing.Pool(2) as pool:\n        print(pool.map(square, range(5)))\n")
    assert run.text == "[0, 1, 4, 9, 16]\n", run.explain()


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_B9_a_process_pool_works_with_other_start_methods(cloche, method):
    run = cloche.run("import multiprocessing\n\ndef square(x):\n    return x * x\n\nif __name__ == '__main__':\n"
                     f"    with multiprocessing.get_context('{method}').Pool(2) as pool:\n        print(pool.map(square, [3]))\n")
    assert run.text == "[9]\n", run.explain()


def test_B10_bash_with_crlf_line_ends(cloche):
    run = cloche.bash("if true; then\r\n  echo yes\r\nfi\r\nfor x in a b; do\r\n  echo $x\r\ndone\r\n")
    assert run.text == "yes\na\nb\n" and run.status == 0


def test_B10_python_and_data_files_are_left_alone(cloche):
    data = cloche.file("data.csv", b"a;b\r\n1;2\r\n")
    run = cloche.run("text = '''x\r\ny'''\r\nprint(len(open('data.csv', 'rb').read()), "
                     "open('/run/cloche/main.py', 'rb').read().count(b'\\r\\n'))\r\n", files=[data])
    assert run.text == "10 3\n"


def test_scripts_run_in_a_real_main_module(cloche):
    run = cloche.run("import sys\nif __name__ == '__main__':\n    print(sys.modules['__main__'].__file__, sys.path[0])\n")
    assert run.text == "/run/cloche/main.py /mnt/data\n"


def test_an_own_module_can_be_imported(cloche):
    module = cloche.file("mine.py", "def answer():\n    return 42\n")
    assert cloche.run("import mine\nprint(mine.answer())\n", files=[module]).text == "42\n"


def test_threads_subprocesses_and_sockets_work(cloche):
    run = cloche.run("import subprocess, threading, socket, tempfile, sqlite3\n"
                     "t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n"
                     "print(subprocess.run(['bash', '-c', 'echo shell'], capture_output=True, text=True).stdout, end='')\n"
                     "a, b = socket.socketpair(); a.send(b'socket\\n'); print(b.recv(9).decode(), end='')\n"
                     "tempfile.TemporaryFile().write(b'x')\n"
                     "db = sqlite3.connect('x.db'); db.execute('create table t(x)'); db.commit(); print('database')\n")
    assert run.text.splitlines() == ["thread", "shell", "socket", "database"], run.explain()


def test_bash_pipes_and_here_documents_work(cloche):
    run = cloche.bash("cat <<END | tr a-z A-Z\nhere\nEND\nseq 3 | paste -sd+ | bc 2>/dev/null || seq 3 | wc -l\necho $((6*7))\n")
    assert run.text.splitlines()[0] == "HERE" and run.text.splitlines()[-1] == "42"
