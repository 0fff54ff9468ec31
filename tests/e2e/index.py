"""A package index of the test's own, for pip and for npm."""

import base64
import functools
import hashlib
import http.server
import io
import json
import tarfile
import threading
import time
import zipfile
from contextlib import contextmanager

SLOW = 3  # seconds that the index takes for the package "slow"
# What the package "hostile" does while npm installs it, and when Python starts.
POISON = "echo registry=http://127.0.0.1:1/ >$HOME/.npmrc; touch $HOME/poison /tmp/poison"


def make_wheel(name):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as wheel:
        wheel.writestr(f"{name}.py", "value = 42\n")
        if name == "early":
            wheel.writestr("early.pth", "import sys; sys.early = 'done at the start'\n")
        if name == "hostile":
            wheel.writestr("hostile.pth", f"import os; os.system('{POISON}')\n")
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return file.getvalue()


def facts(name):
    scripts = {"hasInstallScript": True, "scripts": {"postinstall": POISON}} if name == "hostile" else {}
    return {"name": name, "version": "1.0.0", "main": "index.js", **scripts}


@functools.cache  # there is a time in it
def make_tarball(name):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for path, text in (("package.json", json.dumps(facts(name))), ("index.js", "exports.value = 42;\n")):
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return file.getvalue()


class Index(http.server.BaseHTTPRequestHandler):
    """/simple is one of Python, /npm one of Node; both have the same packages."""

    protocol_version = "HTTP/1.1"
    packages = ("answer", "slow", "hostile", "early", "cycler")  # the last one is in our image, too

    def do_GET(self):
        place, _, rest = self.path.strip("/").partition("/")
        name = rest.partition("/")[0].partition("-1.0")[0]
        if name == "slow" and place in ("simple", "npm"):
            time.sleep(SLOW)
        body = getattr(self, f"serve_{place}", lambda *_: None)(name, rest) if name in self.packages else None
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html" if place == "simple" else "application/json")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def serve_simple(self, name, _):
        return f'<a href="/wheels/{name}-1.0-py3-none-any.whl">{name}-1.0-py3-none-any.whl</a>'.encode()

    def serve_wheels(self, name, _):
        return make_wheel(name)

    def serve_npm(self, name, rest):
        tarball = make_tarball(name)
        if rest.endswith(".tgz"):
            return tarball
        host, port = self.server.server_address
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
        tarball = f"http://{host}:{port}/npm/{name}-1.0.0.tgz"
        version = {**facts(name), "dist": {"tarball": tarball, "integrity": integrity}}
        return json.dumps({"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}).encode()

    def log_message(self, *_):
        pass


def variables(host, port):
    return {"PIP_INDEX_URL": f"http://{host}:{port}/simple", "PIP_TRUSTED_HOST": host,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NPM_CONFIG_REGISTRY": f"http://{host}:{port}/npm/"}


@contextmanager
def open_index():
    """Yields the variables by which installers know of it."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield variables(*server.server_address)
        server.shutdown()
