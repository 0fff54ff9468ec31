"""The Inspector's CLI, in each era, over stdio and HTTP."""

import json
import shlex
import sys

import pytest
from harness import ROOT, SANITIZER_ENV, assert_success
from npm import HERE
from record_http import recorded
from wire import MODERN, Transcript

ERAS = ("legacy", "modern", "auto")


@pytest.fixture
def stdio(podman, tmp_path):
    """What to inspect, and what was said."""
    record = tmp_path / "record"
    return ([sys.executable, HERE / "record-stdio", record, *podman.command()],
            lambda: [json.loads(line) for line in record.read_text().splitlines()])


@pytest.fixture
def http(podman, serve_http):
    with recorded(serve_http(podman).url) as (url, said):
        yield [url], lambda: said


@pytest.fixture(params=["stdio", "http"])
def inspect(request, tools, validator, tmp_path):
    """inspect(era, *options) is the JSON that the Inspector prints."""
    target, said = request.getfixturevalue(request.param)

    def run(era, *options):
        done = tools.run(tools.bin / "mcp-inspector", "--cli", "--protocol-era", era, *options, "--", *target,
                         env={**tools.environment(tmp_path / "home"), **SANITIZER_ENV})
        return json.loads(done.stdout)

    yield run
    transcript = Transcript()
    transcript.add_stdio(said())
    assert transcript.entries
    transcript.assert_valid(validator)


@pytest.mark.parametrize("era", ERAS)
def test_everything(inspect, era):
    listed = inspect(era, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == ["run_python_code", "run_js_code", "end_session"]
    resources = inspect(era, "--method", "resources/list")
    assert [resource["uri"] for resource in resources["resources"]] == ["sandbox://environments"]
    read = inspect(era, "--method", "resources/read", "--uri", "sandbox://environments")
    assert "python" in json.loads(read["contents"][0]["text"])
    for tool, code in (("run_python_code", "print(6 * 7)"), ("run_js_code", "console.log(6 * 7)")):
        result = inspect(era, "--method", "tools/call", "--tool-name", tool, "--tool-arg", f"code={code}")
        assert_success(result, "42")
        # In the auto era a client on a busy machine may take the slow answer for none.
        assert result.get("resultType") in {"legacy": (None,), "modern": ("complete",)}.get(era, (None, "complete"))


def test_eras_differ(tools, fake, tmp_path):
    """That the Inspector speaks what it was told to."""
    engine = fake()
    for era, expected in (("legacy", None), ("modern", MODERN), ("auto", MODERN)):
        record = tmp_path / era
        tools.run(tools.bin / "mcp-inspector", "--cli", "--protocol-era", era, "--method", "tools/list", "--",
                  sys.executable, HERE / "record-stdio", record, *engine.command(),
                  env={**tools.environment(tmp_path / "home"), **engine.env, **SANITIZER_ENV})
        sent = [json.loads(json.loads(line)["line"]) for line in record.read_text().splitlines()
                if json.loads(line)["from"] == "client"]
        [listing] = [message for message in sent if message["method"] == "tools/list"]
        named = listing.get("params", {}).get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
        assert named == expected


def printed_commands():
    """Those of the README, as words."""
    lines = (ROOT / "README.md").read_text().replace("\\\n", "").splitlines()
    return [shlex.split(line) for line in lines if line.startswith("npx @modelcontextprotocol/inspector --cli")]


def test_as_printed_in_the_readme(tools, podman, serve_http, tmp_path):
    """Word for word, but for the one that fetches the Inspector and the port."""
    env = tools.environment(tmp_path / "home")
    program = tmp_path / "code-sandbox-mcp"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(podman.command())} "$@"\n')
    program.chmod(0o755)
    env["PATH"] = f"{tmp_path}:{env['PATH']}"
    said = []
    for _, _, *words in printed_commands():
        words = [serve_http(podman).url if word.startswith("http:") else word for word in words]
        said.append(json.loads(tools.run(tools.bin / "mcp-inspector", *words, env=env).stdout))
    listed, called, read, with_key, over_http = said
    assert_success(called, "42")
    assert_success(with_key, "value")
    assert read["contents"][0]["uri"] == "sandbox://environments"
    assert listed["tools"] and listed["tools"] == over_http["tools"]
