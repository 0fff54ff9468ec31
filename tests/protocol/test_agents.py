"""Programs that people use: they connect, and most list the tools, without a log-in."""

import json
import platform
import shlex
import sys

import pytest
from harness import ROOT, SANITIZER_ENV
from npm import HERE
from wire import Transcript

MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())


class Agent:
    """A home and a directory of work of its own, and a server to offer."""

    def __init__(self, tools, engine, directory):
        self.tools = tools
        self.record = directory / "record"
        self.work = directory / "work"
        self.work.mkdir()
        self.home = directory / "home"
        self.env = {**tools.environment(self.home), **engine.env, **SANITIZER_ENV}
        self.server = [sys.executable, str(HERE / "record-stdio"), str(self.record), *engine.command()]

    def install(self):
        """The server on PATH, under its own name; it writes its environment down."""
        program = self.home / "bin/code-sandbox-mcp"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nenv >{self.home}/environment\nexec {shlex.join(self.server)} "$@"\n')
        program.chmod(0o755)
        self.env["PATH"] = f"{program.parent}:{self.env['PATH']}"

    def run(self, *words, seconds=100):
        return self.tools.run(*words, env=self.env, cwd=self.work, seconds=seconds).stdout

    def asked(self):
        """The methods of what it has sent."""
        lines = [json.loads(line) for line in self.record.read_text().splitlines()]
        return [json.loads(line["line"])["method"] for line in lines if line["from"] == "client"]

    def transcript(self):
        transcript = Transcript()
        transcript.add_stdio(json.loads(line) for line in self.record.read_text().splitlines())
        assert transcript.entries
        return transcript


@pytest.fixture
def agent(tools, fake, tmp_path, validator):
    agent = Agent(tools, fake(), tmp_path)
    yield agent
    agent.transcript().assert_valid(validator)


def test_claude_code(agent, tools):
    claude = tools.package(f"@anthropic-ai/claude-code-linux-{MACHINE}") / "claude"
    agent.env["DISABLE_AUTOUPDATER"] = agent.env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
    agent.run(claude, "mcp", "add", "sandbox", "--", *agent.server)
    said = agent.run(claude, "mcp", "list")
    [line] = [line for line in said.splitlines() if line.startswith("sandbox:")]
    assert "Connected" in line
    assert agent.asked() == ["server/discover", "tools/list"]


def connect_gemini(agent, tools, settings, *add):
    """With these settings, and what is added by command."""
    agent.install()
    (agent.home / ".gemini").mkdir()
    (agent.home / ".gemini/settings.json").write_text(json.dumps(
        {**settings, "security": {"folderTrust": {"enabled": False}}}))
    if add:
        agent.run(tools.bin / "gemini", "mcp", "add", *add)
    done = tools.run(tools.bin / "gemini", "mcp", "list", env=agent.env, cwd=agent.work, seconds=100)
    [line] = [line for line in (done.stdout + done.stderr).splitlines() if "code-sandbox:" in line]
    assert "Connected" in line
    # It lists no tools before it has a model to show them to.
    assert agent.asked() == ["initialize", "notifications/initialized", "ping"]


def test_gemini_cli(agent, tools):
    agent.env["GEMINI_API_KEY"] = "a-key"
    connect_gemini(agent, tools, json.loads((ROOT / "scripts/examples/gemini-settings.json").read_text()))
    assert "GEMINI_API_KEY=a-key" in (agent.home / "environment").read_text().splitlines()


def test_gemini_cli_by_command(agent, tools):
    connect_gemini(agent, tools, {}, "code-sandbox", "code-sandbox-mcp")


def test_mcporter(agent, tools):
    (agent.work / "config").mkdir()
    (agent.work / "config/mcporter.json").write_text(json.dumps({"mcpServers": {"sandbox": {
        "command": agent.server[0], "args": agent.server[1:]}}}))
    listed = json.loads(agent.run(tools.bin / "mcporter", "list", "sandbox", "--json"))
    assert listed["status"] == "ok"
    assert [tool["name"] for tool in listed["tools"]] == ["run_python_code", "run_js_code", "end_session"]
    called = json.loads(agent.run(tools.bin / "mcporter", "call", "sandbox.run_python_code", "code=print(6 * 7)"))
    assert called["stdout"] == "42\n"
