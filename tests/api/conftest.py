"""Fixtures: a service for each file of tests, and services of a test's own.

CLOCHE_BIN names another program than build/cloche, such as that of a sanitizer's build.
"""
import itertools
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "support"))

from service import CONTRACT, PROGRAM, SANITIZED, Service, make_pen  # noqa: E402

_keys = itertools.count(1)


def pytest_configure(config):
    config.addinivalue_line("markers", "address_space: not with a sanitizer, which maps more than it has")


def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if SANITIZED and item.get_closest_marker("address_space")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter):
    """Declared responses that no test has seen: not a failure, but a question."""
    unseen = CONTRACT.unseen()
    if CONTRACT.used and unseen:
        terminalreporter.write_line(f"declared in the contract and not seen: {len(unseen)}")
        for line in unseen:
            terminalreporter.write_line("  " + line)


@pytest.fixture(scope="session")
def programs():
    if os.geteuid() != 0:
        pytest.skip("needs root, to make cgroups and to look into other users' processes")
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built")


@pytest.fixture(scope="session")
def contract():
    return CONTRACT


@pytest.fixture
def start(programs, tmp_path):
    """start(option...) is a service of the test's own, ended at the end; nothing may be left of it."""
    made = []

    def start_one(*options, **more):
        pen = make_pen("api")
        try:
            service = Service(pen, tmp_path, *options, **more)
        except BaseException:
            pen.close()
            raise
        made.append(service)
        return service

    yield start_one
    failures = []
    for service in made:
        try:
            service.stop()
        except AssertionError as error:
            failures.append(str(error))
        finally:
            service.pen.close()
    assert not failures, "\n".join(failures)


@pytest.fixture(scope="module")
def service(programs, tmp_path_factory):
    """One for all tests of a file that do not disturb each other."""
    pen = make_pen("api")
    try:
        made = Service(pen, tmp_path_factory.mktemp("api"))
        yield made
        made.stop()
    finally:
        pen.close()


@pytest.fixture
def api(service):
    return service.api


@pytest.fixture
def key(service):
    """A session of the test's own, closed at its end."""
    name = f"test-{next(_keys)}"
    yield name
    assert service.api.delete(f"/v1/sessions/{name}").status in (204, 404)
