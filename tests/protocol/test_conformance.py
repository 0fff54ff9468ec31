"""The official conformance suite, over HTTP.

First against the program as it is shipped: the scenarios that need no tools,
resources or prompts of their own. Then against a test-only program that has
these, made of the same protocol library, and passes them all. What the first
is expected to fail is listed in expected/, with the reason; the suite itself
complains about what fails and is not listed, and about what is listed and
passes.
"""

import json
import re
from pathlib import Path

import pytest
from npm import HERE

REQUIREMENTS = ("2025-11-25", "2026-07-28")
FAILED = ("FAILURE", "WARNING")
# What a server of tools passes without anything made for the suite. A scenario
# that is left out or skipped has not failed, but it has not passed either.
PASSED = {
    "2025-11-25": {"server-initialize", "ping", "tools-list", "server-sse-multiple-streams",
                   "dns-rebinding-protection", "server-session-lifecycle"},
    "2026-07-28": {"server-stateless", "tools-list", "caching", "server-sse-multiple-streams",
                   "dns-rebinding-protection", "http-header-validation", "input-required-result-unsupported-methods",
                   "input-required-result-validate-input"},
}
# All that the suite leaves out of what it has for a server that has everything:
# lists that change, which ours do not; and one that it cannot check yet.
SKIPPED = {
    "server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription",
    "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription",
    "tasks-status-notifications:tasks-status-notifications",
}


def listed(path):
    return {line.split()[1] for line in path.read_text().splitlines() if line.startswith("  - ")}


def checks_of(directory):
    """All that the suite has checked, as scenario, check and outcome."""
    for path in sorted(Path(directory).glob("server-*/checks.json")):
        scenario = re.fullmatch(r"server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z", path.parent.name)[1]
        for check in json.loads(path.read_text()):
            yield scenario, check


def run_suite(tools, server, revision, directory, expected=None):
    """What it has checked; expected is the file of what fails, None when all must pass."""
    options = ["--expected-failures", expected] if expected else []
    names = listed(expected) if expected else set()
    done = tools.run(tools.bin / "conformance", "server", "--url", server.url, "--requirements", revision, *options,
                     "--output-dir", directory, env=tools.environment(directory), cwd=directory, check=False,
                     seconds=200)
    checks = list(checks_of(directory))
    assert len(checks) > 60, done.stdout + done.stderr
    assert {"SUCCESS"} == {check["status"] for _, check in checks if check["id"] == "wire-schema-valid"}
    assert PASSED[revision] - {scenario for scenario, check in checks
                               if check["status"] == "SUCCESS" and check["id"] != "wire-schema-valid"} == set()
    # The suite leaves out of its verdict what it does not score; we do not.
    failed = {f"{scenario}:{check['id']}": check.get("errorMessage") for scenario, check in checks
              if check["status"] in FAILED}
    assert {name: why for name, why in failed.items() if name not in names} == {}
    assert names - set(failed) == set(), "these pass now"
    assert done.returncode == 0, done.stdout[done.stdout.find("=== SUMMARY"):] + done.stderr
    return checks


@pytest.mark.parametrize("revision", REQUIREMENTS)
def test_shipped_program(tools, fake, serve_http, tmp_path, revision):
    run_suite(tools, serve_http(fake()), revision, tmp_path, HERE / "expected" / f"server-{revision}.yml")


@pytest.mark.parametrize("revision", REQUIREMENTS)
def test_library(tools, fake, serve_http, fixture_server, tmp_path, revision):
    checks = run_suite(tools, serve_http(fake(), program=fixture_server), revision, tmp_path)
    assert {f"{scenario}:{check['id']}" for scenario, check in checks if check["status"] == "SKIPPED"} <= SKIPPED
