"""What of the server's environment reaches a program: what was named, only."""

import json
import os

from harness import assert_refused, assert_success, command_line, facts_of, processes, returned_of

SECRET = "s3cret-vaLue-of-the-test"
SHOW = "import os, json; print(json.dumps(dict(os.environ)))"


def environment_inside(server, code=SHOW, tool="run_python_code"):
    return json.loads(facts_of(server.call(code, tool))["stdout"])


def test_named_variable_is_visible(engine, serve):
    server = serve(engine, "--pass-through-env", "API_KEY, OTHER", env={"API_KEY": SECRET, "OTHER": "ü = 1\n2"})
    inside = environment_inside(server)
    assert inside["API_KEY"] == SECRET
    assert inside["OTHER"] == "ü = 1\n2"


def test_in_javascript_too(podman, serve):
    server = serve(podman, "--pass-through-env", "API_KEY", env={"API_KEY": SECRET})
    assert_success(server.call("console.log(process.env.API_KEY)", "run_js_code"), SECRET)


def test_names_by_the_original_variable(podman, serve):
    server = serve(podman, env={"PASSTHROUGH_ENV": "API_KEY", "API_KEY": SECRET})
    assert environment_inside(server)["API_KEY"] == SECRET


def test_nothing_else_is_visible(engine, serve):
    """Not the server's own variables, and not what the engine's CLI got."""
    hidden = {"HIDDEN": SECRET, "http_proxy": f"http://u:{SECRET}@127.0.0.1:9", "CONTAINER_HIDDEN": SECRET,
              "XDG_HIDDEN": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET}
    inside = environment_inside(serve(engine, env=hidden))
    assert SECRET not in json.dumps(inside)
    own = engine.run("image", "inspect", "--format", "{{json .Config.Env}}", engine.python_image).stdout
    names = {variable.partition("=")[0] for variable in json.loads(own) or []}
    assert set(inside) - names <= {"PATH", "HOME", "HOSTNAME", "container", "TERM", "PWD", "OLDPWD", "LC_CTYPE"}


PROXY = f"http://u:{SECRET}@127.0.0.1:9"
PROXIES = {"httpProxy": PROXY, "httpsProxy": PROXY, "ftpProxy": PROXY, "allProxy": PROXY, "noProxy": SECRET}


def test_proxies_of_docker_s_own_configuration(docker, serve, place):
    """docker run would give them to every program; those of ours are passed."""
    (place / "config.json").write_text(json.dumps({"proxies": {"default": PROXIES}}))
    config = {"DOCKER_CONFIG": str(place)}
    given = docker.run("run", "--rm", "--network=none", docker.python_image, "env", env=config).stdout
    assert given.count(SECRET) == 10, "it does"
    assert not [name for name in environment_inside(serve(docker, env=config)) if "proxy" in name.lower()]
    passed = environment_inside(serve(docker, "--pass-through-env", "https_proxy,NO_PROXY",
                                      env={**config, "https_proxy": "http://ours", "NO_PROXY": ""}))
    assert {name: value for name, value in passed.items() if "proxy" in name.lower()} == {
        "https_proxy": "http://ours", "NO_PROXY": ""}


def test_nothing_of_ours_in_javascript(podman, serve):
    inside = environment_inside(serve(podman), "console.log(JSON.stringify(process.env))", "run_js_code")
    assert not [name for name in inside if "SANDBOX" in name or name == "NODE_OPTIONS"]


def test_name_that_is_not_set_is_said_and_left_out(podman, serve):
    server = serve(podman, "--pass-through-env", "NOT_SET_HERE")
    assert "NOT_SET_HERE" not in environment_inside(server)
    [line] = [line for line in server.stderr.splitlines() if "NOT_SET_HERE" in line]
    assert "is not set" in line and "left out" in line


def test_value_is_on_no_command_line_and_in_no_log(engine, serve):
    """Of what the engine knows it is only in the environment of the container."""
    server = serve(engine, "--verbose", "--pass-through-env", "API_KEY", env={"API_KEY": SECRET})
    ident = server.start_busy()
    assert not [pid for pid in processes() if SECRET in " ".join(command_line(pid))]
    [facts] = json.loads(engine.run("container", "inspect", *server.containers()).stdout)
    assert f"API_KEY={SECRET}" in facts["Config"].pop("Env")
    assert "code-sandbox-mcp.owner" in facts["Config"]["Labels"]
    assert SECRET not in json.dumps(facts)
    server.notify("notifications/cancelled", {"requestId": ident})
    server.close()
    [line] = [line for line in server.stderr.splitlines() if " run " in line]
    assert "--env=API_KEY " in line
    assert SECRET not in server.stderr


def test_value_is_in_no_error(engine, serve):
    server = serve(engine, "--verbose", "--pass-through-env", "API_KEY", network="no-such-network",
                   env={"API_KEY": SECRET})
    assert_refused(server.call("print(1)"), "no-such-network")
    assert "--env=API_KEY" in server.stderr
    server.close()
    assert not [line for line in (*server.lines, server.stderr_bytes) if SECRET.encode() in line]


def test_empty_value_is_passed(podman, serve):
    server = serve(podman, "--pass-through-env", "EMPTY", env={"EMPTY": ""})
    assert environment_inside(server)["EMPTY"] == ""


def test_redacted(engine, serve):
    """Wherever the output goes: to the result and to progress, also a value
    that comes in pieces."""
    server = serve(engine, "--redact", "--pass-through-env", "API_KEY", env={"API_KEY": SECRET})
    code = ("import os, sys, time; key = os.environ['API_KEY']\n"
            "print('whole', key, flush=True); sys.stdout.write(key[:9]); sys.stdout.flush(); time.sleep(1.5)\n"
            "print(key[9:], 'in pieces'); print(key, file=sys.stderr); print(len(key))")
    ident = server.start_call(code, meta={"progressToken": "p"})
    facts = facts_of(server.result(ident))
    assert facts["stdout"] == f"whole [API_KEY]\n[API_KEY] in pieces\n{len(SECRET)}\n"
    assert facts["stderr"] == "[API_KEY]\n"
    assert not [line for line in server.lines if SECRET.encode() in line]


def test_redacted_in_the_middle_of_a_character(podman, serve):
    """What is left of the value is no UTF-8, and comes all the same."""
    server = serve(podman, "--redact", "--pass-through-env", "API_KEY", env={"API_KEY": os.fsdecode(b"\x82\xac-secret")})
    assert facts_of(server.call("'€-secret'", session="new"))["value"] == "'\ufffd[API_KEY]'"
    server.close(idle=False)


def test_redacted_in_files(podman, serve):
    """In what they hold and in what they are called."""
    server = serve(podman, "--redact", "--pass-through-env", "API_KEY", env={"API_KEY": SECRET})
    code = "import os; key = os.environ['API_KEY']; open(key + '.txt', 'w').write(f'the key is {key}')"
    result = server.call(code, outputs=["*"])
    assert returned_of(result) == {"[API_KEY].txt": b"the key is [API_KEY]"}
    assert facts_of(server.call(code, session="new"))["exit_code"] == 0
    server.close(idle=False)
    assert not [line for line in server.lines if SECRET.encode() in line]


def test_value_too_short_to_be_redacted_is_said(podman, serve):
    server = serve(podman, "--redact", "--pass-through-env", "SHORT", env={"SHORT": "abc"})
    assert_success(server.call("import os; print(os.environ['SHORT'])"), "abc")
    assert "SHORT is shorter" in server.stderr
