"""The official client libraries against the server on a real engine: SDK 1.x
and 2.x, over HTTP and over stdio."""

import json

import pytest
from harness import SANITIZER_ENV, assert_failure, assert_refused, assert_success
from wire import MODERN, Transcript

LIBRARIES = [("sdk", "legacy"), ("client", "legacy"), ("client", "auto"), ("client", MODERN)]


def session(tools, engine, library, era, target, home, validator, **env):
    record = home / "record"
    done = tools.run_script("client.mjs", library, era, record, engine.cli, *target, seconds=200,
                            env={**tools.environment(home), **engine.env, **SANITIZER_ENV, **env})
    transcript = Transcript()
    transcript.add_stdio(json.loads(line) for line in record.read_text().splitlines())
    assert len(transcript.entries) > 20
    transcript.assert_valid(validator)
    eras = {revision == MODERN for revision, _, _ in transcript.entries}
    assert eras == {era != "legacy"}
    # The code on the wire: 2.x has one name for both, if the error says the uri.
    codes = [message["error"]["code"] for _, request, message in transcript.entries
             if request and request["method"] == "resources/read" and "error" in message]
    assert codes == [-32002 if era == "legacy" else -32602]
    return json.loads(done.stdout)


def assert_all_well(report):
    assert report["server"] == "code-sandbox"
    assert report["tools"] == ["run_python_code", "run_js_code", "end_session"]
    assert report["resources"] == ["sandbox://environments"] and report["resource"] == "sandbox://environments"
    assert report["noResource"] in (-32002, -32602)
    assert_success(report["python"], "42")
    assert_success(report["javascript"], "42")
    assert_failure(report["failed"], exit_code=3)
    assert_refused(report["refused"], '"code" is empty')
    assert report["late"]["structuredContent"]["timed_out"] is True
    assert report["unknown"] == -32602
    assert report["progress"] == sorted(set(report["progress"])) and len(report["progress"]) >= 2
    assert_success(report["slow"], "0\n1\n2")
    assert report["whileRunning"] == 1
    assert report["aborted"] is True
    assert report["afterwards"] == 0
    assert_success(report["next"], "still here")
    assert report["many"] == [str(number) for number in range(6)]


@pytest.mark.parametrize("library, era", LIBRARIES)
def test_over_http(tools, podman, serve_http, tmp_path, validator, library, era):
    server = serve_http(podman)
    report = session(tools, podman, library, era, [server.url], tmp_path, validator, SERVER_PID=str(server.pid))
    assert_all_well(report)


@pytest.mark.parametrize("library, era", LIBRARIES)
def test_over_stdio(tools, podman, tmp_path, validator, library, era):
    report = session(tools, podman, library, era, podman.command(), tmp_path, validator)
    assert_all_well(report)
