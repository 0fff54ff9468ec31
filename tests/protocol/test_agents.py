"""Programs that people use: they connect and list the tools, without a log-in."""

import json
import platform
import sys

import pytest
from harness import SANITIZER_ENV
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
    assert agent.asked()


def test_gemini_cli(agent, tools):
    (agent.home / ".gemini").mkdir(parents=True)
    (agent.home / ".gemini/settings.json").write_text(json.dumps({"security": {"folderTrust": {"enabled": False}}}))
    agent.run(tools.bin / "gemini", "mcp", "add", "sandbox", agent.server[0], "--", *agent.server[1:])
    done = tools.run(tools.bin / "gemini", "mcp", "list", env=agent.env, cwd=agent.work, seconds=100)
    [line] = [line for line in (done.stdout + done.stderr).splitlines() if "sandbox:" in line]
    assert "Connected" in line
    assert "initialize" in agent.asked()


def test_mcporter(agent, tools):
    (agent.work / "config").mkdir()
    (agent.work / "config/mcporter.json").write_text(json.dumps({"mcpServers": {"sandbox": {
        "command": agent.server[0], "args": agent.server[1:]}}}))
    listed = json.loads(agent.run(tools.bin / "mcporter", "list", "sandbox", "--json"))
    assert listed["status"] == "ok"
    assert [tool["name"] for tool in listed["tools"]] == ["run_python_code", "run_js_code"]
    called = json.loads(agent.run(tools.bin / "mcporter", "call", "sandbox.run_python_code", "code=print(6 * 7)"))
    assert called["stdout"] == "42\n"
