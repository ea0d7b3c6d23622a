"""What the gate refuses before anything else sees it, and that nothing of it is handled."""
import os
import time

import pytest

GET = b"GET /ping HTTP/1.1\r\nHost: a\r\n"
POST = b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
MALFORMED = {
    "bare_lf": b"GET /ping HTTP/1.1\nHost: a\n\n",
    "bare_lf_in_the_middle": GET + b"X: 1\nY: 2\r\n\r\n",
    "bare_lf_at_the_end": GET + b"\n",
    "bare_cr": GET + b"X: 1\rY: 2\r\n\r\n",
    "space_before_colon": POST + b"Content-Length : 2\r\n\r\n{}",
    "tab_before_colon": POST + b"Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
    "first_header_with_leading_space": b"GET /ping HTTP/1.1\r\n Host: a\r\n\r\n",
    "folded_header": GET + b"X: 1\r\n 2\r\n\r\n",
    "two_hosts": GET + b"Host: a\r\n\r\n",
    "no_host": b"GET /ping HTTP/1.1\r\n\r\n",
    "empty_host": b"GET /ping HTTP/1.1\r\nHost: \r\n\r\n",
    "two_lengths": POST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "two_different_lengths": POST + b"Content-Length: 2\r\nContent-Length: 50\r\n\r\n{}",
    "list_of_lengths": POST + b"Content-Length: 2, 2\r\n\r\n{}",
    "signed_length": POST + b"Content-Length: +2\r\n\r\n{}",
    "hexadecimal_length": POST + b"Content-Length: 0x2\r\n\r\n{}",
    "huge_length": POST + b"Content-Length: 18446744073709551618\r\n\r\n{}",
    "length_and_chunked": POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked_and_length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
    "chunked_twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "gzip_chunked": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "identity": POST + b"Transfer-Encoding: identity\r\n\r\n",
    "chunked_with_vertical_tab": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "chunked_in_1_0": b"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "other_te": GET + b"TE: gzip\r\n\r\n",
    "other_expectation": GET + b"Expect: magic\r\n\r\n",
    "nul_in_the_target": b"GET /pi\0ng HTTP/1.1\r\nHost: a\r\n\r\n",
    "nul_in_a_value": GET + b"X: a\0b\r\n\r\n",
    "control_in_a_value": GET + b"X: a\x01b\r\n\r\n",
    "delete_in_a_value": GET + b"X: a\x7fb\r\n\r\n",
    "empty_line_first": b"\r\n" + GET + b"\r\n",
    "no_version": b"GET /ping\r\nHost: a\r\n\r\n",
    "other_version": b"GET /ping HTTP/1.2\r\nHost: a\r\n\r\n",
    "http_2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "two_spaces": b"GET  /ping HTTP/1.1\r\nHost: a\r\n\r\n",
    "absolute_form": b"GET http://a/ping HTTP/1.1\r\nHost: a\r\n\r\n",
    "fragment": b"GET /ping#x HTTP/1.1\r\nHost: a\r\n\r\n",
    "raw_bytes_in_the_target": b"GET /\xd0\xb0 HTTP/1.1\r\nHost: a\r\n\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "two_authorizations": GET + b"Authorization: a\r\nAuthorization: b\r\n\r\n",
}
PATHS = ["//ping", "/ping/", "/show//a", "/show/.", "/show/..", "/show/%2e", "/show/%2E%2e", "/show/a%2fb",
         "/show/a%2Fb", "/show/%00", "/show/a%00b", "/show/%", "/show/%4", "/show/%zz", "/files/a/../b",
         "/files/%2e%2e/b", "/files/a%2f..%2fb", "/files/a//b", "/files/", "/show/%ff", "/show/%c0%af",
         "/show/x?a=%00", "/show/x?a=%zz", "/show/x?a=1&a=2"]


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("is_unix", [False, True], ids=["tcp", "unix"])
def test_malformed_is_400(server, name, is_unix):
    before = server.stats()["requests"]
    answer = server.say(MALFORMED[name], is_unix)
    assert (answer.status, answer.problem()) == (400, "bad_request")
    assert answer.headers["connection"] == "close" and "date" in answer.headers
    assert server.stats()["requests"] == before + 1  # the second stats itself


@pytest.mark.parametrize("path", PATHS)
def test_bad_path_is_400(server, path):
    answer = server.get(path)
    assert (answer.status, answer.problem()) == (400, "bad_request")


def test_paths_are_decoded_once_and_by_segment(server):
    (server.files / "a b\xff".encode("latin-1").decode("utf-8", "surrogateescape")).write_text("x")
    assert b"key=a b%2f\n" in server.get("/show/a%20b%252f").body
    assert b"a=1 2&\n" in server.get("/show/x?a=1+2%26&b=").body
    assert server.get("/files/a%20b%ff").body == b"x"
    assert server.get("/files/...").status == 404
    assert server.get("/show/" + "%D0%B0" * 64).status == 200


def test_long_parts(server):
    assert server.get("/files/" + "a" * 4096).status == 404
    assert server.get("/files/" + "a" * 4097).problem() == "uri_too_long"
    assert server.get("/" + "a" * 13311).status == 404
    assert server.get("/" + "a" * 13312).problem() == "uri_too_long"
    assert server.get("/" + "a" * 100000).problem() == "uri_too_long"
    assert server.get("/ping", "X: " + "a" * 16000).status == 200
    assert server.get("/ping", "X: " + "a" * 16384).problem() == "headers_too_large"
    assert server.get("/ping", *["X: 1"] * 99).status == 200
    assert server.get("/ping", *["X: 1"] * 100).problem() == "headers_too_large"


def test_endless_head_is_431(server):
    with server.connect() as s:
        s.sendall(GET)
        try:
            for _ in range(1000):
                s.sendall(b"X: 1\r\n" * 100)
        except OSError:
            pass
        assert b" 431 " in s.recv(4096)


def test_statuses_of_routing(server):
    assert server.get("/nothing").problem() == "not_found"
    answer = server.get("/files/a", method="DELETE")
    assert answer.problem() == "method_not_allowed"
    assert answer.headers["allow"] == "GET, HEAD, PUT"
    assert answer.json()["detail"] == "This path takes GET, HEAD, PUT."
    assert server.get("/ping", method="OPTIONS").status == 405
    assert server.get("/ping", method="BREW").status == 405
    assert server.get("/mute").problem() == "internal"


def test_http_1_0(server):
    answer = server.say(b"GET /ping HTTP/1.0\r\n\r\n")
    assert (answer.status, answer.body) == (200, b"pong\n")


def test_every_cut_of_a_head_waits_for_the_rest(server):
    data = GET + b"X: 1\r\n\r\n"
    for n in range(1, len(data), 7):
        with server.connect() as s:
            s.sendall(data[:n])
            time.sleep(0.01)
            s.sendall(data[n:])
            assert s.recv(4096).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("second", [GET + b"\r\n", b"GET /stats HTTP/1.1\r\n\r\n", b"\0\r\n", MALFORMED["bare_lf"]])
def test_second_request_of_a_connection_is_not_handled(server, second):
    before = server.stats()
    answer = server.say(GET + b"\r\n" + second)
    assert answer.body == b"pong\n" and answer.headers["connection"] == "close"
    body = b"Content-Length: 2\r\n\r\n{}"
    assert server.say(POST + body + second).body == b"{}"
    after = server.stats()
    assert after["requests"] == before["requests"] + 3 and after["refused"] == before["refused"]


def test_dripping_head_is_408(start):
    server = start(head_ms=1000)
    for is_unix in (False, True):
        with server.connect(is_unix) as s:
            try:
                for byte in GET + b"X: " + b"a" * 1000:
                    s.sendall(bytes([byte]))
                    time.sleep(0.02)
            except OSError:
                pass
            assert b" 408 " in s.recv(4096)


def test_silent_connection_is_closed_without_a_word(start):
    server = start(head_ms=300)
    with server.connect() as s:
        assert s.recv(4096) == b""


def test_unix_peer_is_known(server):
    body = server.get("/show/x", is_unix=True).body.decode()
    assert f"unix=1\nuid={os.getuid()}\nadmitted=yes" in body
    assert "unix=0\nuid=-1\n" in server.get("/show/x").body.decode()


def test_headers_of_every_answer(server):
    for answer in (server.get("/ping"), server.get("/nothing"), server.get("/silent?a=1")):
        assert answer.headers["connection"] == "close"
        assert len(answer.headers["x-request-id"]) == 20
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["date"].endswith(" GMT")
        assert not any(name.startswith("access-control") for name in answer.headers)
