"""What a dead server left is removed by the next one; what lives is let be.

Servers decide by machine, boot and process, all in the container's label. The
machines here have names of their own, so that tests side by side do not clear
up after each other.
"""

import os
import signal
import uuid

import pytest
from harness import Server, until

LABEL = "code-sandbox-mcp.owner"


@pytest.fixture
def hostname():
    return f"h{uuid.uuid4().hex[:12]}"


@pytest.fixture
def orphanage(engine):
    """Makes containers by hand, and removes those that are left."""
    made = []

    def make(owner):
        name = f"orphan-{uuid.uuid4().hex}"
        engine.run("create", "--name", name, "--label", f"{LABEL}={owner}", "--network", "none",
                   "--ulimit", "nofile=256:256", "--ulimit", "nproc=4096:4096", engine.python_image, "sleep", "300")
        made.append(name)
        return name

    yield make
    for name in made:
        engine.run("rm", "--force", name, check=False)


def owner_of(server):
    """The label of a container of this server."""
    ident = server.start_busy()
    [name] = server.containers()
    form = '{{index .Config.Labels "%s"}}' % LABEL
    owner = server.engine.run("container", "inspect", "--format", form, name).stdout.strip()
    server.notify("notifications/cancelled", {"requestId": ident})
    return owner


def exists(engine, name):
    return engine.run("container", "inspect", name, check=False).returncode == 0


def test_sweep(engine, orphanage, serve, hostname):
    """Listing the tools is enough. Dead: another boot, or the process number
    is another process now. Left
    alone: a process that lives, another machine, a label that says nothing."""
    living = serve(engine, hostname=hostname)
    owner = owner_of(living)
    machine, boot, namespace, pid, start = owner.split(":")
    dead = [orphanage(f"{machine}:{'0' * 16}:{namespace}:{pid}:{start}"),
            orphanage(f"{machine}:{boot}:{namespace}:{pid}:{int(start) + 1}")]
    kept = [orphanage(owner), orphanage(f"{'0' * 16}:{boot}:{namespace}:4194304:1"), orphanage("nonsense")]
    sweeper = serve(engine, hostname=hostname)
    sweeper.request("tools/list")
    until(lambda: not [name for name in dead if exists(engine, name)], 15, "the orphans are gone")
    assert [name for name in kept if not exists(engine, name)] == []


def test_left_by_a_killed_server_and_its_clis(engine, serve, hostname):
    """With the server frozen its CLI is killed, so that nobody closes the
    container's stdin in time; then the server is killed too."""
    server = Server(engine, hostname=hostname)
    try:
        ident = server.start_busy()
        server.signal(signal.SIGSTOP)
        for cli in server.clis():
            os.kill(cli, signal.SIGKILL)
        server.signal(signal.SIGKILL)
        os.kill(server.process.pid, signal.SIGCONT)  # runuser stops with what it started
        server.wait_exit()
        serve(engine, hostname=hostname).request("tools/list")
        server.wait_stopped(ident)
    finally:
        server.discard()


def test_running_calls_of_another_server_go_on(engine, serve, hostname):
    living = serve(engine, hostname=hostname)
    ident = living.start_busy()
    other = serve(engine, hostname=hostname)
    other.request("tools/list")
    other.call("print('the sweep is over long since')")
    other.close()
    assert living.busy[ident].is_up()
    assert living.containers()
    living.notify("notifications/cancelled", {"requestId": ident})
