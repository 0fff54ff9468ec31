"""Who may talk to the server over HTTP, and where it listens."""

import contextlib
import json
import os
import socket
import stat
import subprocess

import pytest
from harness import until
from wire import MODERN, meta

TOKEN = "0123456789abcdef0123456789abcdef"
DISCOVER = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta()}}
HEADERS = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"}


def discover(server, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return server.post(DISCOVER, {**HEADERS, **named}).finish()


def exits_at_once(engine, *options, env=None):
    """Status, and the one line that it says."""
    done = subprocess.run(engine.command("--transport", "streamable-http", *options), env=engine.environment(env),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=40)
    assert done.stdout == ""
    assert done.stderr.startswith("code-sandbox-mcp: ") and done.stderr.count("\n") == 1, done.stderr
    return done.returncode, done.stderr


# Host and Origin.


@pytest.mark.parametrize("host", ["localhost", "localhost:{port}", "127.0.0.1", "127.0.0.1:{port}", "[::1]:{port}",
                                  "LOCALHOST:{port}", "127.0.0.1:1"])
def test_host_of_this_machine(http, host):
    assert discover(http, Host=host.format(port=http.port)).status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil:1",
                                  "127.0.0.1:80@evil.example", "evil.example:127.0.0.1", "0.0.0.0", "10.0.0.1", "",
                                  "localhost:80:evil", None])
def test_strange_host(http, host):
    """As a browser sends it whose name server has been made to lie."""
    assert discover(http, Host=host and host.format(port=http.port)).status in (400, 403)
    assert http.get("/healthz", {"Host": host and host.format(port=http.port)}).status in (400, 403)


@pytest.mark.parametrize("origin", ["http://localhost", "http://localhost:3000", "https://127.0.0.1:8443",
                                    "http://[::1]:5"])
def test_origin_of_this_machine(http, origin):
    assert discover(http, Origin=origin).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "https://localhost.evil.example", "null", "file://",
                                    "http://localhost@evil.example", "http://127.0.0.1.evil.example", "", "localhost",
                                    "http://evil.example:80/localhost", "chrome-extension://abc"])
def test_strange_origin(http, origin):
    assert discover(http, Origin=origin).status == 403
    assert http.get(http.path, {"Origin": origin, "Mcp-Session-Id": "x"}, "DELETE").status == 403
    assert http.get("/healthz", {"Origin": origin}).status == 403
    assert http.get("/elsewhere", {"Origin": origin}).status == 403


def test_strange_origin_runs_nothing(http):
    call = http.modern().call("print(1)", headers={"Origin": "http://evil.example"}).finish()
    assert call.status == 403 and call.messages == []
    assert not any(words[0] == "run" for words in http.engine.commands())


def test_further_hosts_and_origins(fake, serve_http):
    server = serve_http(fake(), "--allow-host", "box.example,other.example:99", "--allow-origin", "https://app.example")
    assert discover(server, Host="box.example").status == 200
    assert discover(server, Host="BOX.example:1234").status == 200
    assert discover(server, Host="other.example:99").status == 200
    assert discover(server, Host="other.example:98").status == 403
    assert discover(server, Origin="https://app.example").status == 200
    assert discover(server, Origin="https://app.example.evil").status == 403
    assert discover(server, Origin="http://app.example").status == 403


# Pages in a browser.


PAGE = "https://app.example"


@pytest.fixture
def paged(fake, serve_http):
    return serve_http(fake(), "--allow-origin", PAGE, env={"CODE_SANDBOX_TOKEN": TOKEN})


def preflight(server, origin):
    return server.get(server.path, {"Origin": origin, "Access-Control-Request-Method": "POST",
                                    "Access-Control-Request-Headers": "authorization, content-type"}, "OPTIONS")


def test_page_that_is_named(paged):
    """The browser asks first, without the token; then the page asks, and reads."""
    asked = preflight(paged, PAGE)
    assert (asked.status, asked.body) == (204, b"")
    assert asked.header("Access-Control-Allow-Origin") == PAGE and asked.header("Vary") == "Origin"
    assert {"POST", "DELETE"} <= set(asked.header("Access-Control-Allow-Methods").split(", "))
    allowed = asked.header("Access-Control-Allow-Headers").lower().split(", ")
    assert {"authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-method",
            "mcp-name"} <= set(allowed)
    for token, status in ((TOKEN, 200), ("wrong", 401)):
        answer = discover(paged, Origin=PAGE, Authorization=f"Bearer {token}")
        assert answer.status == status
        assert answer.header("Access-Control-Allow-Origin") == PAGE
        assert "Mcp-Session-Id" in answer.header("Access-Control-Expose-Headers")


def test_page_that_is_not_named(paged):
    """One from this machine may ask, and no browser lets it read the answer."""
    assert preflight(paged, "https://evil.example").status == 403
    assert preflight(paged, "http://localhost:3000").status == 401
    own = discover(paged, Origin="http://localhost:3000", Authorization=f"Bearer {TOKEN}")
    assert own.status == 200 and own.header("Access-Control-Allow-Origin") is None


# Token.


@pytest.fixture(params=["file", "environment"])
def guarded(request, fake, serve_http, tmp_path):
    if request.param == "environment":
        return serve_http(fake(), env={"CODE_SANDBOX_TOKEN": TOKEN})
    (tmp_path / "token").write_text(TOKEN + "\n")
    return serve_http(fake(), "--token-file", tmp_path / "token")


@pytest.mark.parametrize("given", [None, "", "Bearer", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", TOKEN,
                                   f"Basic {TOKEN}", f"Bearer {TOKEN.upper()}", "Bearer " + "x" * 4000])
def test_wrong_token(guarded, given):
    refused = discover(guarded, Authorization=given)
    assert refused.status == 401
    assert refused.header("WWW-Authenticate").startswith("Bearer")
    assert TOKEN.encode() not in refused.body
    assert guarded.get(guarded.path, {"Authorization": given, "Mcp-Session-Id": "x"}, "DELETE").status == 401


def test_right_token(guarded):
    assert discover(guarded, Authorization=f"Bearer {TOKEN}").status == 200
    assert discover(guarded, Authorization=f"bearer {TOKEN}").status == 200
    guarded.token = TOKEN
    assert guarded.session().call("print(1)").result()["structuredContent"]["stdout"] == "1\n"


def test_health_needs_no_token(guarded):
    health = guarded.get("/healthz")
    assert (health.status, json.loads(health.body)) == (200, {"status": "ok"})


def test_token_is_not_passed_on(guarded):
    """Neither to the engine's command line nor to the program."""
    guarded.token = TOKEN
    told = guarded.modern().call("import os; print(dict(os.environ))").result()
    assert TOKEN not in json.dumps(guarded.engine.commands())
    assert TOKEN not in json.dumps(told)


@pytest.mark.parametrize("text", ["", "short", "\n" + TOKEN])
def test_token_that_is_none(fake, tmp_path, text):
    (tmp_path / "token").write_text(text)
    status, said = exits_at_once(fake(), "--port", "0", "--token-file", str(tmp_path / "token"))
    assert status == 2 and "16 characters" in said


@pytest.mark.parametrize("mode,warned", [(0o600, False), (0o640, False), (0o644, True)])
def test_token_file_that_all_can_read(fake, serve_http, tmp_path, mode, warned):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "token").chmod(mode)
    server = serve_http(fake(), "--token-file", tmp_path / "token")
    assert ("chmod 600" in server.stderr) == warned


def test_token_file_that_is_not_there(fake, tmp_path):
    status, said = exits_at_once(fake(), "--port", "0", "--token-file", str(tmp_path / "none"))
    assert status == 2 and "No such file" in said


# Where it listens.


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_no_token_off_this_machine(fake, host):
    status, said = exits_at_once(fake(), "--port", "0", "--host", host)
    assert status == 2 and "token" in said and host in said


def test_off_this_machine_with_a_token(fake, serve_http):
    server = serve_http(fake(), "--host", "0.0.0.0", env={"CODE_SANDBOX_TOKEN": TOKEN})
    assert discover(server).status == 401
    assert discover(server, Authorization=f"Bearer {TOKEN}").status == 200
    assert discover(server, Authorization=f"Bearer {TOKEN}", Host="evil.example").status == 403


def test_ipv6_off_this_machine(fake, serve_http):
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        pytest.skip("no IPv6 here")
    server = serve_http(fake(), "--host", "::", env={"CODE_SANDBOX_TOKEN": TOKEN})
    assert discover(server, Authorization=f"Bearer {TOKEN}", Host=f"[::]:{server.port}").status == 200
    assert discover(server, Authorization=f"Bearer {TOKEN}", Host=f"[::2]:{server.port}").status == 403


def test_listens_on_loopback_only(http):
    with open("/proc/net/tcp") as table:
        local = [line.split()[1] for line in table if line.split()[3] == "0A"]
    assert [address.partition(":")[0] for address in local if int(address.partition(":")[2], 16) == http.port] == \
        ["0100007F"]


def test_ipv6_loopback(fake, serve_http):
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        pytest.skip("no IPv6 here")
    server = serve_http(fake(), "--host", "::1")
    connection = socket.create_connection(("::1", server.port), 20)
    exchange = server.send(server.head("GET", "/healthz", {"Host": f"[::1]:{server.port}"}), connection)
    assert exchange.finish().status == 200
    assert server.url == f"http://[::1]:{server.port}/mcp"


def test_port_that_is_taken(fake, http):
    status, said = exits_at_once(fake(), "--port", str(http.port))
    assert status == 2 and "in use" in said


def test_host_that_is_none(fake):
    assert exits_at_once(fake(), "--port", "0", "--host", "no.such.host.invalid")[0] == 2


def test_another_path(fake, serve_http):
    server = serve_http(fake(), "--path", "/a/b")
    assert server.url.endswith("/a/b")
    assert discover(server).status == 200
    server.path = "/mcp"
    assert discover(server).status == 404


# Unix socket.


@pytest.fixture
def at_socket(fake, serve_http, tmp_path):
    def start(**named):
        server = serve_http(fake(), where=("--listen", f"unix:{tmp_path}/s"), **named)
        server.path = "/mcp"
        return server

    return start


def test_unix_socket(at_socket, tmp_path):
    server = at_socket()
    assert server.url == f"unix:{tmp_path}/s"
    status = os.lstat(tmp_path / "s")
    assert stat.S_ISSOCK(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o600
    assert server.modern().call("print(1)").result()["structuredContent"]["stdout"] == "1\n"
    assert server.session().request("ping").result() == {}
    assert server.get("/healthz").status == 200
    server.close()
    assert not os.path.lexists(tmp_path / "s")


def test_mode_of_the_socket_does_not_depend_on_umask(at_socket, tmp_path):
    old = os.umask(0)
    try:
        at_socket()
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.lstat(tmp_path / "s").st_mode) == 0o600


def test_stale_socket_is_replaced(at_socket, tmp_path):
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(tmp_path / "s"))
    server = at_socket()
    assert server.get("/healthz").status == 200


def test_live_socket_is_left_alone(at_socket, fake, tmp_path):
    server = at_socket()
    status, said = exits_at_once(fake(), "--listen", f"unix:{tmp_path}/s")
    assert status == 2 and "already" in said
    assert server.get("/healthz").status == 200


def test_socket_of_another_server_stays(at_socket, tmp_path):
    """Somebody has taken the first one's away."""
    first = at_socket()
    (tmp_path / "s").rename(tmp_path / "old")
    second = at_socket()
    first.close()
    assert second.get("/healthz").status == 200


def test_socket_with_a_crowd_at_its_door_is_left_alone(fake, tmp_path):
    """Nobody gets in, and it is somebody's all the same."""
    with contextlib.ExitStack() as stack:
        busy = stack.enter_context(socket.socket(socket.AF_UNIX))
        busy.bind(str(tmp_path / "s"))
        busy.listen(0)
        with pytest.raises(BlockingIOError):
            for _ in range(10):
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect(str(tmp_path / "s"))
        status, said = exits_at_once(fake(), "--listen", f"unix:{tmp_path}/s")
    assert status == 2 and "already" in said
    assert os.path.lexists(tmp_path / "s")


def test_what_is_no_socket_is_left_alone(fake, tmp_path):
    (tmp_path / "s").write_text("precious")
    status, said = exits_at_once(fake(), "--listen", f"unix:{tmp_path}/s")
    assert status == 2 and "not a socket" in said
    assert (tmp_path / "s").read_text() == "precious"


def test_socket_whose_path_is_too_long(fake, tmp_path):
    status, said = exits_at_once(fake(), "--listen", f"unix:{tmp_path}/{'x' * 120}")
    assert status == 2 and "107" in said


def test_socket_goes_when_the_server_is_killed_and_comes_back(at_socket, tmp_path):
    """SIGKILL leaves the socket; the next server takes its place."""
    first = at_socket()
    first.process.kill()
    first.process.wait()
    assert os.path.lexists(tmp_path / "s")
    second = at_socket()
    until(lambda: second.get("/healthz").status == 200)
