import http.server
import threading
import urllib.request

server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
server.RequestHandlerClass.log_message = lambda *_: None
threading.Thread(target=server.serve_forever, daemon=True).start()
open("file", "w").write("hello")
with urllib.request.urlopen(f"http://localhost:{server.server_port}/file") as answer:
    print(answer.status, answer.read().decode())
