import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import pytest  # noqa: E402

pytest.register_assert_rewrite("http_server", "schema", "wire")

from fixtures import *  # noqa: E402, F401, F403
from clock import Clock  # noqa: E402
import npm  # noqa: E402
from harness import BINARY, ROOT, SANITIZED, Engine, until  # noqa: E402
from http_server import HttpServer  # noqa: E402
from schema import Validator  # noqa: E402

PACKAGES = ("yyjson", "libbsd", "libevent_core", "libevent_extra")


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


@pytest.fixture(scope="session")
def fixture_server(tmp_path_factory):
    """Compiled against the library beside the program under test."""
    build = BINARY.parent
    sources = [str(path) for path in sorted((HERE / "fixture").glob("*.c"))]
    library = build / "libcode-sandbox.a"
    if not library.exists():
        pytest.skip(f"{library} is not there: make builds it")
    program = tmp_path_factory.mktemp("fixture") / "fixture-server"

    def flags(kind):
        done = subprocess.run(["pkg-config", kind, *PACKAGES], check=True, capture_output=True, text=True)
        return done.stdout.split()

    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if SANITIZED else []
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", *sanitize,
                    "-D_GNU_SOURCE", '-DVERSION="0"', f"-I{ROOT}/src", f"-I{build}", *flags("--cflags"), "-o",
                    str(program), *sources, str(library), *flags("--libs"), "-lresolv"],
                   check=True, timeout=120)
    return program


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
    def start(*options):
        clock = Clock(tmp_path, monotonic=True)
        server = serve_http(fake(), *options, env=clock.env)

        def pass_seconds(seconds):
            # A request wakes it up, and is answered after what was there before.
            assert server.get("/healthz").status == 200
            clock.set(clock.seconds + seconds)
            assert server.get("/healthz").status == 200

        server.pass_seconds = pass_seconds
        return server

    return start
