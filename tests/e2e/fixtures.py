"""What the conftest.py of each directory takes over: fixtures and strictness."""

import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

pytest.register_assert_rewrite("harness", "fake")

import harness  # noqa: E402
from fake import FakeEngine  # noqa: E402
from harness import Engine, Server, Session  # noqa: E402
from index import open_index  # noqa: E402

# For those that we start, also in a run that was started with nohup.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

ENGINE_NAMES = os.environ.get("ENGINES", "podman,rootless,docker").split(",")


def load_engine(name):
    try:
        return Engine.load(name)
    except FileNotFoundError:
        pytest.skip(f"engine {name} is not up: tests/engines up {harness.ENGINES}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """With STRICT=1 nothing may be left out without a word."""
    report = (yield).get_result()
    if report.failed:
        item.has_failed = True
    if report.skipped and os.environ.get("STRICT") == "1" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"STRICT=1, and this test was skipped: {call.excinfo.value}"


def has_limits(name):
    """As root they all do: a probe that went wrong must not leave them out."""
    try:
        return name != "rootless" or Engine.load(name).limits
    except FileNotFoundError:
        return True  # the test itself will say that it is not up


def pytest_generate_tests(metafunc):
    """engine: each of them. limited_engine: those that enforce limits."""
    if "engine" in metafunc.fixturenames:
        metafunc.parametrize("engine", ENGINE_NAMES, indirect=True, scope="session")
    if "limited_engine" in metafunc.fixturenames:
        names = [name for name in ENGINE_NAMES if has_limits(name)]
        metafunc.parametrize("limited_engine", names, indirect=True, scope="session")


# Each starts twenty containers and more at once: one after another, because two
# of them together keep an engine busy for longer than any test waits.
crowd = pytest.mark.xdist_group("crowd")

# Of tests that take long, one that comes last has all others wait for it.
LONG = ("test_load.py", "test_private_engines.py", "test_clients.py")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture(scope="session")
def engine(request):
    return load_engine(request.param)


@pytest.fixture(scope="session")
def limited_engine(request):
    return load_engine(request.param)


@pytest.fixture(scope="session")
def podman():
    """For what does not depend on the engine."""
    return load_engine("podman")


@pytest.fixture(scope="session")
def docker():
    """For what only its client does."""
    return load_engine("docker")


@pytest.fixture(scope="session")
def runsc(tmp_path_factory):
    """gVisor's runtime, as podman can use it without a network: otherwise it
    takes an empty one for the host's own, and refuses."""
    path = shutil.which("runsc") or pytest.skip("runsc is missing: scripts/setup test")
    runtime = tmp_path_factory.mktemp("gvisor") / "runsc"
    runtime.write_text(f'#!/bin/sh\nexec {path} --network=none "$@"\n')
    runtime.chmod(0o755)
    return str(runtime)


@pytest.fixture
def serve(request):
    """serve(engine, *options) starts a server; what is open at the end is closed
    in good order, with all that must hold then, unless the test has failed."""
    started = []

    def start(engine, *options, **named):
        server = Server(engine, *options, **named)
        started.append(server)
        return server

    yield start
    try:
        for server in started:
            if server.process.poll() is None and not hasattr(request.node, "has_failed"):
                server.close()
    finally:
        for server in started:
            server.discard()


@pytest.fixture
def begin():
    """begin(server, tool) is a session; what is left of them at the end is ended."""
    begun = []

    def start(server, *what, **named):
        begun.append(Session(server, *what, **named))
        return begun[-1]

    yield start
    for session in begun:
        if session.server.process.poll() is None:
            session.end()


def one_for_many(engine, *options, **named):
    """A server for tests that leave it as they found it."""
    server = Server(engine, *options, **named)
    yield server
    try:
        server.close()
    finally:
        server.discard()


@pytest.fixture(scope="session")
def shared(engine):
    yield from one_for_many(engine, "--max-output", "8m", pool=1)


@pytest.fixture(scope="session")
def podman_shared(podman):
    yield from one_for_many(podman, pool=1)


@pytest.fixture(scope="session")
def noshell(engine):
    """On an image without a shell; the first call finds that out."""
    yield from one_for_many(engine, "--python-image", engine.noshell_image)


@pytest.fixture
def fake(tmp_path):
    """fake("mode ...", name="docker") is an engine that behaves like that."""
    made = []

    def make(mode="ok", name="podman"):
        made.append(FakeEngine(tmp_path / f"engine-{len(made)}", mode, name))
        return made[-1]

    return make


@pytest.fixture
def plain(fake, serve):
    """A server on a faithful fake engine, for what is not about engines."""
    return serve(fake())


@pytest.fixture
def fake_engine(fake):
    return fake()


@pytest.fixture(scope="session")
def index():
    """Variables of a package index."""
    with open_index() as variables:
        yield variables


@pytest.fixture
def place():
    """A directory in which any user can read and write."""
    with tempfile.TemporaryDirectory(prefix="csm-") as directory:
        os.chmod(directory, 0o777)
        yield Path(directory)


@pytest.fixture
def program():
    """Writes a program where any user can read it."""
    with tempfile.TemporaryDirectory(prefix="csm-") as directory:
        os.chmod(directory, 0o755)

        def write(text, name="program.py"):
            path = Path(directory, name)
            path.write_text(text)
            return path

        yield write
