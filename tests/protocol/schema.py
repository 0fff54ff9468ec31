"""A process that validates, and lives as long as the tests do."""

import json
import subprocess


class Validator:
    def __init__(self, tools):
        script = tools.place("validate.mjs")
        self.process = subprocess.Popen([str(tools.node), str(script)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the validator died; its message is on stderr"
        return json.loads(answer)

    def complaints(self, revision, method, message):
        return self.ask(revision=revision, method=method, message=message)

    def assert_conforms(self, schema, value):
        assert self.ask(schema=schema, value=value) == []

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)
