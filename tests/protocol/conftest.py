import glob
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import pytest  # noqa: E402

pytest.register_assert_rewrite("http_server", "schema", "wire")

from fixtures import *  # noqa: E402, F401, F403
import npm  # noqa: E402
from harness import Engine, until  # noqa: E402
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


@pytest.fixture
def program(tmp_path):
    """Code that says when it is up, waits to be let go, and says that it was."""
    class Program:
        def __init__(self):
            self.up, self.go, self.done = (tmp_path / name for name in ("up", "go", "done"))
            self.code = ("import os, time\n"
                         f"open('{self.up}', 'w').write(str(os.getpid()))\n"
                         f"while not os.path.exists('{self.go}'): time.sleep(0.02)\n"
                         f"open('{self.done}', 'w')\nprint('done')")

        def wait_up(self):
            until(lambda: self.up.exists() and self.up.read_text(), what="the program is up")

        def wait_gone(self):
            """It was ended before it was let go."""
            until(lambda: not Path("/proc", self.up.read_text()).exists(), what="the program is gone")
            assert not self.done.exists()

        def let_go(self):
            self.go.touch()

    return Program()


@pytest.fixture
def timed(fake, serve_http, tmp_path):
    """timed(*options) starts a server for which time passes when
    server.pass_seconds() says so, too, and all that is due is done."""
    library = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None) or pytest.skip("no libfaketime")
    clock, ahead = tmp_path / "clock", 0

    def set_forward(seconds):
        nonlocal ahead
        ahead += seconds
        fresh = clock.with_suffix(".new")
        fresh.write_text(f"+{ahead}")
        fresh.replace(clock)

    def start(*options):
        set_forward(0)
        server = serve_http(fake(), *options, env={
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
            "ASAN_OPTIONS": "verify_asan_link_order=0"})

        def pass_seconds(seconds):
            # A request wakes it up, and is answered after what was there before.
            assert server.get("/healthz").status == 200
            set_forward(seconds)
            assert server.get("/healthz").status == 200

        server.pass_seconds = pass_seconds
        return server

    return start
