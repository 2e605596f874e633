# SPDX-License-Identifier: Apache-2.0
"""A registry for docker and cargo on a free port of the loopback interface, which it prints. It accepts one password and one
token, and has nothing to offer."""

import base64
import http.server

ACCEPTED = ["Basic " + base64.b64encode(b"ada:word").decode(), "token"]


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_known = self.headers.get("Authorization") in ACCEPTED
        # The index of cargo is empty; docker asks for /v2/ only.
        self.send_response((404 if "/no/ne/" in self.path else 200) if is_known else 401)
        self.send_header("WWW-Authenticate", "Basic realm=test" if self.path.startswith("/v2") else "Cargo")
        self.end_headers()
        here = f"http://127.0.0.1:{self.server.server_port}"
        self.wfile.write(f'{{"dl": "{here}", "api": "{here}", "auth-required": true}}'.encode())

    def log_message(self, *_):
        pass


with http.server.HTTPServer(("127.0.0.1", 0), Registry) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
