"""An image of somebody else, who had other ideas of how it is run."""

import json
import shutil

import pytest
from built import built
from harness import Session, assert_success, facts_of, returned_of, until

DOCKERFILE = """
FROM docker.io/{image}
RUN rm -rf /sandbox && mkdir -m 755 /sandbox && mkdir -m 1777 /data && \\
    cp /usr/bin/id /usr/local/bin/who && chmod 4755 /usr/local/bin/who
VOLUME /data
WORKDIR /data
HEALTHCHECK --interval=1s CMD touch /data/healthy
ENTRYPOINT ["/bin/false"]
CMD ["nothing"]
USER daemon
"""


# Its shell and its tools come before those that are there.
BUSYBOX = """
FROM docker.io/{image}
COPY busybox /busybox/
RUN ["/busybox/busybox", "--install", "/busybox"]
ENV PATH=/busybox:/usr/local/bin:/usr/bin:/bin
"""


@pytest.fixture(scope="session")
def image(engine):
    yield from built(engine, DOCKERFILE)


WHO_AND_WHERE = """
import os, time
print(os.getuid(), os.getgid(), os.environ["HOME"], os.getcwd() in ("/sandbox", "/home/sandbox"))
print(os.listdir() != [], os.statvfs("/").f_flag & os.ST_RDONLY != 0)
open("file", "w").write("text")
time.sleep(2.5)
print(os.listdir("/data"))
"""


@pytest.mark.parametrize("mode", ["warm", "plain"])
def test_what_the_image_says_does_not_count(engine, serve, image, mode):
    """Not its user, its entry point, its health check, nor whose /sandbox is."""
    server = serve(engine, "--python-image", image, "--interpreter", mode)
    assert_success(server.call(WHO_AND_WHERE), "65534 65534 /home/sandbox True\nTrue True\n[]")


def test_volume(engine, serve, image):
    """podman makes none. docker's can be written to, and goes with the container."""
    server = serve(engine, "--python-image", image)
    ident = server.start_busy()
    [facts] = json.loads(engine.run("container", "inspect", *server.containers()).stdout)
    volumes = [mount["Name"] for mount in facts["Mounts"] if mount["Type"] == "volume"]
    assert len(volumes) == (engine.name == "docker")
    server.notify("notifications/cancelled", {"requestId": ident})
    server.wait_stopped(ident)
    until(lambda: not set(volumes) & set(engine.run("volume", "ls", "--quiet").stdout.split()), what="it is gone")
    result = server.call("open('/data/new', 'w')")
    assert (facts_of(result)["exit_code"] == 0) == (engine.name == "docker")
    assert engine.name == "docker" or "Read-only file system" in facts_of(result)["stderr"]


BASH = """
FROM docker.io/{image}
RUN ln -sf bash /usr/bin/sh
"""


@pytest.fixture
def with_shell(podman, request):
    dockerfile, files = request.param
    yield from built(podman, dockerfile, *files)


@pytest.mark.parametrize("with_shell, shell", [((BUSYBOX, [shutil.which("busybox")]), "/busybox/sh"),
                                               ((BASH, []), "/usr/bin/bash")],
                         indirect=["with_shell"], ids=["busybox", "bash"])
def test_shells(podman, with_shell, serve, shell):
    """All that the runner does, with a shell and tools that know less, or others."""
    server = serve(podman, "--python-image", with_shell)
    code = """
import os, sys
print(os.path.realpath("/proc/1/exe"), sys.argv[1:], input(), open("dir/in").read())
open("out", "w").write("x" * 5000)"""
    files = [{"path": "dir/in", "text": "given"}, {"path": "other", "text": "y" * 70_000}]
    result = server.call(code, args=["a b", "c"], stdin="line\n", files=files, outputs=["out"])
    assert facts_of(result)["stdout"] == f"{shell} ['a b', 'c'] line given\n", result
    assert returned_of(result) == {"out": b"x" * 5000}
    ends = [facts_of(server.call(f"import os; {end}")) for end in ("os.kill(os.getpid(), 9)", "os._exit(137)")]
    assert [(facts["exit_code"], facts["signal"]) for facts in ends] == [(None, "SIGKILL"), (137, None)]
    session = Session(server, code="import os; x = 1; os.chdir('/tmp')")
    for number in range(2):
        told = session.call("x += 1; x", files=[{"path": f"f{number}", "text": "z" * 70_000}])
        assert told["structuredContent"]["value"] == str(2 + number)
    session.end()


SEEDED = """
FROM docker.io/{image}
RUN mkdir -p /usr/share/code-sandbox/work/d && cd /usr/share/code-sandbox/work && echo a >a.csv && echo b >d/b.csv
"""


@pytest.fixture
def seeded(podman):
    yield from built(podman, SEEDED)


def test_files_of_the_image_do_not_come_back(podman, seeded, serve):
    """Unless they were changed, or asked for."""
    server = serve(podman, "--python-image", seeded)
    result = server.call("print(open('a.csv').read() + open('d/b.csv').read(), end='')")
    assert (facts_of(result)["stdout"], returned_of(result)) == ("a\nb\n", {})
    assert returned_of(server.call("open('a.csv', 'a').write('c')")) == {"a.csv": b"a\nc"}
    assert returned_of(server.call("1", outputs=["d/*"])) == {"d/b.csv": b"b\n"}


SETUID = "import os, subprocess; print(oct(os.stat('/usr/local/bin/who').st_mode), subprocess.getoutput('who -u'))"


def test_setuid_program_gives_nothing(engine, serve, image):
    """It would, without one flag of many."""
    options = ("--python-image", image)
    assert_success(serve(engine, *options).call(SETUID), "0o104755 65534")
    loose = serve(engine, *options, "--loosen", "no-new-privileges")
    assert facts_of(loose.call(SETUID))["stdout"] == "0o104755 0\n"
