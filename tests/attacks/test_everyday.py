"""What people do in snippets, which the hardening must leave alone."""

import http.server
import socket
import ssl
import subprocess
import threading

import pytest
from arena import node, prints, program, python

EVERYDAY = [
    ("pip install", program("everyday/pip.py"), "6 * 7 = 42\n42\n"),
    ("npm install", program("everyday/npm.js"), "6 * 7 = 42\n42\n"),
    ("executables", program("everyday/executable.py"), "ran in /sandbox\nran in /home/sandbox\n"),
    ("shared object", program("everyday/shared_object.py"), "2.0\n"),
    ("multiprocessing pool", program("everyday/pool.py"),
     "fork [0, 1, 4, 9]\nspawn [0, 1, 4, 9]\nforkserver [0, 1, 4, 9]\n"),
    ("shared memory", program("everyday/shared_memory.py"), "from the child\n"),
    ("threads", program("everyday/threads.py"), "4950\n"),
    ("asyncio with a server of its own", program("everyday/asyncio_server.py"), "HELLO\n"),
    ("matplotlib", program("everyday/plot.py"), "PNG PNG True\n"),
    ("sqlite", program("everyday/database.py"), "[('b', 2)]\n"),
    ("temporary files", program("everyday/temporary.py"), "text True\n"),
    ("subprocess and a pipe", python("import subprocess; print(subprocess.getoutput('seq 3 | sort -r | tr 1-3 a-c'))"),
     "c\nb\na\n"),
    ("http within the container", program("everyday/loopback.py"), "200 hello\n"),
    ("worker threads", program("everyday/workers.js"), "[ 0, 1, 4, 9 ]\n"),
    ("child processes in JavaScript", program("everyday/children.js"), "HELLO\nforked\n"),
    ("http within the container in JavaScript", program("everyday/loopback.js"), "200 hello\n"),
    ("WebAssembly", program("everyday/wasm.js"), "42\n"),
]


@pytest.mark.parametrize("program, stdout", [row[1:] for row in EVERYDAY], ids=[row[0] for row in EVERYDAY])
def test_works(shared, program, stdout):
    prints(stdout).check(shared.call(program.code, program.tool))


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from outside")

    def log_message(self, *_):
        pass


@pytest.fixture
def address():
    """Of this machine, to which containers have a way."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as route:
        route.connect(("192.0.2.1", 9))  # nothing is sent
        return route.getsockname()[0]


@pytest.fixture
def listener(address):
    """A server of this machine."""
    with http.server.ThreadingHTTPServer((address, 0), Hello) as server:
        yield server


@pytest.fixture
def outside(address, listener):
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    yield f"http://{address}:{listener.server_port}/"
    listener.shutdown()


@pytest.fixture
def outside_tls(address, listener, tmp_path):
    """The same behind TLS, and the certificate that vouches for it."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=test",
                    "-addext", f"subjectAltName=IP:{address}"], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    listener.socket = context.wrap_socket(listener.socket, server_side=True)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    yield f"https://{address}:{listener.server_port}/", certificate.read_text()
    listener.shutdown()


@pytest.mark.parametrize("write", [
    lambda url: python(f"import requests; print(requests.get({url!r}, timeout=10).text)"),
    lambda url: node(f"fetch({url!r}).then(r => r.text()).then(console.log)"),
], ids=["Python", "JavaScript"])
def test_network_that_is_on(engine, serve, outside, write):
    program = write(outside)
    prints("hello from outside\n").check(serve(engine, network=None).call(program.code, program.tool))


@pytest.mark.parametrize("write", [
    lambda url, ca: python(f"URL, CA = {url!r}, {ca!r}\n{program('everyday/https.py').code}"),
    lambda url, ca: node(f"const URL = {url!r}, CA = {ca!r};\n{program('everyday/https.js').code}"),
], ids=["Python", "JavaScript"])
def test_https(engine, serve, outside_tls, write):
    """With the authority that the program brings, and not without."""
    asks = write(*outside_tls)
    prints("refused\nhello from outside\n").check(serve(engine, network=None).call(asks.code, asks.tool))
