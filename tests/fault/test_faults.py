"""Engines that fail in ways that real ones do now and then."""

import hashlib
import json
import os
import resource
import shutil
import signal
import time

import pytest
from clock import Clock
from fake import FakeEngine
from harness import (BINARY, ROOT, SANITIZED, assert_failure, assert_refused, assert_success, facts_of, read_proc,
                     text_of, until)

HELLO = "print('hello')"


def call(server, code=HELLO, **named):
    return server.call(code, **named)


@pytest.fixture
def clock(tmp_path):
    """Of a server that is given clock.env: what it waits for takes no time."""
    return Clock(tmp_path, monotonic=True)


# No engine.


def test_faithful_engine(fake, serve):
    """The fake one is good for something: otherwise the rest proves little."""
    server = serve(fake("ok"))
    assert_success(call(server), "hello")
    assert_failure(call(server, "import sys; print('e', file=sys.stderr); sys.exit(3)"), stderr="e\n", exit_code=3)
    assert_failure(call(server, "import os; os.kill(os.getpid(), 11)"), signal="SIGSEGV", note="SIGSEGV")


def start(serve, engine, *options, **named):
    """Without --engine: the server looks for one on its PATH."""
    return serve(engine, command=[str(engine.binary()), "--pool", "0", *options], **named)


def test_no_engine_at_all(fake, serve):
    engine = fake()
    engine.path = "/nonexistent"
    result = call(start(serve, engine))
    assert_refused(result, "No container engine answered", "- podman: not found on PATH",
                   "- docker: not found on PATH", "--engine")


def test_dead_docker_loses_to_podman(fake, serve):
    engine = fake("ok", "podman")
    engine.add("docker", "down")
    server = start(serve, engine)
    assert_success(call(server), "hello")


def test_dead_podman_loses_to_docker(fake, serve):
    engine = fake("ok", "docker")
    engine.cli = str(engine.bin / "docker")
    engine.add("podman", "down")
    assert_success(call(start(serve, engine)), "hello")


def test_both_down_are_both_told(fake, serve):
    engine = fake("down", "podman")
    engine.add("docker", "version-fails")
    result = call(start(serve, engine))
    assert_refused(result, "- podman: Cannot connect to the Docker daemon", "- docker: Error: this binary is broken")


def test_info_that_succeeds_without_a_daemon(fake, serve):
    """Some versions of docker info exit with 0 and an empty answer."""
    engine = fake("info-empty", "docker")
    assert_refused(call(start(serve, engine)), "- docker: ERROR: Cannot connect to the fake daemon")


def test_hybrid_cgroups_work_with_runc(fake, serve):
    """podman's crun refuses such hosts (WSL2 is one); where runc is, nobody notices."""
    engine = fake("hybrid")
    (engine.bin / "runc").symlink_to("/bin/true")
    assert_success(call(start(serve, engine)), "hello")


def test_hybrid_cgroups_without_runc_are_told_in_the_engine_s_words(fake, serve):
    assert_refused(call(start(serve, fake("hybrid"))), "hybrid mode not supported")


def test_engine_by_path_is_the_only_one_tried(fake, serve):
    engine = fake("ok", "podman")
    engine.add("docker", "down")
    server = start(serve, engine, "--engine", str(engine.bin / "docker"))
    result = call(server)
    assert_refused(result, f"- {engine.bin}/docker: Cannot connect")
    assert "- podman" not in text_of(result)


@pytest.mark.parametrize("variable", ["CONTAINER_ENGINE", "BACKEND"])
def test_engine_by_variable(fake, serve, variable):
    engine = fake("ok", "docker")
    engine.add("podman", "ok")
    server = start(serve, engine, env={variable: "docker"})
    assert_success(call(server), "hello")
    assert len(engine.commands("run")) == 1
    assert "--http-proxy=false" not in engine.commands("run")[0]


def test_engine_by_path_that_is_not_there(fake, serve):
    result = call(start(serve, fake(), "--engine", "/nowhere/podman"))
    assert_refused(result, "- /nowhere/podman: no such program")


def test_engine_that_is_no_program(fake, serve):
    """Executable by its mode, and yet nothing that can be executed."""
    engine = fake()
    broken = engine.bin / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    assert_refused(call(start(serve, engine, "--engine", str(broken))), "broken", "cannot start")


def test_engine_under_another_name_is_known_by_its_word(fake, serve):
    """As with podman-docker: docker on PATH is podman."""
    engine = fake("ok", "podman")
    (engine.bin / "docker").write_text(f'#!/bin/sh\nexec {engine.bin}/podman "$@"\n')
    (engine.bin / "docker").chmod(0o755)
    server = start(serve, engine, "--engine", "docker")
    assert_success(call(server), "hello")
    assert "--http-proxy=false" in engine.commands("run")[0]


def test_engine_that_comes_up_later_is_found(fake, serve):
    engine = fake("down")
    server = serve(engine)
    assert_refused(call(server), "Cannot connect")
    engine.behave("ok")
    assert_success(call(server), "hello")


def test_engine_that_goes_down_later_says_so(fake, serve):
    engine = fake("ok")
    server = serve(engine)
    assert_success(call(server), "hello")
    engine.behave("disk-full down")
    assert_refused(call(server), "no space left on device")


def test_cancel_while_info_hangs(fake, serve):
    engine = fake("info-hangs")
    server = serve(engine)
    ident = server.start_call(HELLO)
    until(lambda: engine.commands("info"))
    server.notify("notifications/cancelled", {"requestId": ident})
    server.close(idle=False)
    assert server.replies(ident) == []


def test_no_engine_command_before_it_is_needed(fake, serve):
    engine = fake()
    server = serve(engine)
    server.request("ping")
    server.request("resources/list")
    assert engine.commands() == []


# A container that does not start.


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_start_that_fails_is_told_in_the_engine_s_words(fake, serve, name):
    result = call(serve(fake("disk-full", name)))
    assert_refused(result, "no space left on device")


@pytest.mark.parametrize("name, words", [("podman", "opening seccomp profile failed"),
                                         ("docker", "Decoding seccomp profile failed")])
def test_engine_that_does_not_take_the_profile(fake, serve, name, words):
    """What that means is told, and what is advised helps."""
    engine = fake("no-seccomp", name)
    result = call(serve(engine))
    assert_refused(result, f"{engine.cli} did not take the seccomp profile", "on another machine", "--seccomp FILE",
                   "--seccomp engine", words)
    assert_success(call(serve(engine, "--seccomp", "engine")), "hello")


NO_PROFILE = "the seccomp profile must be written to a file for podman, and neither XDG_RUNTIME_DIR nor {} takes it"
# Where a user's own files would go, and why the profile does not.
NOWHERE = {
    "no home": ({}, "/.cache", "No such file or directory"),
    "home that is not there": ({"HOME": "/nonexistent"}, "/nonexistent/.cache", "No such file or directory"),
    "home that is a file": ({"HOME": "/dev/null"}, "/dev/null/.cache", "Not a directory"),
    "full disk": ({"HOME": "{place}", "XDG_RUNTIME_DIR": "{place}"}, "{place}/.cache", "No space left on device"),
}


@pytest.mark.parametrize("given, path, why", NOWHERE.values(), ids=NOWHERE)
def test_no_place_for_the_profile(serve, place, given, path, why):
    """Of a user other than root, whose podman reads it from a file: there is no
    call without it, and the reason is the true one."""
    engine = FakeEngine(place / "engine")
    own = place / "server"
    shutil.copy(BINARY, own)
    for directory in (engine.directory, engine.state):
        directory.chmod(0o777)
    # A write that fits in part is all that the kernel has to say of a full disk.
    user = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    user += ["/usr/bin/prlimit", "--fsize=1000"] if why.startswith("No space") else []
    variables = [f"{name}={value.format(place=place)}" for name, value in given.items()]
    command = [*user, "/usr/bin/env", "-u", "HOME", *variables, str(own), *engine.command()[1:]]
    server = serve(engine, command=command, revision=None)
    result = server.result(server.start_call(HELLO))
    assert_refused(result, NO_PROFILE.format(path.format(place=place)), f": {why}", "--seccomp")
    assert engine.commands("run") == []
    assert not list(place.glob("**/*seccomp*")), "nothing is left of a try"
    server.close()


def test_profile_that_goes_with_its_directory(serve, place):
    """As a user's runtime directory does when the last login ends."""
    engine = FakeEngine(place / "engine")
    own, runtime = place / "server", place / "runtime"
    shutil.copy(BINARY, own)
    for directory in (engine.directory, engine.state):
        directory.chmod(0o777)
    runtime.mkdir()
    os.chown(runtime, 65534, 65534)
    user = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = [*user, "/usr/bin/env", f"HOME={place}", f"XDG_RUNTIME_DIR={runtime}", str(own), *engine.command()[1:]]
    server = serve(engine, command=command, revision=None)
    assert text_of(server.result(server.start_call(HELLO))) == "hello"
    shutil.rmtree(runtime)
    assert text_of(server.result(server.start_call(HELLO))) == "hello"
    name = "code-sandbox-mcp-seccomp.json"
    for words, directory in zip(engine.commands("run"), (runtime, place / ".cache"), strict=True):
        assert f"--security-opt=seccomp={directory}/{name}" in words
    assert (place / ".cache" / name).exists()
    server.close()


def test_name_that_is_taken(fake, serve):
    engine = fake("name-taken")
    server = serve(engine)
    assert_refused(call(server), "is already in use")
    engine.behave("ok")
    assert_success(call(server), "hello")


def test_cli_that_dies_without_a_word(fake, serve):
    engine = fake("dies-mute")
    server = serve(engine)
    result = call(server)
    assert_refused(result, "could not be started")
    assert not text_of(result).rstrip().endswith("said:"), "and then nothing: it should tell how the CLI ended"
    engine.behave("ok")
    assert_success(call(server), "hello")


def test_warning_of_the_engine_is_not_output(fake, serve):
    assert_success(call(serve(fake("warns"))), "hello")


def test_never_ready_and_cancelled(fake, serve):
    engine = fake("never-ready")
    server = serve(engine)
    ident = server.start_call(HELLO)
    until(server.containers)
    server.notify("notifications/cancelled", {"requestId": ident})
    server.wait_no_containers()
    server.close()
    assert server.replies(ident) == []


def test_failing_runtime_is_no_missing_shell(fake, serve):
    """126 has many reasons. The words are told, and once it is mended calls
    run as before: not copied in for ever, which is slower and less strict."""
    engine = fake("runtime-fails")
    server = serve(engine)
    assert_refused(call(server), "the fake runtime has no memory left")
    engine.behave("ok")
    assert_success(call(server), "hello")
    assert engine.commands("create") == [] or engine.commands()[-1][0] == "run"


def test_file_that_the_engine_misses_is_no_missing_shell(fake, serve):
    """127 is the status for that too. Once it is tried again; and where a shell
    has been heard there is one."""
    engine = fake("misses-a-file-once")
    server = serve(engine)
    assert_success(call(server), "hello")
    engine.behave("misses-a-file")
    for _ in range(3):
        assert_refused(call(server), "open /sys/fs/cgroup/fake: no such file")
    engine.behave("ok")
    assert_success(call(server), "hello")
    assert all("--entrypoint=sh" in words for words in engine.commands("run"))
    assert "has no shell" not in server.stderr


# An image without a shell.


RUBY = {"tool": "run_ruby_code"}


@pytest.fixture
def copying(fake, serve):
    """copying(mode): a server with a language that must be copied in. What goes
    by the name of Ruby there is Python."""
    def start(mode, name="podman"):
        engine = fake(mode, name)
        (engine.bin / "ruby").symlink_to("/usr/bin/python3")
        return serve(engine, "--languages", "ruby")

    return start


def means(engine):
    return [(words[0], "--read-only" in words) for words in engine.commands()
            if words[0] in ("run", "create", "cp", "start")]


def test_code_that_the_interpreter_takes_in(fake, serve):
    """As strict as with a shell; and once that is known no shell is tried."""
    engine = fake("no-shell")
    server = serve(engine)
    assert_success(call(server), "hello")
    assert_failure(call(server, "import sys; sys.exit(3)"), exit_code=3)
    assert_success(call(server, "import sys; print(sys.argv, [sys.stdin.read()])"), "['code.py'] ['']")
    assert_success(call(server, "console.log('hello')", tool="run_js_code"), "hello")
    code = "console.log(require.main === module, process.argv.length, [require('fs').readFileSync(0, 'utf8')])"
    assert_success(call(server, code, tool="run_js_code"), "true 2 [ '' ]")
    assert means(engine) == 7 * [("run", True)]
    assert len(engine.commands("run")) == 7, "two of them for a shell"
    until(lambda: server.stderr.count("has no shell: calls can have code and nothing else") == 2, what="a warning each")


def test_copied_in(copying):
    server = copying("no-shell")
    assert_success(call(server, **RUBY), "hello")
    assert_failure(call(server, "import sys; sys.exit(3)", **RUBY), exit_code=3)
    copied = [("create", False), ("cp", False), ("start", False)]
    assert means(server.engine) == [("run", True), *copied, *copied]


def test_copy_that_fails(copying):
    server = copying("no-shell cp-fails")
    assert_refused(call(server, **RUBY), "copying to container: no space left on device")
    server.wait_no_containers()


def test_start_that_fails_is_no_result_of_the_program(copying):
    """The program never ran: its exit status cannot be 125."""
    assert_refused(call(copying("no-shell start-fails"), **RUBY), "the fake network is down")


def test_daemon_that_goes_before_the_start(copying):
    """docker ends with a status that a program may have, and its words do not."""
    server = copying("no-shell daemon-goes", "docker")
    assert_refused(call(server, **RUBY), "could not be started", "Cannot connect to the Docker daemon")
    server.wait_no_containers()


@pytest.mark.parametrize("tool", ["run_python_code", "run_ruby_code"])
@pytest.mark.parametrize("status", [1, 125, 126, 127])
def test_exit_status_of_a_program_is_no_failure_of_the_engine(fake, serve, copying, tmp_path, tool, status):
    """With no runner to tell, the engine's own numbers are the program's too; it
    runs once all the same."""
    server = copying("no-shell") if tool == "run_ruby_code" else serve(fake("no-shell"))
    code = f"print('run', file=open('{tmp_path}/runs', 'a')); print('Erring'); raise SystemExit({status})"
    assert_failure(server.call(code, tool), stdout="Erring\n", exit_code=status)
    assert (tmp_path / "runs").read_text() == "run\n"
    until(lambda: server.stderr.count("has no shell") == 1, what="a warning")


# A container that has died while it waited.


def test_code_that_was_lost_is_run_once(fake, serve, tmp_path):
    """The containers end after they have taken the code, and before they run it."""
    server = serve(fake("loses-code"))
    assert_success(server.call(f"print('run', file=open('{tmp_path}/runs', 'a')); print('done')"), "done")
    assert (tmp_path / "runs").read_text() == "run\n"


def test_code_is_not_run_again_when_nobody_knows(fake, serve, tmp_path):
    """The CLI has lost its daemon: what goes on behind it cannot be seen."""
    engine = fake("loses-daemon")
    server = serve(engine)
    assert_refused(server.call(f"print('run', file=open('{tmp_path}/runs', 'a'))"), "on its way", "most likely did not run")
    assert len(engine.commands("run")) == 1
    assert not (tmp_path / "runs").exists()


def test_interpreter_that_dies_over_its_code(fake, serve, tmp_path):
    """Twice may be chance; and then it is said what it most likely was."""
    engine = fake("dies-over-code")
    result = serve(engine).call(f"print('run', file=open('{tmp_path}/runs', 'a'))")
    assert_refused(result, "killed before it had taken in the code", "want of memory", "did not run")
    assert len(engine.commands("run")) == 3
    assert not (tmp_path / "runs").exists()


def test_daemon_lost_without_a_shell(fake, serve):
    """The CLI says so last, and ends with a status that a program can have too."""
    server = serve(fake("no-shell", name="docker"))
    words = "level=error msg=\"error waiting for container: unexpected EOF\"\n"
    code = f"import sys; sys.stderr.write({words!r}); sys.exit({{}})"
    assert_failure(server.call(code.format(125)), stderr=words, signal="SIGKILL", note="went away")
    assert_failure(server.call(code.format(3)), stderr=words, exit_code=3)


def test_container_that_a_failed_start_leaves(fake, serve):
    """As podman does when its monitor dies."""
    engine = fake("leaves-it")
    server = serve(engine)
    assert_refused(call(server), "no such exit code")
    server.wait_no_containers()
    engine.behave("ok")
    assert_success(call(server), "hello")


def cancel_while_it_starts(engine, server):
    ident = server.start_call("print(1)")
    until(lambda: engine.commands("run"), what="a start")
    server.notify("notifications/cancelled", {"requestId": ident})


def test_cli_that_starts_a_container_is_asked_to_end(fake, serve, clock):
    """podman, when it is killed then, leaves processes that it knows nothing of."""
    engine = fake("run-heeds")
    server = serve(engine, env=clock.env)
    cancel_while_it_starts(engine, server)
    until(lambda: clock.pass_by(server, 1) or (engine.state / "asked").exists(), what="asked to end")
    server.wait_idle()


def test_cli_that_will_not_end_is_killed(fake, serve, clock):
    """Neither when it is asked, nor by the removal of its container."""
    engine = fake("run-hangs rm-fails")
    server = serve(engine, env=clock.env)
    cancel_while_it_starts(engine, server)
    until(lambda: clock.pass_by(server, 1) or "could not be removed" in server.stderr, what=lambda: server.stderr)
    until(lambda: clock.pass_by(server, 1) or not server.clis(), what="its end")


def test_cli_that_starts_a_container_is_asked_to_end_with_the_server(fake, serve):
    engine = fake("run-heeds")
    server = serve(engine)
    server.start_call("print(1)")
    until(lambda: engine.commands("run"), what="a start")
    server.signal(signal.SIGTERM)
    until(lambda: engine.commands("rm"), what="its removal")
    server.signal(signal.SIGTERM)
    assert server.wait_exit(5) == 0
    until((engine.state / "asked").exists, what="asked to end")
    server.assert_clean()


def test_container_that_is_made_after_its_removal(fake, serve):
    """Nobody waits for it any more, and then it is there."""
    engine = fake("made-late")
    server = serve(engine)
    cancel_while_it_starts(engine, server)
    until(engine.containers, what="a container that is late")
    server.wait_no_containers()
    engine.behave("ok")
    assert_success(call(server), "hello")


# A container that goes wrong half-way.


def test_cli_that_ends_half_way(fake, serve):
    engine = fake("dies-half-way")
    server = serve(engine)
    assert_failure(call(server), stdout="half an ans", signal="SIGKILL", note="went away")
    engine.behave("ok")
    assert_success(call(server), "hello")


def test_cli_that_is_killed_half_way(fake, serve):
    engine = fake("killed-half-way")
    server = serve(engine)
    assert_failure(call(server), stdout="half an ans", signal="SIGKILL", note="went away")
    server.wait_no_containers()
    assert len(engine.commands("rm")) == 1


def test_output_in_drips(fake, serve):
    server = serve(fake("drips"))
    assert_success(call(server, "import sys; print('ab\\x1ec'); print('d', file=sys.stderr)"),
                   "ab\x1ec\n\n[stderr]\nd", "ab\x1ec\n", "d\n")


def test_flood(fake, serve):
    server = serve(fake("floods"), "--max-output", "64k")
    result = call(server)
    assert facts_of(result)["exit_code"] == 0
    total = 800 * 65536
    assert f"[... {total - 65536} bytes cut ...]" in facts_of(result)["stderr"]
    assert f"[... {total + len('hello') + 1 - 65536} bytes cut ...]" in facts_of(result)["stdout"]


def test_trailer_with_a_wrong_nonce(fake, serve):
    """It is output; and the CLI's end without a true one is a loss."""
    forged = "\x1e" + "0" * 32 + " exit 0\n"
    result = call(serve(fake("lies-about-the-nonce")))
    assert_failure(result, stdout=forged, stderr=forged, signal="SIGKILL", note="went away")


def test_trailer_on_one_stream_only(fake, serve):
    result = call(serve(fake("ends-one-stream")))
    assert_failure(result, stdout="said\n", signal="SIGKILL", note="went away")


def test_trailer_twice(fake, serve):
    """The first is the one that counts, and nothing after it."""
    assert_failure(call(serve(fake("ends-twice"))), stdout="said\n", exit_code=3)


def test_trailers_that_disagree(fake, serve):
    result = call(serve(fake("disagrees")))
    assert facts_of(result)["exit_code"] in (3, 4)


def test_trailers_with_bad_numbers_are_output(fake, serve):
    result = call(serve(fake("bad-numbers")))
    said = facts_of(result)["stdout"]
    assert facts_of(result)["exit_code"] == 0
    assert said.endswith("hello\n") and said.count("\x1e") == 9


def test_markers_out_of_turn_are_swallowed(fake, serve):
    assert_success(call(serve(fake("says-ready-again"))), "ab")


def test_streams_that_close_early(fake, serve):
    """Nothing more can come, but the CLI lives: the time limit ends it."""
    server = serve(fake("closes-early"))
    result = call(server, timeout_seconds=1)
    assert facts_of(result)["stdout"] == "x" * 100
    assert facts_of(result)["timed_out"] is True
    server.wait_no_containers()


def test_cli_that_lingers_after_the_end(fake, serve, clock):
    """The answer does not wait for it; after ten seconds it is removed by force."""
    engine = fake("lingers")
    server = serve(engine, env=clock.env)
    assert_success(call(server, seconds=5), "hello")
    clock.pass_by(server, 8)
    assert engine.commands("rm") == []
    clock.pass_by(server, 3)
    until(lambda: engine.commands("rm"), what="rm")
    server.wait_no_containers()


# Removing.


def start_deaf(server):
    """A call whose container does not notice the end of its stdin."""
    ident = server.start_call(HELLO, meta={"progressToken": "t"})
    server.wait_notification(lambda message: "up" in message["params"]["message"])
    return ident


def test_deaf_container_is_removed_by_force(fake, serve):
    engine = fake("deaf")
    server = serve(engine)
    ident = start_deaf(server)
    server.notify("notifications/cancelled", {"requestId": ident})
    server.wait_no_containers()
    server.close()
    [words] = engine.commands("rm")
    assert words[-1].startswith(server.prefix)


def test_deaf_container_at_the_timeout(fake, serve):
    server = serve(fake("deaf"))
    result = call(server, timeout_seconds=1)
    assert_failure(result, stdout="up\n", signal="SIGKILL", timed_out=True, note="stopped after")
    server.wait_no_containers()


def test_word_of_the_end_does_not_put_off_the_removal(fake, serve):
    engine = fake("ends-when-killed")
    server = serve(engine)
    server.notify("notifications/cancelled", {"requestId": start_deaf(server)})
    server.wait_no_containers(5)


def test_programs_that_only_say_that_they_are_over(fake, serve, clock):
    """They are not counted as running, so there must be a bound to them."""
    engine = fake("lingers")
    server = serve(engine, "--max-parallel", "1", env=clock.env)
    for _ in range(24):
        assert_success(call(server), "hello")
    until(lambda: len(engine.containers()) <= 16, 5, "the first are removed")
    clock.pass_by(server, 11)
    server.wait_no_containers()


def test_rm_that_fails_twice(fake, serve):
    engine = fake("deaf rm-fails-twice")
    server = serve(engine)
    server.notify("notifications/cancelled", {"requestId": start_deaf(server)})
    server.wait_no_containers(20)
    # And once more, to be sure, if the CLI, which the third one kills here, is
    # seen to die only after it.
    assert len(engine.commands("rm")) in (3, 4)


def test_rm_that_always_fails(fake, serve, clock):
    """It is tried a few times and said, and does not keep the server from anything."""
    engine = fake("deaf rm-fails")
    server = serve(engine, env=clock.env)
    ident = start_deaf(server)
    [name] = server.containers()
    server.notify("notifications/cancelled", {"requestId": ident})
    until(lambda: clock.pass_by(server, 1) or "could not be removed" in server.stderr, what=lambda: server.stderr)
    assert len(engine.commands("rm")) == 5
    assert f"container {name} could not be removed: Error: removing storage: device or resource busy" in server.stderr
    forget(engine, name)
    engine.behave("ok")
    assert_success(call(server), "hello")


def forget(engine, name):
    path = engine.state / "containers" / name
    try:
        os.kill(json.loads(path.read_text())["pid"], signal.SIGKILL)
    except ProcessLookupError:
        pass
    path.unlink()


def test_end_of_the_server_while_rm_hangs(fake, serve, clock):
    """It gives up after ten seconds, and says so."""
    engine = fake("deaf rm-hangs")
    server = serve(engine, env=clock.env)
    ident = start_deaf(server)
    [name] = server.containers()
    server.signal(signal.SIGTERM)
    assert_refused(server.result(ident), "shutting down")
    until(lambda: engine.commands("rm"), what="rm")
    clock.pass_by(server, 8)
    assert server.process.poll() is None
    clock.set(clock.seconds + 3)
    server.send({"id": "wakes it", "method": "ping"})
    assert server.wait_exit(5) == 0
    assert "in time" in server.stderr
    forget(engine, name)
    server.assert_clean()


def test_call_while_the_server_ends(fake, serve):
    """What runs and what comes then are told so, each in its own words; a second
    signal does not wait for the engine any more."""
    engine = fake("deaf rm-hangs")
    server = serve(engine)
    running = start_deaf(server)
    [name] = server.containers()
    server.signal(signal.SIGTERM)
    stopped = server.result(running)
    assert_refused(stopped)
    assert text_of(stopped) == "The server is shutting down; the program was stopped."
    late = call(server)
    assert_refused(late)
    assert text_of(late) == "The server is shutting down."
    server.signal(signal.SIGTERM)
    assert server.wait_exit(5) == 0
    forget(engine, name)
    server.assert_clean()


# Images.


def test_image_that_is_pulled_first(fake, serve):
    engine = fake("image-missing")
    server = serve(engine)
    assert_success(call(server), "hello")
    assert [words[0] for words in engine.commands() if words[0] in ("run", "image", "pull")] == [
        "run", "image", "pull", "run"]
    [words] = engine.commands("pull")
    assert words[:2] == ["pull", "--"] and words[2].endswith("philschmi/code-sandbox-python:latest")


def test_slow_pull_gives_progress(fake, serve):
    server = serve(fake("image-missing pull-slow"))
    ident = server.start_call(HELLO, meta={"progressToken": "p"})
    assert_success(server.result(ident), "hello")
    said = [message["params"]["message"] for message in server.notifications]
    assert any(line.startswith("pulling image") and "philschmi/code-sandbox-python:latest" in line for line in said)
    assert [line for line in said if line.startswith("Copying")] == [f"Copying blob {n} of 5" for n in range(5)]


def test_pull_that_fails(fake, serve):
    result = call(serve(fake("image-missing pull-fails")))
    assert_refused(result, "philschmi/code-sandbox-python:latest", "503 Service Unavailable", "--image")


def test_cause_of_a_failed_pull_behind_many_words(fake, serve):
    result = call(serve(fake("image-missing pull-talks")))
    assert_refused(result, "Copying blob", "no space left on device", "make images")


def test_calls_share_one_pull(fake, serve):
    engine = fake("image-missing pull-slow")
    server = serve(engine)
    calls = [server.start_call(f"print({number})") for number in range(3)]
    for number, ident in enumerate(calls):
        assert_success(server.result(ident), str(number))
    assert len(engine.commands("pull")) == 1
    assert server.stderr.count("is missing: pulling it") == 1


def test_cancel_during_a_pull(fake, serve):
    engine = fake("image-missing pull-hangs")
    server = serve(engine)
    ident = server.start_call(HELLO)
    until(lambda: engine.commands("pull"))
    server.notify("notifications/cancelled", {"requestId": ident})
    server.close(idle=False)
    assert server.replies(ident) == []


# Many calls, few means.


def test_never_more_than_the_parallel_limit(fake, serve, tmp_path):
    server = serve(fake("ok"), "--max-parallel", "4")
    running = tmp_path / "running"
    running.mkdir()
    code = (f"import os, time; name = f'{running}/{{os.getpid()}}'; open(name, 'w')\n"
            "time.sleep(0.2); os.remove(name); print(1)")
    calls = [server.start_call(code) for _ in range(20)]
    most = 0
    while any(not server.replies(ident) for ident in calls):
        most = max(most, len(os.listdir(running)))
        assert most <= 4
    for ident in calls:
        assert_success(server.result(ident), "1")
    assert most >= 2


def test_too_many_waiting_calls_are_refused(fake, serve):
    server = serve(fake("never-ready"), "--max-parallel", "1")
    calls = [server.start_call(HELLO) for _ in range(1003)]
    last = server.result(calls[-1])
    assert_refused(last, "Too many calls are waiting")
    for ident in calls[:1000]:
        server.notify("notifications/cancelled", {"requestId": ident})
    server.request("ping")
    refused = [ident for ident in calls if server.replies(ident)]
    assert len(refused) <= 2
    server.close(idle=False)


def test_too_many_waiting_bytes_are_refused(fake, serve):
    server = serve(fake("never-ready"), "--max-parallel", "1")
    calls = [server.start_call(HELLO + "#" * 16_000_000) for _ in range(19)]
    assert_refused(server.result(calls[-1]), "Too many calls are waiting")
    for ident in calls[:-1]:
        server.notify("notifications/cancelled", {"requestId": ident})
    server.request("ping")
    assert not any(server.replies(ident) for ident in calls)
    server.close(idle=False)


def test_out_of_descriptors(fake, serve):
    """The call that gets none is refused; the server lives on."""
    server = serve(fake("ok"))
    server.result(server.start_call(HELLO))
    server.wait_idle()
    # Enough to start one, which takes both ends of three pipes, and no two.
    enough = server.baseline + 8
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (enough, enough))
    first = server.start_busy()
    assert_refused(call(server), "Too many open files")
    server.notify("notifications/cancelled", {"requestId": first})
    server.wait_idle()
    assert_success(call(server), "hello")


# The clock.


@pytest.mark.parametrize("jump", [86400, -86400])
def test_clock_that_is_set(fake, serve, tmp_path, jump):
    """Time limits go by another one."""
    clock = Clock(tmp_path, monotonic=False)
    server = serve(fake(), env=clock.env)
    assert clock.env["LD_PRELOAD"].encode() in read_proc(server.pid, "maps")
    short, long = server.start_busy(timeout_seconds=3), server.start_call("import time; time.sleep(4); print('done')")
    clock.set(jump)
    assert abs(clock.told() - time.time() - jump) < 60, "libfaketime does what it should"
    assert_failure(server.result(short, 20), stdout="up\n", signal="SIGKILL", timed_out=True, note="stopped after 3.")
    assert_success(server.result(long, 20), "done")


@pytest.mark.parametrize(("mode", "command", "deadline", "words"), [
    ("info-hangs", "info", 30, "no answer within 30 seconds"),
    ("run-hangs", "run", 60, "did not start within 60 seconds"),
    ("never-ready", "run", 60, "did not start within 60 seconds"),
    ("image-missing inspect-hangs", "image", 30, "no answer within 30 seconds"),
    ("image-missing pull-hangs", "pull", 1800, "no answer within 1800 seconds"),
])
def test_command_that_hangs(fake, serve, clock, mode, command, deadline, words):
    """It is waited for that long and no longer, which a clock that is put
    forward shows at once; nothing is left behind."""
    engine = fake(mode)
    server = serve(engine, env=clock.env)
    ident = server.start_call(HELLO)
    until(lambda: engine.commands(command))
    clock.set(deadline - 12)  # a busy machine takes some of the rest
    assert server.request("ping")["result"] == {}
    assert server.lines_within(0.5) == 0
    clock.set(deadline + 5)
    server.request("ping")
    assert_refused(server.result(ident, 10), words)


def test_start_that_is_older_than_its_call(fake, serve, clock):
    """When the minute of a spare one is up, that of a call that waits for it is
    not: the call has another try."""
    engine = fake("never-ready")
    server = serve(engine, "--max-parallel", "1", env=clock.env, pool=1)
    first = server.start_call(HELLO)
    until(lambda: len(engine.commands("run")) == 1, what="the start")
    clock.pass_by(server, 30)
    server.notify("notifications/cancelled", {"requestId": first})
    second = server.start_call(HELLO)
    clock.pass_by(server, 15)
    assert len(engine.commands("run")) == 1, "the second call waits for the same start"
    engine.behave("ok")
    clock.pass_by(server, 20)
    assert_success(server.result(second, 10), "hello")


def test_install_that_takes_too_long(fake, serve, clock):
    """Five minutes, and the next call is served."""
    engine = fake("installs-forever")
    server = serve(engine, env=clock.env, network="host")
    ident = server.start_call(HELLO, packages=["answer"], meta={"progressToken": 1})
    server.wait_notification(lambda message: "Collecting" in message["params"]["message"])
    clock.set(295)
    assert server.request("ping")["result"] == {}
    assert server.replies(ident) == []
    clock.set(305)
    server.request("ping")
    assert_refused(server.result(ident, 10), "were not installed within 300 seconds, and the program was not run",
                   "Collecting answer")
    engine.behave("ok")
    assert_success(call(server), "hello")


def test_install_that_takes_the_container_with_it(fake, serve):
    """It is not tried again and again, and its words are not lost."""
    engine = fake("dies-installing")
    server = serve(engine, network="host")
    assert_refused(call(server, packages=["answer"]), "because the container went away", "for want of memory", "Collecting answer")
    assert len(engine.commands("run")) == 1


# The sweep.


def test_sweep_that_cannot_list_hurts_nobody(fake, serve):
    server = serve(fake("ps-fails"))
    assert_success(call(server), "hello")


@pytest.mark.parametrize("mode", ["ok", "odd-ids"])
def test_orphan_is_swept(fake, serve, mode):
    """By its id, and by nothing else that the engine says instead."""
    engine = fake(mode)
    path = engine.state / "containers" / "code-sandbox-mcp-1-0-dead"
    path.parent.mkdir()
    server = serve(engine)
    ident = server.start_busy()
    [mine] = server.containers()
    owner = (engine.state / "containers" / mine).read_text().split('"')[3].split(":")
    owner[3:] = ["4194304", "1"]
    path.write_text('{"owner": "%s", "pid": 4194304}' % ":".join(owner))
    other = serve(engine)
    other.request("tools/list")
    until(lambda: not path.exists(), what="the orphan is gone")
    orphan = hashlib.sha256(path.name.encode()).hexdigest()
    assert engine.commands("rm") == [["rm", "--force", "--volumes", orphan]]
    asked = [words[words.index("--format") + 2:] for words in engine.commands("container")]
    assert asked and all(len(word) == 64 for words in asked for word in words), asked
    assert server.containers() == [mine]
    server.notify("notifications/cancelled", {"requestId": ident})


# Limits that the engine cannot hold.


ULIMITS = ["--ulimit=nofile=1024:1024", "--ulimit=core=0:0", "--ulimit=fsize=268435456:268435456"]
MEMORY = ["--memory=1g", "--memory-swap=1g"]
NO_MEMORY = "memory (--memory holds each process, not all together)"
NO_PIDS = "pids (--pids counts the processes of all sandboxes)"
NO_CPU = "cpu (--cpus is not held)"
CONTROLLERS = [
    ("cpuset,cpu,io,memory,pids", [*MEMORY, "--cpus=1", "--pids-limit=256", "--ulimit=nproc=4096:4096"], ""),
    ("cpuset,memory,pids", [*MEMORY, "--pids-limit=256", "--ulimit=nproc=4096:4096"], NO_CPU),
    ("cpu,pids", ["--ulimit=data=1073741824:1073741824", "--cpus=1", "--pids-limit=256", "--ulimit=nproc=4096:4096"],
     NO_MEMORY),
    ("cpu,memory", [*MEMORY, "--cpus=1", "--ulimit=nproc=256:256"], NO_PIDS),
    ("none", ["--ulimit=data=1073741824:1073741824", "--ulimit=nproc=256:256"], f"{NO_MEMORY}, {NO_PIDS}, {NO_CPU}"),
]


@pytest.mark.parametrize("name", ["podman", "docker"])
@pytest.mark.parametrize("controllers, limits, told", CONTROLLERS, ids=[row[0] for row in CONTROLLERS])
def test_missing_controllers(fake, serve, name, controllers, limits, told):
    """None is asked to hold what it cannot, and the user is told."""
    engine = fake(f"controllers={controllers}", name)
    server = serve(engine)
    for _ in range(2):
        assert_success(call(server), "hello")
    words = engine.commands("run")[-1]
    kinds = ("--memory", "--cpus", "--pids", "--ulimit")
    assert sorted(word for word in words if word.startswith(kinds)) == sorted(limits + ULIMITS)
    expected = f"code-sandbox-mcp: {engine.cli} has no cgroup controller here for {told}\n" if told else ""
    assert server.stderr == expected


def test_no_limit_above_our_own(fake, serve):
    """An engine that may not raise them could not start anything."""
    engine = fake("controllers=none")
    # The shadow of a sanitized server takes terabytes of data.
    hard = {"nofile": 1023, "nproc": 60_000, "fsize": 1 << 20, "data": 1 << (60 if SANITIZED else 29)}
    lower = [f"--{name}={value}:{value}" for name, value in hard.items()]
    server = serve(engine, command=["/usr/bin/prlimit", *lower, *engine.command("--pids", "65536")])
    assert_success(call(server), "hello")
    [words] = engine.commands("run")
    limits = dict(word.removeprefix("--ulimit=").split("=") for word in words if word.startswith("--ulimit="))
    hard["data"] = min(hard["data"], 1 << 30)
    assert limits == {"core": "0:0", **{name: f"{value}:{value}" for name, value in hard.items()}}


# What the engine gets to see.


def test_environment_of_the_engine_is_scrubbed(fake, serve):
    engine = fake("ok")
    (engine.bin / "real").mkdir()
    (engine.bin / "podman").rename(engine.bin / "real/podman")
    (engine.bin / "podman").write_text(
        f'#!/bin/sh\n/usr/bin/env >{engine.state}/environment-$1\nexec {engine.bin}/real/podman "$@"\n')
    (engine.bin / "podman").chmod(0o755)
    server = serve(engine, env={"SECRET_KEY": "x", "https_proxy": "http://u:p@h", "DOCKER_CONFIG": "/d", "PASSED": "y"},
                   command=engine.command("--pass-through-env", "PASSED"))
    assert_success(call(server), "hello")
    seen = (engine.state / "environment-run").read_text()
    assert "SECRET_KEY" not in seen and "https_proxy" not in seen
    assert "DOCKER_CONFIG=/d" in seen and "PASSED=y" in seen


def test_flags_of_a_container(fake, serve):
    """The promises of the manual, word for word."""
    engine = fake("ok")
    assert_success(call(serve(engine)), "hello")
    [words] = engine.commands("run")
    flags = words[:words.index("--")]
    for flag in ("--rm", "--interactive", "--pull=never", "--cap-drop=ALL", "--security-opt=no-new-privileges",
                 "--read-only", "--user=65534:65534", "--network=none", "--memory=1g", "--memory-swap=1g",
                 "--cpus=1", "--pids-limit=256", "--ipc=private", "--hostname=sandbox", "--log-driver=none",
                 "--http-proxy=false", "--image-volume=ignore"):
        flags.remove(flag)
    assert not [flag for flag in flags if "volume" in flag or "mount" in flag or "privileged=" in flag]


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_every_flag_is_in_the_manual(fake, serve, name):
    """With its value, if that is always the same."""
    engine = fake("ok", name)
    assert_success(call(serve(engine)), "hello")
    [words] = engine.commands("run")
    manual = (ROOT / "man/code-sandbox-mcp-security.7").read_text().replace("\\-", "-")
    chosen = ("--name", "--label", "--network", "--memory", "--memory-swap", "--cpus", "--pids-limit",
              "--security-opt=seccomp")
    for flag in words[words.index("run") + 1:words.index("--")]:
        name = next((name for name in chosen if flag.startswith(f"{name}=")), flag)
        assert f"Fl {name[1:]}" in manual, flag
