"""Third-party programs from npm, in the versions of package-lock.json.

They live in build/npm, in a directory named for the lock file; nothing is
installed inside the tree, and no package gets to run scripts of its own.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
HOME = HERE.parents[1] / "build/npm"
FILES = ("package.json", "package-lock.json")


class Tools:
    def __init__(self, directory):
        self.directory = directory
        self.modules = directory / "node_modules"
        self.bin = self.modules / ".bin"
        self.node = self.bin / "node"

    def package(self, name):
        return self.modules / name

    def environment(self, home, **more):
        """As little as can be: a HOME of its own, and our node first on PATH."""
        home = Path(home)
        home.mkdir(parents=True, exist_ok=True)
        return {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8",
                "XDG_CONFIG_HOME": str(home / ".config"), "NO_COLOR": "1", "CI": "1", **more}

    def run(self, *words, env, cwd=None, seconds=120, check=True):
        """A program to its end, or to that of our patience."""
        done = subprocess.run([str(word) for word in words], env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=seconds)
        if check:
            assert done.returncode == 0, f"{words[:3]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done

    def place(self, name):
        """One of our own scripts, where it finds its imports."""
        script, source = self.directory / name, HERE / name
        if not script.exists() or script.read_bytes() != source.read_bytes():
            fresh = script.with_suffix(f".{os.getpid()}")
            shutil.copy(source, fresh)
            fresh.replace(script)
        return script

    def run_script(self, name, *words, env, **options):
        return self.run(self.node, self.place(name), *words, env=env, **options)


def fill(directory):
    directory.mkdir(parents=True)
    for name in FILES:
        shutil.copy(HERE / name, directory)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=directory,
                   check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900)


def install():
    if shutil.which("npm") is None:
        pytest.skip("npm is not there: scripts/setup test installs it")
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in FILES)).hexdigest()[:16]
    directory = HOME / digest
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not directory.exists():
            unfinished = HOME / f"unfinished-{digest}"
            shutil.rmtree(unfinished, ignore_errors=True)
            try:
                fill(unfinished)
            except subprocess.CalledProcessError as problem:
                pytest.fail(f"npm ci failed:\n{problem.stdout}\n{problem.stderr}")
            unfinished.rename(directory)
            for other in HOME.iterdir():
                if other.is_dir() and other != directory:
                    shutil.rmtree(other, ignore_errors=True)
    return Tools(directory)


if __name__ == "__main__":
    install()
