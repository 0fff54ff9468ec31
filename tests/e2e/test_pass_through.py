"""What of the server's environment reaches a program: what was named, only."""

import json

from harness import assert_success, command_line, facts_of, processes

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


def test_nothing_of_ours_in_javascript(podman, serve):
    inside = environment_inside(serve(podman), "console.log(JSON.stringify(process.env))", "run_js_code")
    assert not [name for name in inside if "SANDBOX" in name or name == "NODE_OPTIONS"]


def test_name_that_is_not_set_is_said_and_left_out(podman, serve):
    server = serve(podman, "--pass-through-env", "NOT_SET_HERE")
    assert "NOT_SET_HERE" not in environment_inside(server)
    [line] = [line for line in server.stderr.splitlines() if "NOT_SET_HERE" in line]
    assert "is not set" in line and "left out" in line


def test_value_is_on_no_command_line_and_in_no_log(engine, serve):
    server = serve(engine, "--verbose", "--pass-through-env", "API_KEY", env={"API_KEY": SECRET})
    ident = server.start_busy()
    assert not [pid for pid in processes() if SECRET in " ".join(command_line(pid))]
    server.notify("notifications/cancelled", {"requestId": ident})
    server.close()
    assert SECRET not in server.stderr


def test_empty_value_is_passed(podman, serve):
    server = serve(podman, "--pass-through-env", "EMPTY", env={"EMPTY": ""})
    assert environment_inside(server)["EMPTY"] == ""
