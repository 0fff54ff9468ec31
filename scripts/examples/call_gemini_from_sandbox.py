#!/usr/bin/env python3
"""Calls Gemini from inside the sandbox, with a key that is passed through.

It needs a key in GEMINI_API_KEY, the network, and a Python image that has
google-genai (scripts/images says if it left that out).
No other variable of this environment reaches the code.

    call_gemini_from_sandbox.py [SERVER [ARGUMENT ...]]
"""
import os
import sys

from local_client import Client

CODE = """\
import os
from google import genai

client = genai.Client(api_key=os.environ["GEMINI_API_KEY"])
answer = client.models.generate_content(
    model="gemini-2.5-flash", contents="Say hello in five languages.")
print(answer.text)
"""


def main():
    if not os.environ.get("GEMINI_API_KEY"):
        sys.exit("set GEMINI_API_KEY first")
    client = Client((sys.argv[1:] or ["code-sandbox-mcp"])
                    + ["--pass-through-env", "GEMINI_API_KEY"])
    client.ask("initialize", {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "call_gemini_from_sandbox.py", "version": "1"},
    })
    client.send({"method": "notifications/initialized"})
    result = client.ask("tools/call", {
        "name": "run_python_code",
        "arguments": {"code": CODE, "timeout_seconds": 60},
    })
    print(result["content"][0]["text"])
    client.close()
    if result["isError"] or result["structuredContent"]["exit_code"] != 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
