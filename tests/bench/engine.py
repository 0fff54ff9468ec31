"""The engines to measure on: brought up if need be, and used bare."""

import fcntl
import json
import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import client
from client import Broken

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ROOT / "tests/engines"


class Engine:
    def __init__(self, facts, program, scratch):
        self.name = facts["name"]
        self.cli = facts["cli"]
        self.images = {"python": facts["python_image"], "javascript": facts["js_image"]}
        self.program = str(program)
        self.log = os.open(scratch / "stderr.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.env = {**environment(), **facts["env"]}
        self.argv = {language: self.server_argv(language) for language in self.images}

    # --- ours -----------------------------------------------------------------

    def serve(self, *options):
        return client.Server([self.program, "--engine", self.cli, "--network", "none", *options], self.env, self.log)

    def server_argv(self, language):
        """How the server starts a container: the command line of one that waits."""
        with self.serve("--pool", "1") as server:
            tool, code = CALLS[language]
            server.call(tool, {"code": code}, "hello")
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                for child in client.children(server.pid):
                    words = client.read_proc(child, "cmdline").split("\0")[:-1]
                    if "run" in words and "--entrypoint=sh" in words:
                        return words
                time.sleep(0.02)
        raise Broken(f"{self.name}: the server starts no spare container")

    def containers(self, server):
        name = f"name=code-sandbox-mcp-{server.pid}-"
        return self.output(self.command("ps", "--all", "--filter", name, "--format", "{{.Status}}")).splitlines()

    def others(self):
        """Containers that are not of a server of ours."""
        names = self.output(self.command("ps", "--all", "--format", "{{.Names}}")).split()
        return {name for name in names if not name.startswith("code-sandbox-mcp-")}

    def seconds_until_none(self, server, end):
        """From what ends its calls until the engine knows no container of it."""
        start = time.perf_counter()
        end()
        while self.containers(server):
            if time.perf_counter() - start > client.PATIENCE:
                raise Broken(f"{self.name}: containers are left after {client.PATIENCE} s")
        return time.perf_counter() - start

    def wait_ready(self, server, count, settle):
        """Until the used containers are gone and so many fresh ones wait."""
        deadline = time.monotonic() + client.PATIENCE
        while True:
            found = self.containers(server)
            if len(found) == count and all(words.startswith("Up") for words in found):
                break
            if time.monotonic() > deadline:
                raise Broken(f"{self.name}: {count} waiting containers expected, found {found}")
            time.sleep(0.05)
        time.sleep(settle)

    # --- bare -----------------------------------------------------------------

    def command(self, *words):
        some = next(iter(self.argv.values()))
        return [*some[:some.index("run")], *words]

    def output(self, argv):
        done = subprocess.run(argv, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Broken(f"{self.name}: {' '.join(argv[1:3])}: {done.stderr.strip()[-300:]}")
        return done.stdout.strip()

    def bare(self, language, code, *flags):
        """ENGINE run --rm with no more than it takes to work here."""
        limits = [word for word in self.argv[language] if word.startswith(("--ulimit=nofile", "--ulimit=nproc"))]
        return self.command("run", "--rm", "--pull=never", "--network=none", *limits, *flags,
                            self.images[language], *COMMANDS[language], code)

    def hardened(self, language, code):
        """ENGINE run --rm with every flag that the server gives."""
        words = self.argv[language]
        flags = [word for word in words[:words.index("--")]
                 if not word.startswith(("--interactive", "--name=", "--label=", "--entrypoint="))]
        # The server's own copy of the profile goes with the server.
        flags = [f"--security-opt=seccomp={ROOT}/src/engine/seccomp.json" if "=seccomp=" in word else word for word in flags]
        command = COMMANDS[language]
        return [*flags, f"--entrypoint={command[0]}", "--", self.images[language], *command[1:], code]

    def run(self, argv, expect=None):
        return client.run(argv, self.env, self.log, expect)

    def version(self):
        if self.name == "docker":
            return "docker " + self.output(self.command(
                "version", "--format", "{{.Client.Version}}, engine {{.Server.Version}}"))
        text = self.output(self.command("--version")).replace(" version", "")
        return f"{text}, {self.output(self.command('info', '--format', '{{.Host.OCIRuntime.Name}}'))}"


CALLS = {
    "python": ("run_python_code", "print('hello')"),
    "javascript": ("run_js_code", "console.log('hello')"),
}
COMMANDS = {"python": ["python3", "-u", "-c"], "javascript": ["node", "-e"]}


def environment():
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}


def script(*words):
    done = subprocess.run([str(word) for word in words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=2, check=False)
    if done.returncode != 0:
        raise Broken(f"{words[0].name} {' '.join(str(word) for word in words[1:])} failed; its message is above")


def plain_podman():
    """Rootful podman is the machine's own: nothing has to be brought up for it."""
    path = client.find("podman")
    images = {"python_image": "philschmi/code-sandbox-python:latest", "js_image": "philschmi/code-sandbox-js:latest"}
    for image in images.values():
        if subprocess.run([path, "image", "exists", image], check=False).returncode != 0:
            os.environ["CONTAINER_ENGINE"] = path
            script(ROOT / "scripts/images")
    return {"name": "podman", "cli": path, "env": {}, **images}


def described(file):
    if not file.exists():
        raise Broken(f"{file} is not there: the engines are still on their way up, or half down")
    return json.loads(file.read_text())


@contextmanager
def engines(names, program, results):
    """Those that tests/engines has up; otherwise brings them up, and down again."""
    if names == ["podman"]:
        yield [Engine(plain_podman(), program, results)]
        return
    up_for = subprocess.run([ENGINES, "where"], check=True, capture_output=True, text=True).stdout.strip()
    state = Path(up_for) if up_for else ROOT / "build/engines"
    with open(f"{state}.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as tests/run does: nobody takes them down meanwhile
        try:
            if not up_for:
                script(ENGINES, "up", state)
            yield [Engine(described(state / f"{name}.json"), program, results) for name in names]
        finally:
            if not up_for and is_last(lock):
                script(ENGINES, "down", state)


def is_last(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
