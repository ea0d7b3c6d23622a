"""B6: any UTF-8 name of up to 255 bytes goes in, out, and is the same in lists and headers."""
import base64
from urllib.parse import quote, unquote

import pytest

NAMES = {
    "spaces": " two  words .txt", "quotes": "it's \"quoted\" `x` $y.csv", "newline": "line\nbreak\ttab\r.txt",
    "cyrillic": "отчёт за год.xlsx", "emoji": "🦊👨‍👩‍👧 ✅.png", "rtl": "تقرير עברית ‮txt.exe", "cjk": "报告 日本語.pdf",
    "combining": "e\u0301 \u00e9.txt", "percent": "100%25 %2f %00.txt", "signs": "a;b=c&d?e#f+g,h|i\\j<k>l*m.txt",
    "dots": "...", "dash": "-rf", "255 bytes": "é" * 127 + "x", "controls": "\x01\x1b[31m\x7f", "last": "\U0010ffff\ufeff",
    "none": "no_extension", "separators": "a\u2028b\u2029c",
}


def filename_of(header):
    """The name in a Content-Disposition header as a browser reads it: filename* before filename."""
    assert "\n" not in header and "\r" not in header and header.isascii()
    for part in header.split(";"):
        name, _, value = part.strip().partition("=")
        if name.lower() == "filename*":
            charset, _, text = value.split("'", 2)
            assert charset.lower() == "utf-8"
            return unquote(text, errors="strict")
    word = header.partition("filename=")[2]
    return word.strip('"')


@pytest.mark.parametrize("name", NAMES)
def test_B6_a_name_in_and_out(api, key, name):
    text = NAMES[name]
    answer = api.answer(key, "import os,shutil\n(n,)=os.listdir()\nprint(ascii(n))\nos.mkdir('out')\nshutil.copy(n,'out/'+n)",
                        files=[{"path": text, "text": "given"}])
    assert answer["stdout"]["text"] == ascii(text) + "\n"
    assert [(row["path"], row["change"]) for row in answer["files"]] == [(f"out/{text}", "created")]
    assert "path_b64" not in answer["files"][0]
    assert api.file(key, f"put/{text}", "PUT", b"put").status == 201
    rows = api.get(f"/v1/sessions/{key}/files").json["files"]
    assert {row["path"] for row in rows} == {text, f"out/{text}", f"put/{text}"}
    for path, content in ((text, b"given"), (f"out/{text}", b"given"), (f"put/{text}", b"put")):
        response = api.file(key, path)
        assert response.status == 200 and response.body == content
        assert filename_of(response.header("Content-Disposition")) == text
        assert api.file(key, path, "HEAD").header("Content-Disposition") == response.header("Content-Disposition")
    ordered = sorted((row["path"] for row in rows), key=str.encode)
    page = api.get(f"/v1/sessions/{key}/files?limit=1&after={quote(ordered[0], safe='')}").json["files"]
    assert [row["path"] for row in page] == ordered[1:2]
    assert api.file(key, f"put/{text}", "DELETE").status == 204
    events = list(api.stream(key, "import os\n[os.remove('out/'+n) for n in os.listdir('out')]"))
    assert [event.data["path"] for event in events if event.name == "file"] == [f"out/{text}"]


def test_the_longest_path_with_each_byte_encoded(api, key):
    """A request line of 8 KiB was too short for a file that the list shows."""
    path = ("é" * 127 + "x/") * 15 + "é" * 127 + "x"
    assert len(path.encode()) == 4095
    target = f"/v1/sessions/{key}/files/" + "".join(f"%{byte:02X}" for byte in path.encode()).replace("%2F", "/")
    api.answer(key, "pass")
    assert api.call("PUT", target, b"long").status == 201
    assert [row["path"] for row in api.get(f"/v1/sessions/{key}/files").json["files"]] == [path]
    assert api.get(target).body == b"long"
    assert api.call("DELETE", target).status == 204
    assert api.get(target + "%41" * 600).status == 414


def test_B6_a_name_that_is_no_text(api, key):
    answer = api.answer(key, "open(b'a\\xff','w').write('x')")
    (row,) = answer["files"]
    assert base64.b64decode(row["path_b64"]) == b"a\xff" and row["path"] == "a\ufffd"
    response = api.get(f"/v1/sessions/{key}/files/a%ff")
    assert response.body == b"x" and response.header("Content-Disposition").isascii()


@pytest.mark.parametrize("path", ["", ".", "..", "/etc/x", "a/../b", "a//b", "a/", "x" * 256, "a\0b", "d/" * 2048 + "x"])
def test_inline_files_are_checked_as_paths_are(api, key, path):
    response = api.run(key, "pass", files=[{"path": path, "text": ""}])
    assert response.status in (400, 413, 414, 422), response
    if response.status == 422:
        assert response.json["field"]


def test_types_of_files(api, key):
    """An extension is believed; what a page could run is not shown as one."""
    for name in ("a.html", "a.svg", "a.js", "a.txt", "a", "a.png"):
        api.file(key, name, "PUT", b"<script>alert(1)</script>")
        response = api.file(key, name)
        assert response.header("X-Content-Type-Options") == "nosniff"
        assert response.header("Content-Disposition").startswith("attachment")
