#!/usr/bin/env python3
"""Starts the server, lists its tools and runs Python in the sandbox.

Needs nothing but Python.

    local_client.py [SERVER [ARGUMENT ...]]     (default: code-sandbox-mcp)
"""
import json
import subprocess
import sys

CODE = """\
import platform
print("Hello from Python", platform.python_version())
print(sum(n * n for n in range(10)))
"""


class Client:
    """One JSON-RPC message a line, over the server's stdin and stdout."""

    def __init__(self, command):
        self.last_id = 0
        try:
            self.server = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                encoding="utf-8")
        except OSError as error:
            sys.exit(f"cannot start {command[0]}: {error.strerror}")

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message})
        try:
            self.server.stdin.write(line + "\n")
            self.server.stdin.flush()
        except BrokenPipeError:
            pass  # ask() notices that it is gone

    def ask(self, method, params, notified=lambda message: None):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params})
        for line in self.server.stdout:
            answer = json.loads(line)
            if answer.get("id") != self.last_id:
                notified(answer)
                continue
            if "error" in answer:
                sys.exit(f"{method}: {answer['error']['message']}")
            return answer["result"]
        sys.exit(f"{method}: the server went away without an answer")

    def close(self):
        self.server.stdin.close()
        status = self.server.wait(timeout=30)
        if status != 0:
            sys.exit(f"the server ended with status {status}")


def main():
    client = Client(sys.argv[1:] or ["code-sandbox-mcp"])
    hello = client.ask("initialize", {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "local_client.py", "version": "1"},
    })
    client.send({"method": "notifications/initialized"})
    print("server:", hello["serverInfo"]["name"],
          hello["serverInfo"]["version"])

    tools = [tool["name"] for tool in client.ask("tools/list", {})["tools"]]
    print("tools:", ", ".join(tools))
    if "run_python_code" not in tools:
        sys.exit("there is no tool run_python_code")

    result = client.ask("tools/call", {
        "name": "run_python_code", "arguments": {"code": CODE}})
    text = result["content"][0]["text"]
    print(text)
    if result["isError"]:
        sys.exit("the sandbox could not run the code")
    if result["structuredContent"]["exit_code"] != 0 or "285" not in text:
        sys.exit("that is not what the code should print")
    client.close()


if __name__ == "__main__":
    main()
