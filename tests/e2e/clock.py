"""A clock that a test sets, so that a wait of minutes takes none."""

import glob
import subprocess

import pytest

from harness import CLOCK_FILE


class Clock:
    """The server's own, to be set while it runs. Only the server is fooled, not
    its engine."""

    def __init__(self, directory, monotonic):
        library = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None) or pytest.skip("no libfaketime")
        self.file = directory / CLOCK_FILE
        self.env = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "0" if monotonic else "1",
                    "ASAN_OPTIONS": "verify_asan_link_order=0"}
        self.set(0)

    def set(self, seconds):
        self.seconds = seconds
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{seconds:+}")
        fresh.replace(self.file)

    def pass_by(self, server, seconds):
        """So long, for a server that is woken to see it."""
        self.set(self.seconds + seconds)
        assert server.request("ping")["result"] == {}

    def told(self):
        """By a program that is fooled in the same way."""
        return int(subprocess.run(["date", "+%s"], env=self.env, check=True, capture_output=True, text=True).stdout)
