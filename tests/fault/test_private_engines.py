"""Real engines in trouble: a daemon and a disk that belong to the test."""

import signal

import pytest
from clock import Clock
from harness import assert_failure, assert_refused, assert_success, text_of, until
from private import IMAGE, PrivateDocker, PrivatePodman

BOTH = pytest.mark.parametrize("kind", [PrivateDocker, PrivatePodman], ids=["docker", "podman"])


@pytest.fixture
def private(request):
    """private(kind, ...) is an engine. At the end nothing may be left in it."""
    opened = []

    def start(kind, *options):
        opened.append(kind(*options))
        opened[-1].open()
        return opened[-1]

    yield start
    for engine in opened:
        try:
            if not hasattr(request.node, "has_failed"):
                engine.assert_nothing_left()
        finally:
            engine.close()


@pytest.fixture
def warm(serve):
    """warm(engine) is a server that has served a call and has a spare."""
    def start(engine, *options, **named):
        server = serve(engine, *options, pool=1, **named)
        assert_success(server.call("echo first"), "first")
        server.wait_for_spares(1)
        return server

    return start


def finish(server):
    """It works again, with a spare and nothing else; then it ends."""
    assert_success(server.call("echo again"), "again")
    server.wait_for_spares(1)
    assert len(server.containers()) == 1
    server.close()


# The daemon.


def test_frozen_daemon(private, warm, tmp_path):
    """Every command hangs, and the code on its way to the spare does as well.
    Each call has its answer in its time, and nothing else waits for them."""
    engine = private(PrivateDocker)
    clock = Clock(tmp_path, monotonic=True)
    server = warm(engine, env=clock.env)
    running = server.start_busy(timeout_seconds=2)
    server.wait_for_spares(1)
    engine.signal(signal.SIGSTOP)
    sent, starting = server.start_call("echo sent"), server.start_call("echo starting")
    assert_failure(server.result(running), stdout="up\n", signal="SIGKILL", timed_out=True, note="stopped after 2.")
    clock.set(50)
    assert server.request("ping", seconds=5)["result"] == {}
    assert server.lines_within(1) == 0
    clock.set(65)
    assert server.request("ping", seconds=5)["result"] == {}
    assert_refused(server.result(sent, 20), f"did not take the code within 60 seconds: {engine.cli} is busy, or hangs")
    assert_refused(server.result(starting, 20), f"did not start within 60 seconds: {engine.cli} is busy, or hangs")
    engine.signal(signal.SIGCONT)
    assert_success(server.call("echo again"), "again")
    # As many spares as there were calls at once, for a while, and nothing else.
    until(lambda: 1 <= len(server.containers()) == len(server.clis()) <= 3, what=lambda: f"{server.containers()}")
    server.close()


@pytest.mark.parametrize("options", [(), ("--live-restore",)], ids=["plain", "live-restore"])
def test_killed_daemon(private, warm, options):
    """The program lives on without it, and is cleared away once it is back."""
    engine = private(PrivateDocker, *options)
    server = warm(engine)
    ident = server.start_busy()
    engine.end(signal.SIGKILL)
    result = server.result(ident)
    words = result["structuredContent"]["stderr"]  # the CLI's own, with a time
    assert_failure(result, stdout="up\n", stderr=words, signal="SIGKILL", note="The container went away")
    assert "error waiting for container: unexpected EOF" in words
    refused = server.call("echo nobody")
    assert_refused(refused, "Cannot connect to the Docker daemon")
    assert "pull" not in text_of(refused)
    engine.start()
    until(lambda: not server.busy[ident].is_up(), 20, "the program is gone")
    finish(server)


def test_restarted_daemon(private, warm):
    engine = private(PrivateDocker)
    server = warm(engine)
    engine.end(signal.SIGTERM)
    engine.start()
    finish(server)


# The disk, the image.


@BOTH
def test_full_disk(private, serve, kind):
    engine = private(kind)
    server = serve(engine)
    assert_success(server.call("echo first"), "first")
    server.wait_idle()
    engine.fill_disk()
    assert_refused(server.call("echo no place"), "The container could not be started", "no space left on device")
    engine.make_space()
    assert_success(server.call("echo again"), "again")
    server.close()


@BOTH
def test_image_removed_under_a_spare(private, warm, kind):
    engine = private(kind)
    server = warm(engine)
    engine.run("rmi", "--force", IMAGE)
    if kind is PrivateDocker:  # podman takes the container away with it
        assert_success(server.call("echo by the spare"), "by the spare")
    assert_refused(server.call("echo no image"), f"The image {IMAGE} is not there and could not be pulled", "make images")
    engine.import_image()
    finish(server)
