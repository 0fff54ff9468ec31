"""The command run, under way."""

import os
import subprocess

from harness import MARK, PATIENCE, SANITIZER_WORDS, find_program, marked_processes, until


class Run:
    """The command under way."""

    def __init__(self, engine, *words, stdin=subprocess.DEVNULL, env=None, **named):
        self.engine = engine
        self.mark = os.urandom(8).hex()
        command = engine.command(pool=1)
        place = command.index(str(engine.binary())) + 1
        command = [*command[:place], "run", *command[place:], *map(str, words)]
        self.process = subprocess.Popen(command, env=engine.environment({MARK: self.mark, **(env or {})}),
                                        stdin=stdin,
                                        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **named})

    def find_pid(self):
        return until(lambda: find_program(self.process.pid, self.engine.binary()))

    def finish(self, text=None):
        """Its exit status, stdout and stderr; nothing is left of it."""
        out, err = self.process.communicate(text.encode() if text is not None else None, timeout=PATIENCE)
        err = (err or b"").decode()
        assert not [word for word in SANITIZER_WORDS if word in err], err
        until(lambda: not marked_processes(self.mark), 10, lambda: f"no process: {marked_processes(self.mark)}")
        return self.process.returncode, (out or b"").decode(), err
