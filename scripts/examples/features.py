#!/usr/bin/env python3
"""What a call can bring along, and what comes back: one call for each.

    features.py [--package NAME] [SERVER [ARGUMENT ...]]

The default is code-sandbox-mcp. A package needs the network.
"""
import sys

from local_client import Client

PLOT = """\
import matplotlib.pyplot as plt
plt.plot([1, 4, 9, 16])
plt.show()
"""

LARGE = """\
import os
os.mkdir("out")
with open("out/big.csv", "w") as file:
    file.writelines(f"{n}\\n" for n in range(100_000))
"""

SLOW = """\
import time
for step in range(3):
    print("step", step)
    time.sleep(1)
"""

CALLS = [
    ("standard input and arguments", "run_python_code", {
        "code": "import sys; print('Hello,', *sys.argv[1:], sys.stdin.read())",
        "args": ["--fast"], "stdin": "world!"}),
    ("files in and out", "run_python_code", {
        "code": "open('upper.txt', 'w').write(open('in.txt').read().upper())",
        "files": [{"path": "in.txt", "text": "shout"}]}),
    ("a large file that was asked for", "run_python_code", {
        "code": LARGE, "outputs": ["out/*.csv"]}),
    ("live output", "run_python_code", {"code": SLOW}),
    ("a plot", "run_python_code", {"code": PLOT}),
    ("a session", "run_js_code", {
        "code": "const answer = await Promise.resolve(6 * 7)",
        "session": "new"}),
    ("the same session", "run_js_code", {"code": "answer", "session": None}),
]


def show(item):
    if item["type"] == "text":
        return item["text"]
    if item["type"] == "image":
        return f"<{item['mimeType']}, {len(item['data'])} bytes of base64>"
    text = item["resource"].get("text", "")
    text = text if len(text) < 100 else f"{len(text)} characters"
    return f"<{item['resource']['uri']}: {text}>"


def show_progress(message):
    for line in message["params"].get("message", "").splitlines():
        print("...", line)


def with_package(name):
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    return ("a package", "run_python_code", {"code": code, "packages": [name]})


def main():
    words, calls = sys.argv[1:], CALLS
    if words[:1] == ["--package"]:
        calls = CALLS + [with_package(words[1])]
        words = words[2:]
    client = Client(words or ["code-sandbox-mcp"])
    client.ask("initialize", {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "features.py", "version": "1"},
    })
    client.send({"method": "notifications/initialized"})
    session = None
    for title, tool, arguments in calls:
        if "session" in arguments:
            arguments["session"] = session or "new"
        print(f"--- {title}")
        result = client.ask("tools/call", {
            "name": tool, "arguments": arguments,
            "_meta": {"progressToken": title}}, show_progress)
        for item in result["content"]:
            print(show(item))
        if result["isError"] or result["structuredContent"]["exit_code"] != 0:
            sys.exit("that went wrong")
        session = result["structuredContent"].get("session")
    client.close()


if __name__ == "__main__":
    main()
