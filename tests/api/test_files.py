"""S11, S12, F9: what a session's files may be, and what never leaves it."""
import pytest


@pytest.mark.parametrize("path", ["p", "d/passwd", "d", "d/", "%2e%2e/x", "..", "../x", "./p", "x//y", "%2fetc%2fpasswd",
                                  "d%2fpasswd", "/etc/passwd", "p/.", "s", "s/x"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_S11_no_link_is_followed(api, key, path, method):
    api.answer(key, "ln -s /etc d; ln -s /etc/passwd p; ln -s . s; echo x > x", language="bash")
    response = api.call(method, f"/v1/sessions/{key}/files/{path}")
    assert 400 <= response.status < 500, response
    assert b"root:" not in response.body


def test_S11_a_put_follows_no_link(api, key):
    api.answer(key, "mkdir r; ln -s r d; echo x > r/x; ln -s r/x p", language="bash")
    assert api.file(key, "d/y", "PUT", b"new").status in (404, 409, 422)
    assert api.file(key, "p", "PUT", b"new").status in (201, 204)
    answer = api.answer(key, "cat r/x; cat p; ls r", language="bash")
    assert answer["stdout"]["text"] == "x\nnewx\n"


def test_S12_only_regular_files_are_served(api, key):
    api.answer(key, "import os;os.mkfifo('f');os.mkdir('d')")
    for name in ("f", "d"):
        for method in ("GET", "HEAD"):
            assert 400 <= api.file(key, name, method, timeout=5).status < 500, name


def test_F9_the_list_has_regular_files_only_and_is_bounded(api, key):
    api.answer(key, """
import os
os.mkfifo('f'); os.symlink('x', 'l'); os.mkdir('d')
for i in range(1200): open(f'd/{i:04}', 'w').write('x' * i)
open(b'd/\\xff', 'w')
""")
    first = api.get(f"/v1/sessions/{key}/files").json
    assert len(first["files"]) == 1000 and first["next"] == "d/0999"
    second = api.get(f"/v1/sessions/{key}/files?after=d/0999").json
    assert len(second["files"]) == 201 and second["next"] is None
    assert second["files"][-1]["path_b64"] == "ZC//"
    assert first["files"][7]["size"] == 7
    paths = [file["path"] for file in first["files"] + second["files"][:-1]]
    assert paths == [f"d/{i:04}" for i in range(1200)]
    some = api.get(f"/v1/sessions/{key}/files?limit=3&after=d/0001").json
    assert [file["path"] for file in some["files"]] == ["d/0002", "d/0003", "d/0004"]
    for query in ("limit=0", "limit=1001", "limit=x", "limit=-1"):
        assert api.get(f"/v1/sessions/{key}/files?{query}").status == 422
    wrong = api.get(f"/v1/sessions/{key}/files?lmit=1")
    assert (wrong.status, wrong.json["field"]) == (422, "lmit") and "limit, after" in wrong.json["detail"]


def test_a_query_that_nobody_reads_is_refused(api, key):
    """policy=kept in the address of a run, which reads its body alone, would make a session that is not kept."""
    for method, path in (("POST", f"sessions/{key}/run"), ("POST", f"sessions/{key}/stop"), ("DELETE", f"sessions/{key}"),
                         ("GET", f"sessions/{key}"), ("GET", "sessions"), ("GET", f"sessions/{key}/files/a"), ("GET", "info"),
                         ("GET", f"sessions/{key}/export"), ("DELETE", f"sessions/{key}/files/a"), ("POST", "runs/a/cancel")):
        wrong = api.call(method, f"/v1/{path}?policy=kept", b'{"code": "1"}' if path.endswith("run") else b"")
        assert (wrong.status, wrong.json["field"]) == (422, "policy"), path
    assert api.get(f"/v1/sessions/{key}").status == 404
    assert api.get("/ready?x=1").status == 200  # who asks whether we live may say what they like


def test_a_misspelt_query_opens_nothing(api, key):
    for path, field in ("files/a?polcy=kept", "polcy"), ("files/a?executable=true&%FF=", "?"), ("import?executable=true", "executable"):
        wrong = api.call("PUT", f"/v1/sessions/{key}/{path}", body=b"x")
        assert (wrong.status, wrong.json["field"]) == (422, field)
    assert api.get(f"/v1/sessions/{key}").status == 404


def test_put_get_head_delete(api, key):
    assert api.file(key, "a b/é.bin", "PUT", b"\0" * 1000).status == 201
    assert api.file(key, "a b/é.bin", "PUT", b"\1" * 2000).status == 204
    head = api.file(key, "a b/é.bin", "HEAD")
    assert head.status == 200 and head.header("Content-Length") == "2000" and head.body == b""
    assert api.file(key, "a b/é.bin").body == b"\1" * 2000
    answer = api.answer(key, "import os;print(os.path.getsize('a b/é.bin'))")
    assert answer["stdout"]["text"] == "2000\n"
    assert api.file(key, "a b/é.bin", "DELETE").status == 204
    assert api.file(key, "a b/é.bin", "DELETE").status == 404
    assert api.file(key, "a b/é.bin").status == 404


@pytest.mark.parametrize("given, status, body, content_range", [
    ("bytes=0-0", 206, b"0", "bytes 0-0/10"),
    ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
    ("bytes=7-", 206, b"789", "bytes 7-9/10"),
    ("bytes=-2", 206, b"89", "bytes 8-9/10"),
    ("bytes=5-100", 206, b"56789", "bytes 5-9/10"),
    ("bytes=10-", 416, None, "bytes */10"),
    ("lines=1-2", 200, b"0123456789", None),
    ("bytes=4-2", 200, b"0123456789", None),
])
def test_ranges(api, key, given, status, body, content_range):
    api.file(key, "x", "PUT", b"0123456789")
    response = api.file(key, "x", headers={"Range": given})
    assert response.status == status and response.header("Content-Range") == content_range
    assert body is None or response.body == body


def test_a_put_that_is_too_large_for_the_home(api, key):
    response = api.file(key, "big", "PUT", b"x" * (101 * 1024 * 1024), timeout=120)
    assert (response.status, response.code) == (507, "home_full")
    assert api.get(f"/v1/sessions/{key}/files").json["files"] == []
