"""Attacks of one tenant on another: what is there for one is 404 for all others."""
import os
import socket
import subprocess
import sys

import pytest
from service import PROGRAM, Background, until


def token_add(service, tenant, *options):
    made = subprocess.run([PROGRAM, "token", "add", "--state", service.state, "--tenant", tenant, *options], capture_output=True,
                          text=True, check=True).stdout.strip()
    api = service.api.with_token(made)
    until(lambda: api.get("/v1/info").status == 200)
    return api


@pytest.fixture(scope="module")
def two(service):
    return token_add(service, "alpha"), token_add(service, "beta")


def test_another_tenants_session_cannot_be_told_from_none(two):
    mine, theirs = two
    try:
        assert mine.file("chat", "f", "PUT", b"secret").status == 201
        for method, target in (("GET", ""), ("DELETE", ""), ("GET", "/files"), ("GET", "/files/f"), ("HEAD", "/files/f"), ("DELETE", "/files/f")):
            there = theirs.call(method, "/v1/sessions/chat" + target)
            none = theirs.call(method, "/v1/sessions/nothing" + target)
            assert there.status == none.status == 404 and there.body == none.body
        assert theirs.get("/v1/sessions").json == {"sessions": []}
        assert theirs.answer("chat", "ls", language="bash")["stdout"]["text"] == ""
        assert mine.file("chat", "f").body == b"secret"
    finally:
        mine.delete("/v1/sessions/chat")
        theirs.delete("/v1/sessions/chat")


def test_one_run_id_of_two_tenants_is_two_runs(two):
    mine, theirs = two
    runs = [Background(api.answer, "k", "sleep 20", language="bash", run_id="same") for api in two]
    try:
        for api in two:
            until(lambda api=api: api.get("/v1/sessions/k").status == 200 and api.get("/v1/sessions/k").json["run_id"] == "same")
        assert theirs.call("POST", "/v1/runs/same/cancel", b"").status == 202
        assert runs[1].result()["end"]["reason"] == "cancelled"
        assert mine.get("/v1/sessions/k").json["run_id"] == "same"
        assert theirs.call("POST", "/v1/runs/same/cancel", b"").status == 409
    finally:
        for api in two:
            api.delete("/v1/sessions/k")
        runs[0].result()


def test_a_profile_of_a_token_cannot_be_got_by_another_spelling(service):
    api = token_add(service, "gamma", "--profiles", "strict")
    try:
        assert api.run("p", "true", language="bash", profile="roomy").status == 403
        assert api.file("p", "f", "PUT", b"", "?profile=roomy").status == 403
        for name in ("", "ROOMY", "roomy ", "roomy\n", "x" * 200):
            assert api.run("p", "true", language="bash", profile=name).status == 422
        assert api.get("/v1/sessions").json == {"sessions": []}
    finally:
        api.delete("/v1/sessions/p")


def test_a_profile_of_a_token_cannot_be_got_by_joining_a_session(service):
    """Of the same tenant, opened by a token that may have more."""
    more, less = token_add(service, "epsilon"), token_add(service, "epsilon", "--profiles", "strict")
    try:
        assert more.answer("j", "true", language="bash", profile="roomy")["outcome"] == "ok"
        assert less.run("j", "true", language="bash").status == 403
        assert less.run("j", "true", language="bash", profile="roomy").status == 403
        assert less.file("j", "f", "PUT", b"").status == 403
        assert more.answer("j", "true", language="bash")["session_state"] == "reused"
        assert less.get("/v1/sessions/j").json["profile"] == "roomy"
    finally:
        assert less.delete("/v1/sessions/j").status == 204


def test_the_unix_socket_is_no_way_round_for_another_user(service):
    """Neither without a token nor with a good one."""
    folders = [service.state, *service.state.parents]
    modes = {folder: folder.stat().st_mode for folder in folders}
    for folder in folders:
        os.chmod(folder, modes[folder] | 0o001)
    script = ("import os,socket,sys\nos.setgroups([]);os.setgid(12345);os.setuid(12345)\n"
              "for line in ('', 'Authorization: Bearer '+sys.argv[2]+'\\r\\n'):\n"
              " s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])\n"
              " s.sendall(('GET /v1/info HTTP/1.1\\r\\nHost: localhost\\r\\n'+line+'\\r\\n').encode());print(s.recv(100)[9:12].decode())\n")
    try:
        done = subprocess.run([sys.executable, "-c", script, service.state / "supervisor.sock", service.api.token], capture_output=True,
                              text=True, check=True)
    finally:
        for folder in folders:
            os.chmod(folder, modes[folder])
    assert done.stdout.split() == ["403", "403"]
