"""Command lines of the kind that a model writes in bash, and what must not be in the image."""
import re
import stat
from pathlib import Path


def test_text_tools_of_the_shell(person):
    run = person.bash('''
set -euo pipefail
tail -n +2 sales_ru.csv | awk -F';' '{n[$1] += $4} END {for (c in n) print n[c], c}' | sort -rn | head -1
cut -d';' -f1 sales_ru.csv | sort -u | wc -l
sed -n '2s/;.*//p' sales_ru.csv | tr -d '\\n' | wc -m
grep -c 'Санкт' sales_ru.csv
{ iconv -c -f utf-8 -t cp1251 sales_ru.csv || true; } | file -
printf '%s\\n' b a c | paste -sd, ; seq 3 | xargs -n1 echo n; column -t -s';' sales_ru.csv | head -1 | wc -w
''', ["sales_ru.csv"])
    lines = run.text.split("\n")
    assert lines[0] == "653 Москва" and lines[1] == "5" and lines[2] == "6" and lines[3] == "2"
    assert "ISO-8859" in lines[4] and lines[5] == "b,a,c"


def test_json_numbers_and_dates_of_the_shell(person):
    run = person.bash('''
set -e
echo '{"items":[{"n":1,"s":"а"},{"n":2,"s":"б"}]}' | jq -r '.items[] | select(.n > 1) | .s'
echo 'scale=30; 4*a(1)' | bc -l
date -u -d '2026-03-01 -1 day' +%F
TZ=Asia/Tokyo date -d @0 +%H:%M
printf 'Жук' | xxd | head -1 | cut -c11-24
printf 'abc' | sha256sum | cut -c1-8; numfmt --to=iec 1048576; cal 2>/dev/null | wc -l > /dev/null; echo done
''')
    assert run.text == "б\n3.141592653589793238462643383276\n2026-02-28\n09:00\nd096 d183 d0ba\nba7816bf\n1.0M\ndone\n"


def test_archives_of_the_shell(person):
    run = person.bash('''
set -e
mkdir -p d/e && echo один > d/1.txt && echo два > d/e/2.txt
zip -qr a.zip d; tar czf a.tar.gz d; tar cJf a.tar.xz d; tar --zstd -cf a.tar.zst d
unzip -l a.zip | tail -1; for f in a.tar.*; do tar tf "$f" | wc -l; done
tree --noreport d | head -1; find d -name '*.txt' -exec cat {} + ; printf 'a\\r\\n' > x && dos2unix -q x && od -c x | head -1; diff <<<a - /dev/null | head -1 || true
''')
    assert "4 files" in run.text and run.text.count("\n4\n") >= 1 and "один" in run.text


def test_python_and_bash_together(person):
    assert person.bash('''
python3 - <<'PY' | sort -n | tail -1
for i in range(5): print(i * i)
PY
python3 -m json.tool <<< '{"a":1}' | head -2 | tail -1
''').text == '16\n    "a": 1\n'


def test_locale_time_zones_and_who_one_is(person):
    run = person.bash('echo "$LANG $TZ $(whoami) $HOME $(pwd)"; locale charmap; python3 -c "print(\'Ж\')"; ls /usr/share/zoneinfo/Europe/Moscow')
    assert run.text == "C.UTF-8 UTC sandbox /mnt/data /mnt/data\nUTF-8\nЖ\n/usr/share/zoneinfo/Europe/Moscow\n"


def test_I2_python_is_3_14(person):
    assert person.python("import sys; print(sys.version_info[:2])").text == "(3, 14)\n"


def test_I4_no_package_can_be_installed(person):
    answer = person.run("bash", "for p in pip pip3 apt apt-get dpkg; do command -v $p && echo found; done; python3 -m pip --version; "
                                "touch /usr/local/lib/python3.14/dist-packages/x; touch /usr/local/bin/x; true")
    assert answer["stdout"]["text"] == ""
    assert "No module named pip" in answer["stderr"]["text"]
    assert answer["stderr"]["text"].count("Read-only file system") == 2


def test_I11_every_folder_of_the_set_is_read_only(person):
    run = person.python('''
import os, sys
writable = [p for p in sys.path if p and os.path.isdir(p) and os.access(p, os.W_OK)]
print([p for p in writable if p != "/mnt/data"])
''')
    assert run.text == "[]\n"


def entries(tree):
    """Every file of the image with its lstat."""
    for path in Path(tree).rglob("*"):
        yield path, path.lstat()


def test_nothing_in_the_image_has_rights_of_its_own(tree):
    wrong = [str(path) for path, found in entries(tree)
             if found.st_mode & (stat.S_ISUID | stat.S_ISGID) or found.st_mode & stat.S_IWOTH and not stat.S_ISLNK(found.st_mode)
             or stat.S_ISBLK(found.st_mode) or stat.S_ISCHR(found.st_mode)]
    assert not wrong


def test_etc_tells_nothing_of_this_machine(tree):
    for name in ("hostname", "resolv.conf", "apt", "machine-id", "shadow", "hosts", "pip.conf"):
        assert not (tree / "etc" / name).exists(), name


def test_every_module_of_the_set_is_compiled(tree):
    packages = tree / "usr/local/lib/python3.14/dist-packages"
    for name in ("numpy", "pandas", "matplotlib", "sympy", "sklearn"):
        source = list((packages / name).glob("*.py"))
        compiled = {p.name.split(".")[0] for p in (packages / name / "__pycache__").glob("*.cpython-314.pyc")}
        assert {p.stem for p in source} == compiled, name


def test_I8_every_package_of_the_set_is_used_by_a_script_here():
    here = Path(__file__).resolve().parent
    scripts = "\n".join(path.read_text() for path in here.glob("test_*.py"))
    names = {"scikit-learn": "sklearn", "pillow": "PIL", "python-docx": "docx", "python-pptx": "pptx", "beautifulsoup4": "bs4",
             "opencv-python-headless": "cv2", "pyyaml": "yaml", "fpdf2": "fpdf", "python-dateutil": "dateutil", "python-barcode": "barcode",
             "scikit-image": "skimage", "vl-convert-python": "altair", "python-bidi": "bidi", "ipython": "IPython",
             "manimgx-fonts": "Emoji", "audioop-lts": "pydub"}
    wanted = re.findall(r"^([A-Za-z][\w.-]*)", (here.parents[1] / "image/requirements.in").read_text(), re.M)
    unused = [name for name in wanted if not re.search(rf"\b{re.escape(names.get(name, name.replace('-', '_')))}\b", scripts)]
    assert len(wanted) > 80 and not unused
