"""Stands between a client and a server on HTTP and writes down what is said."""

import http.client
import http.server
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

OWN = ("transfer-encoding", "content-length", "connection", "host")


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if body:
            self.note("client", body)
        connection = http.client.HTTPConnection(self.server.target.netloc, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in OWN}
        connection.request(self.command, self.path, body or None, headers)
        self.answer(connection.getresponse())
        connection.close()

    do_GET = do_POST = do_DELETE = pass_on

    def answer(self, response):
        """Line by line, because a stream has no end in sight."""
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in OWN:
                self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        kind = response.getheader("Content-Type") or ""
        for line in response:
            if kind == "application/json":
                self.note("server", line)
            elif line.startswith(b"data: "):
                self.note("server", line[6:])
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        self.wfile.write(b"0\r\n\r\n")

    def note(self, who, line):
        with self.server.lock:
            self.server.said.append({"from": who, "line": line.decode()})

    def log_message(self, *_):
        pass


@contextmanager
def recorded(url):
    """Yields the address to use instead, and the list of what is said."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        proxy.daemon_threads = True
        proxy.target, proxy.said, proxy.lock = urlsplit(url), [], threading.Lock()
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{proxy.server_port}{proxy.target.path}", proxy.said
        proxy.shutdown()
