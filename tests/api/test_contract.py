"""Responses that the contract declares and no other test brings about. Every response of every test is checked (contract.py)."""
import pytest

ROUTES = [("GET", "/health"), ("GET", "/ready"), ("GET", "/metrics"), ("GET", "/v1/info"), ("GET", "/openapi.yaml"),
          ("GET", "/v1/sessions")]


@pytest.mark.parametrize("method, target", ROUTES)
def test_a_bad_query_is_400_everywhere(api, method, target):
    response = api.call(method, f"{target}?a=%00")
    assert (response.status, response.code) == (400, "bad_request")


def test_bad_keys_and_ids(api):
    for method in ("GET", "DELETE"):
        assert api.call(method, "/v1/sessions/a%20b").status == 400
    assert api.get("/v1/sessions/a%20b/files").status == 400
    assert api.call("POST", "/v1/runs/a%20b/cancel").status in (400, 404)


def test_head_is_get_without_its_bytes(api, key):
    api.file(key, "x", "PUT", b"0123456789")
    get = api.file(key, "x")
    for headers in ({}, {"Range": "bytes=2-4"}, {"Range": "bytes=10-"}):  # RFC 9110: a range is for GET alone
        head = api.file(key, "x", "HEAD", headers=headers)
        assert (head.status, head.body) == (200, b"")
        for name in ("Content-Length", "Content-Type", "ETag", "Content-Disposition"):
            assert head.header(name) == get.header(name), name
    assert api.file(key, "d/" * 2048 + "x", "HEAD").status == 414


def test_uploads_that_are_refused(api, key):
    for query in ("?profile=huge", "?executable=perhaps"):
        response = api.file(key, "x", "PUT", b"1", query)
        assert (response.status, response.code) == (422, "invalid_field") and response.json["field"]
    assert api.get(f"/v1/sessions/{key}/files").status == 404


def test_a_full_home_at_the_start_of_a_run(api, key):
    assert api.answer(key, "head -c 103M /dev/zero > big; true", language="bash")["outcome"] == "ok"
    response = api.run(key, "pass", files=[{"path": "more", "text": "x" * (4 << 20)}])
    assert (response.status, response.code) == (507, "home_full")
    assert api.answer(key, "import os;print(os.path.exists('more'))")["stdout"]["text"] == "False\n"


def test_files_without_a_place(start):
    """429 of the routes of files, and that looking does not open a session."""
    api = start("--max-sessions", "1", "--queue-wait-s", "0").api
    api.answer("holder", "pass")
    response = api.file("other", "x", "PUT", b"1")
    assert (response.status, response.code) == (429, "sandbox_busy") and response.header("Retry-After")
    for method in ("GET", "HEAD", "DELETE"):
        assert api.file("other", "x", method).status in (404, 429)
    assert api.get("/v1/sessions/other").status == 404


def test_every_answer_has_its_id_and_no_cache_keeps_it(api, key):
    seen = set()
    for target in ("/health", "/v1/info", "/v1/sessions", f"/v1/sessions/{key}", "/metrics"):
        response = api.get(target)
        seen.add(response.header("X-Request-Id"))
        assert response.header("X-Content-Type-Options") == "nosniff" and response.header("Cache-Control") == "no-store"
    assert len(seen) == 5 and None not in seen
