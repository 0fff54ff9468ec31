"""Engines made of tests/fault/fake-engine, for what no real one does on demand."""

import json
import shutil
from pathlib import Path

from harness import ROOT, Engine

SCRIPT = ROOT / "tests/fault/fake-engine"


class FakeEngine(Engine):
    """In a directory of its own; the server finds it on its PATH."""

    def __init__(self, directory, mode="ok", name="podman"):
        self.directory = Path(directory)
        self.state = self.directory / "state"
        self.state.mkdir(parents=True)
        self.bin = self.directory / "bin"
        self.add(name)
        super().__init__({"name": "fake", "cli": str(self.bin / name), "prefix": [], "network": False,
                          "limits": False, "bin_dir": str(self.bin), "python_image": "fake-python",
                          "js_image": "fake-js",
                          "env": {"CONTAINER_FAKE_DIR": str(self.state), "CONTAINER_FAKE_MODE": mode}})
        # Its own directory and no other, lest a real engine be found there.
        self.path = str(self.bin)
        for name, program in (("python3", "/usr/bin/python3"), ("sleep", "/usr/bin/sleep"), ("node", shutil.which("node"))):
            (self.bin / name).symlink_to(program)

    def add(self, name, mode=None):
        """Puts an engine of this name on the PATH, with a mode of its own."""
        self.bin.mkdir(exist_ok=True)
        if mode is None:
            shutil.copy(SCRIPT, self.bin / name)
        else:
            hidden = self.directory / f"other-{name}"
            hidden.mkdir()
            shutil.copy(SCRIPT, hidden / name)
            (self.bin / name).write_text(f'#!/bin/sh\nCONTAINER_FAKE_MODE="{mode}" exec {hidden}/{name} "$@"\n')
            (self.bin / name).chmod(0o755)

    def behave(self, mode):
        """From the next command on."""
        fresh = self.state / "mode.new"
        fresh.write_text(mode)
        fresh.rename(self.state / "mode")

    def commands(self, first=None):
        """All that it was asked, in order: the words of each."""
        try:
            lines = (self.state / "log").read_text().splitlines()
        except FileNotFoundError:
            return []
        asked = [json.loads(line)["words"] for line in lines]
        return [words for words in asked if first is None or words[0] == first]

    def containers(self, name="code-sandbox-mcp-"):
        """Read from its state, because a test may have broken its ps."""
        return sorted(path.name for path in (self.state / "containers").glob(f"{name}*"))

    running = containers
