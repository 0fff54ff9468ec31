"""Engines of a test's own, to be broken: a docker daemon and a podman, each in
namespaces that take everything with them when they end.

Their only image is tiny, and its "Python" is the shell: programs are sh.
"""

import io
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from harness import (MARK, Engine, Sleeper, children_of, command_line, is_alive, is_first_process, link_of, processes,
                     read_proc, until)

IMAGE = "localhost/tiny:latest"
SHELL_TOOLS = ("sh", "cp", "head", "mkfifo", "rm", "sleep")
PYTHON = b'#!/bin/sh\nfor last; do :; done\nexec sh "$last"\n'
OPTIONS = ("--python-image", IMAGE, "--interpreter", "plain", "--pass-through-env", MARK)
DATA = "/var/lib/containers"


def write_image(path):
    with tarfile.open(path, "w") as archive:
        def add(name, mode, data=None, **more):
            entry = tarfile.TarInfo(name)
            entry.mode, entry.size = mode, len(data or b"")
            for key, value in more.items():
                setattr(entry, key, value)
            archive.addfile(entry, io.BytesIO(data) if data else None)

        add("bin", 0o755, type=tarfile.DIRTYPE)
        add("bin/busybox", 0o755, Path(shutil.which("busybox")).read_bytes())
        add("bin/python3", 0o755, PYTHON)
        for name in SHELL_TOOLS:
            add(f"bin/{name}", 0o777, type=tarfile.SYMTYPE, linkname="busybox")


class ShellSleeper(Sleeper):
    def __init__(self):
        super().__init__()
        self.code = f"echo up; exec sh -c 'sleep 300; :' {self.name}"


class Namespaces:
    """A place with file systems of its own. What runs in it ends with it."""

    def __init__(self, *kinds, sizes):
        mounts = " && ".join(f"mkdir -p {path} && mount -t tmpfs -o size={size} tmpfs {path}"
                             for path, size in sizes.items())
        self.holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", *kinds,
             "sh", "-c", f"{mounts} && while :; do sleep infinity & wait; done"])  # a shell reaps orphans
        self.own = until(self.find_own, 10, "the namespaces are up")
        self.first = self.own[1]

    def find_own(self):
        for first in children_of(self.holder.pid):
            for child in children_of(first):
                if command_line(child) == ["sleep", "infinity"]:
                    return [self.holder.pid, first, child]
        return None

    def enter(self, *kinds):
        return ["nsenter", f"--target={self.first}", "--mount", *kinds, "--"]

    def path(self, path):
        """As seen from here."""
        return Path(f"/proc/{self.first}/root{path}")

    def members(self):
        place = link_of(f"/proc/{self.first}/ns/mnt")
        return [pid for pid in processes() if link_of(f"/proc/{pid}/ns/mnt") == place and is_alive(pid)]

    def mounts(self):
        return [line.split()[4] for line in read_proc(self.first, "mountinfo").decode().splitlines()]

    def close(self):
        self.holder.kill()
        self.holder.wait()


class PrivateEngine(Engine):
    """What it stores has 64 MB."""

    sleeper = ShellSleeper

    def __init__(self, name, *kinds):
        self.directory = Path(tempfile.mkdtemp(prefix="csm-"))
        self.inside = Namespaces(*kinds, sizes={"/run": "64m", "/dev/shm": "64m", DATA: "64m"})
        super().__init__({"name": name, "cli": shutil.which(name), "env": {}, "prefix": [], "network": False,
                          "limits": True, "bin_dir": self.directory, "python_image": IMAGE, "js_image": IMAGE})

    def open(self):
        self.import_image()
        self.mounts_of_its_own = self.inside.mounts()

    def command(self, *options, **named):
        return super().command(*OPTIONS, *options, **named)

    def import_image(self):
        archive = self.directory / "image.tar"
        write_image(archive)
        self.run("import", str(archive), IMAGE)

    def waits_for_code(self, pid):
        """The runner, whose shell polls before it reads: x86-64 and arm64."""
        return is_first_process(pid) and read_proc(pid, "syscall").split()[:1] in ([b"7"], [b"73"])

    def fill_disk(self):
        """Until not one byte more can be stored."""
        with self.inside.path(f"{DATA}/filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(bytes(1 << 20)):
                    pass
            except OSError:
                pass

    def make_space(self):
        self.inside.path(f"{DATA}/filler").unlink()

    def strays(self):
        """What it has running beyond itself."""
        own = [*self.inside.own, *self.own_processes()]
        return [(pid, command_line(pid)[:3]) for pid in self.inside.members() if pid not in own]

    def own_processes(self):
        return []

    def assert_nothing_left(self):
        assert self.containers() == []
        until(lambda: not self.strays(), 10, lambda: f"gone: {self.strays()}")
        until(lambda: not self.mounts_left(), 10, lambda: f"gone: {self.mounts_left()}")

    def mounts_left(self):
        """Those of other tests, which it was born with, may go meanwhile."""
        return [path for path in self.inside.mounts() if path not in self.mounts_of_its_own]

    def close(self):
        self.inside.close()
        shutil.rmtree(self.directory)


class PrivatePodman(PrivateEngine):
    def __init__(self):
        super().__init__("podman")
        self.prefix = self.inside.enter()


class PrivateDocker(PrivateEngine):
    """The daemon is in the namespaces, and its clients are outside."""

    def __init__(self, *options):
        super().__init__("docker", "--net", "--mount-proc")
        self.options = options
        self.env = {"DOCKER_HOST": f"unix://{self.directory}/sock"}

    def open(self):
        self.start()
        super().open()

    def start(self):
        """And wait until it answers."""
        with (self.directory / "log").open("ab") as log:
            self.entered = subprocess.Popen(
                [*self.inside.enter("--net", "--pid"), "dockerd", "--host", self.env["DOCKER_HOST"],
                 "--data-root", DATA, "--bridge", "none", "--iptables=false",
                 "--exec-opt", "native.cgroupdriver=cgroupfs", *self.options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.daemon = until(lambda: children_of(self.entered.pid), 10, self.last_words)[0]
        until(lambda: self.run("version", check=False).returncode == 0, 30, self.last_words)

    def last_words(self):
        return (self.directory / "log").read_text()[-1000:]

    def signal(self, number):
        os.kill(self.daemon, number)

    def end(self, number):
        """By this signal; then wait for its end."""
        self.signal(number)
        self.entered.wait(30)

    def own_processes(self):
        containerd = [pid for pid in self.inside.members() if command_line(pid)[:1] == ["containerd"]]
        return [self.entered.pid, self.daemon, *containerd]

    def close(self):
        super().close()
        self.entered.kill()  # it has stopped if the daemon has
        self.entered.wait(10)
