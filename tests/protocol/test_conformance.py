"""The official conformance suite, over HTTP.

First against the program as it is shipped: the scenarios that need no tools,
resources or prompts of their own. Then against a test-only program that has
these, made of the same protocol library. What is expected to fail is listed in
expected/, with the reason; the suite itself complains about what fails and is
not listed, and about what is listed and passes.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from harness import BINARY, ROOT, SANITIZED
from npm import HERE

REQUIREMENTS = ("2025-11-25", "2026-07-28")
PACKAGES = ("yyjson", "libbsd", "libevent_core", "libevent_extra")
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


@pytest.fixture(scope="session")
def fixture_server(tmp_path_factory):
    """Compiled against the library beside the program under test."""
    build = BINARY.parent
    library = build / "libcode-sandbox.a"
    if not library.exists():
        pytest.skip(f"{library} is not there: make builds it")
    program = tmp_path_factory.mktemp("fixture") / "fixture-server"

    def flags(kind):
        done = subprocess.run(["pkg-config", kind, *PACKAGES], check=True, capture_output=True, text=True)
        return done.stdout.split()

    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if SANITIZED else []
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", *sanitize,
                    "-D_GNU_SOURCE", '-DVERSION="0"', f"-I{ROOT}/src", f"-I{build}", *flags("--cflags"), "-o",
                    str(program), str(HERE / "fixture_server.c"), str(library), *flags("--libs"), "-lresolv"],
                   check=True, timeout=120)
    return program


def listed(path):
    return {line.split()[1] for line in path.read_text().splitlines() if line.startswith("  - ")}


def checks_of(directory):
    """All that the suite has checked, as scenario, check and outcome."""
    for path in sorted(Path(directory).glob("server-*/checks.json")):
        scenario = re.fullmatch(r"server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z", path.parent.name)[1]
        for check in json.loads(path.read_text()):
            yield scenario, check


def run_suite(tools, server, name, revision, directory):
    expected = HERE / "expected" / f"{name}-{revision}.yml"
    done = tools.run(tools.bin / "conformance", "server", "--url", server.url, "--requirements", revision,
                     "--expected-failures", expected, "--output-dir", directory, env=tools.environment(directory),
                     cwd=directory, check=False, seconds=200)
    checks = list(checks_of(directory))
    assert len(checks) > 60, done.stdout + done.stderr
    assert {"SUCCESS"} == {check["status"] for _, check in checks if check["id"] == "wire-schema-valid"}
    assert PASSED[revision] - {scenario for scenario, check in checks
                               if check["status"] == "SUCCESS" and check["id"] != "wire-schema-valid"} == set()
    # The suite leaves out of its verdict what it does not score; we do not.
    failed = {f"{scenario}:{check['id']}": check.get("errorMessage") for scenario, check in checks
              if check["status"] in FAILED}
    assert {name: why for name, why in failed.items() if name not in listed(expected)} == {}
    assert listed(expected) - set(failed) == set(), "these pass now"
    assert done.returncode == 0, done.stdout[done.stdout.find("=== SUMMARY"):] + done.stderr


@pytest.mark.parametrize("revision", REQUIREMENTS)
def test_shipped_program(tools, fake, serve_http, tmp_path, revision):
    run_suite(tools, serve_http(fake()), "server", revision, tmp_path)


@pytest.mark.parametrize("revision", REQUIREMENTS)
def test_library(tools, fake, serve_http, fixture_server, tmp_path, revision):
    run_suite(tools, serve_http(fake(), program=fixture_server), "fixture", revision, tmp_path)
