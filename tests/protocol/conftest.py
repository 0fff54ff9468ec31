import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import pytest  # noqa: E402

pytest.register_assert_rewrite("http_server", "schema", "wire")

from fixtures import *  # noqa: E402, F401, F403
import npm  # noqa: E402
from harness import Engine  # noqa: E402
from http_server import HttpServer  # noqa: E402
from schema import Validator  # noqa: E402


@pytest.fixture(scope="session")
def podman():
    """As tests/engines has set it up; or as it is on this machine."""
    try:
        return Engine.load("podman")
    except FileNotFoundError:
        cli = shutil.which("podman")
    if cli is None:
        pytest.skip("podman is not there: scripts/setup engine installs it")
    return Engine({"name": "podman", "cli": cli, "env": {}, "prefix": [], "network": True, "limits": True,
                   "bin_dir": "", "python_image": "", "js_image": ""})


@pytest.fixture(scope="session")
def tools():
    """The third-party programs, installed as the lock file says."""
    return npm.install()


@pytest.fixture(scope="session")
def validator(tools):
    """Says what is wrong with a message, by the schema of its revision."""
    validator = Validator(tools)
    yield validator
    validator.close()


@pytest.fixture
def serve_http(validator):
    """serve_http(engine, *options) starts a server; at the end it is closed in
    good order, and all that it said is held against the schemas."""
    started = []

    def start(engine, *options, **named):
        server = HttpServer(engine, *options, **named)
        started.append(server)
        return server

    yield start
    try:
        for server in started:
            if server.process.poll() is None:
                server.close()
        for server in started:
            server.transcript.assert_valid(validator)
    finally:
        for server in started:
            server.discard()


@pytest.fixture
def http(fake, serve_http):
    """A server on a faithful fake engine, for what is not about engines."""
    return serve_http(fake())
