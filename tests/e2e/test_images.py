"""The images: what ours promise, one that is missing, one without a shell."""

import json

import pytest
from built import built
from harness import Sleeper, assert_failure, assert_refused, assert_success, facts_of, until

JS = "run_js_code"
MISSING = "127.0.0.1:1/no/such-image:latest"


# What ours promise.


@pytest.mark.parametrize(("tool", "code", "version"), [
    ("run_python_code", "import sys; print(*sys.version_info[:2], sep='.')", "3.13"),
    (JS, "console.log(process.versions.node.split('.')[0])", "24"),
])
def test_version(podman_shared, tool, code, version):
    assert_success(podman_shared.call(code, tool), version)


def test_google_genai_unless_left_out(podman, podman_shared):
    """scripts/images says on a label what it could not have."""
    left_out = podman.run("image", "inspect", "--format", '{{index .Config.Labels "code-sandbox-mcp.without"}}',
                          podman.python_image).stdout.split()
    assert left_out in ([], ["google-genai"])
    code = "import importlib.util as u; print(bool(u.find_spec('google') and u.find_spec('google.genai')))"
    assert_success(podman_shared.call(code, timeout_seconds=60), str(left_out == []))


@pytest.mark.parametrize("name", ["numpy", "pandas", "sklearn", "requests", "matplotlib"])
def test_python_library(podman_shared, name):
    assert_success(podman_shared.call(f"import {name}; print('ok')", timeout_seconds=60), "ok")


def test_plot_is_saved(podman_shared):
    code = """
import matplotlib.pyplot as plt, os
plt.plot([1, 2, 3]); plt.savefig('plot.png')
print(open('plot.png', 'rb').read(4))"""
    assert_success(podman_shared.call(code, timeout_seconds=60), r"b'\x89PNG'")


def test_genai_by_require(podman_shared):
    code = "const { GoogleGenAI } = require('@google/genai'); console.log(typeof GoogleGenAI)"
    assert_success(podman_shared.call(code, JS, timeout_seconds=60), "function")


def test_genai_by_import(podman_shared):
    code = "import { GoogleGenAI } from '@google/genai'; console.log(typeof GoogleGenAI)"
    assert_success(podman_shared.call(code, JS, timeout_seconds=60), "function")


def test_environments_resource(podman, serve):
    reply = serve(podman).request("resources/read", {"uri": "sandbox://environments"})
    [content] = reply["result"]["contents"]
    assert content["uri"] == "sandbox://environments"
    assert content["mimeType"] == "application/json"
    described = json.loads(content["text"])
    assert described["python"]["image"] == podman.python_image
    assert described["javascript"]["image"] == podman.js_image
    assert {"numpy", "pandas", "matplotlib", "scikit-learn", "requests"} <= set(described["python"]["libraries"])
    assert described["javascript"]["libraries"] == ["@google/genai"]


# Another image.


def test_one_image_for_everything(podman, serve):
    """The original's pair of variables."""
    server = serve(podman, env={"CONTAINER_IMAGE": podman.noshell_image, "CONTAINER_LANGUAGE": "python"})
    assert_success(server.call("import os; print(os.path.exists('/bin/sh'))"), "False")


def test_python_image_option(podman, serve):
    server = serve(podman, "--python-image", podman.js_image)
    assert_refused(server.call("print(1)"), podman.js_image, "has no python3")


# One that is missing.


def test_missing_image_is_said_in_the_engine_s_words(engine, serve):
    server = serve(engine, "--python-image", MISSING)
    result = server.call("print(1)")
    assert_refused(result, MISSING, "could not be pulled", "connection refused", "--image")
    assert server.stderr.count(f"image {MISSING} is missing: pulling it") == 1


def test_missing_image_gives_progress(podman, serve):
    server = serve(podman, "--python-image", MISSING)
    ident = server.start_call("print(1)", meta={"progressToken": "t"})
    assert_refused(server.result(ident), "connection refused")
    notes = [message["params"] for message in server.notifications]
    assert {note["progressToken"] for note in notes} == {"t"}
    assert any(f"pulling image {MISSING}" in note["message"] for note in notes)
    counts = [note["progress"] for note in notes]
    assert counts == sorted(set(counts))


def test_missing_image_does_not_hurt_the_other_language(podman, serve):
    server = serve(podman, "--python-image", MISSING)
    broken = server.start_call("print(1)")
    assert_success(server.call("console.log(2)", JS), "2")
    assert_refused(server.result(broken), "connection refused")


# One without a shell: the interpreter takes the code in.


def test_noshell_success(noshell):
    code = "import os; print('no shell:', not os.path.exists('/bin/sh'))"
    assert_success(noshell.call(code), "no shell: True")
    assert_success(noshell.call("print('and again')"), "and again")


def test_noshell_failure(noshell):
    result = noshell.call("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert_failure(result, stdout="out\n", stderr="err\n", exit_code=3)


def test_noshell_stdin_is_empty(noshell):
    assert_success(noshell.call("import sys; print(repr(sys.stdin.read()))"), "''")


def test_noshell_timeout(noshell):
    program = Sleeper()
    result = noshell.call(program.code, timeout_seconds=3)
    assert_failure(result, stdout="up\n", signal="SIGKILL", timed_out=True, note="stopped after")
    until(lambda: not program.is_up(), 10, "the program is gone")
    noshell.wait_no_containers()


def test_noshell_cancel(noshell):
    ident = noshell.start_busy()
    noshell.notify("notifications/cancelled", {"requestId": ident})
    noshell.wait_stopped(ident)
    noshell.request("ping")
    assert noshell.replies(ident) == []


def test_noshell_runs_as_nobody(noshell):
    assert_success(noshell.call("import os; print(os.getuid())"), "65534")


def test_noshell_is_as_strict(noshell):
    """Only the working directory and the like can be written to."""
    code = ("import os\nprint(os.getcwd() in ('/sandbox', '/home/sandbox'), os.access('/', os.W_OK))\n"
            "open('f', 'w').write('x'); print(open('f').read(), os.statvfs('/').f_flag & os.ST_RDONLY)\n"
            "print(os.statvfs('.').f_blocks * os.statvfs('.').f_bsize >> 20)")
    assert_success(noshell.call(code), "True False\nx 1\n256")


def test_noshell_spare(engine, serve):
    """A container waits for the call there too, and goes when its stdin ends."""
    server = serve(engine, "--python-image", engine.noshell_image, pool=1)
    for number in range(3):
        assert_success(server.call(f"print({number})"), str(number))
        until(lambda: len(server.containers()) == 1, what="a spare")


NO_SHELL_JS = """
FROM docker.io/{image}
USER 0
RUN ["node", "-e", "for (const d of ['/bin', '/usr/bin', '/usr/local/bin']) \
for (const n of ['sh', 'bash', 'rbash', 'dash', 'busybox']) fs.rmSync(d + '/' + n, {{force: true}})"]
"""


def test_noshell_javascript(podman, serve):
    for image in built(podman, NO_SHELL_JS, image=podman.js_image):
        server = serve(podman, "--js-image", image)
        code = "console.log(__filename, process.argv.length, require.main === module, fs.existsSync('/bin/sh'));"
        assert_success(server.call("const fs = require('fs');" + code, JS), "/sandbox/code.js 2 true false")
        assert "has no shell" in server.stderr
        assert_failure(server.call("process.exit(3)", JS), exit_code=3)
        result = server.call("require('fs').writeFileSync('/new', '')", JS)
        assert "EROFS" in facts_of(result)["stderr"]
        server.close()


def test_noshell_in_another_language(engine, serve, place):
    """Whose interpreter is not known to take code in: it is copied."""
    row = {"name": "snake", "title": "Snake", "file": "code.snake", "command": ["python3", "code.snake"],
           "suffixes": [".snake"], "print": "print()", "image": engine.noshell_image}
    (place / "snake.json").write_text(json.dumps(row))
    (place / "snake.json").chmod(0o644)
    server = serve(engine, "--language-file", place / "snake.json")
    for number in range(2):
        assert_success(server.call(f"print({number})", "run_snake_code"), str(number))
    assert_failure(server.call("raise SystemExit(3)", "run_snake_code"), exit_code=3)
    assert_success(server.call("open('f', 'w').write('x'); print(open('f').read())", "run_snake_code"), "x")
    assert server.stderr.count("its root file system can be written to") == 1
