# SPDX-License-Identifier: Apache-2.0
"""A proxy before a server of the administration, which answers late, otherwise or not at all when a test asks for it."""
import http.client
import http.server
import threading

from administration import AdministrationServer


class Relay(http.server.ThreadingHTTPServer):
    """The origin of a page whose server is behind it. `faults` has, by path, a status, `drop` or `hold`; `dropped` has the
    names of headers that no reply has, in small letters; `paths` has the path of each request."""

    daemon_threads = True

    def __init__(self, **settings):
        super().__init__(("127.0.0.1", 0), Passing)
        self.faults, self.released, self.held = {}, threading.Event(), threading.Event()
        self.dropped, self.paths = set(), []
        self.server = AdministrationServer(origins=f"http://localhost:{self.server_port}", trusted_proxies="127.0.0.1", **settings)
        self.server.origin = f"http://localhost:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.released.set()
        self.shutdown()
        self.thread.join()
        self.server_close()
        self.server.__exit__()


class Passing(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.paths.append(self.path)
        fault = self.server.faults.get(self.path)
        if fault == "hold":
            self.server.held.set()
            self.server.released.wait(60)
        elif fault == "drop":
            self.close_connection = True
            return
        elif fault is not None:
            self.answer(fault, [("Retry-After", "7")], b"{}")
            return
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.server.server.port, timeout=30)
            headers = dict(self.headers) | {"X-Forwarded-For": "192.0.2.7", "Connection": "close"}
            connection.request(self.command, self.path, body if self.command == "POST" else None, headers)
            reply = connection.getresponse()
            kept = [(name, value) for name, value in reply.headers.items()
                    if name.lower() not in self.server.dropped | {"connection", "content-length", "transfer-encoding"}]
            self.answer(reply.status, kept, reply.read())
            connection.close()
        except OSError:
            self.close_connection = True

    do_POST = do_GET

    def answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in [*headers, ("Content-Length", str(len(body)))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
