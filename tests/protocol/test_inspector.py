"""The Inspector's CLI, in each era, over stdio and HTTP."""

import json
import sys

import pytest
from harness import SANITIZER_ENV, assert_success
from npm import HERE
from wire import MODERN, Transcript

ERAS = ("legacy", "modern", "auto")


@pytest.fixture(params=["stdio", "http"])
def inspect(request, tools, podman, serve_http, validator, tmp_path):
    """inspect(era, *options) is the JSON that the Inspector prints."""
    record = tmp_path / "record"
    if request.param == "http":
        target = [serve_http(podman).url]
    else:
        target = [sys.executable, HERE / "record-stdio", record, *podman.command()]

    def run(era, *options):
        done = tools.run(tools.bin / "mcp-inspector", "--cli", "--protocol-era", era, *options, "--", *target,
                         env={**tools.environment(tmp_path / "home"), **SANITIZER_ENV})
        return json.loads(done.stdout)

    yield run
    if request.param == "stdio":
        transcript = Transcript()
        transcript.add_stdio(json.loads(line) for line in record.read_text().splitlines())
        assert transcript.entries
        transcript.assert_valid(validator)


@pytest.mark.parametrize("era", ERAS)
def test_everything(inspect, era):
    listed = inspect(era, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == ["run_python_code", "run_js_code"]
    resources = inspect(era, "--method", "resources/list")
    assert [resource["uri"] for resource in resources["resources"]] == ["sandbox://environments"]
    read = inspect(era, "--method", "resources/read", "--uri", "sandbox://environments")
    assert "python" in json.loads(read["contents"][0]["text"])
    for tool, code in (("run_python_code", "print(6 * 7)"), ("run_js_code", "console.log(6 * 7)")):
        result = inspect(era, "--method", "tools/call", "--tool-name", tool, "--tool-arg", f"code={code}")
        assert_success(result, "42")
        assert result.get("resultType") == (None if era == "legacy" else "complete")


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
