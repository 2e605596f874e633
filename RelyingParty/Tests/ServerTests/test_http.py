# SPDX-License-Identifier: Apache-2.0
"""Tests of what the server does with requests whose form is wrong, and with the method HEAD."""
import contextlib
import json
import re
import select
import socket
import tempfile
import unittest

from server import Authority, Device, Server, wait_until

LINE = b"GET /health HTTP/1.1\r\n"
# Requests, the statuses of their refusals, and whether the server answers itself, because it knows whose request it is.
REFUSED = {
    "no host": (LINE + b"\r\n", 400, True),
    "a length that is no number": (b"POST /v1/keys HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400, True),
    "a length of 23 digits": (
        b"POST /v1/keys HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 23 + b"\r\n\r\n", 413, True),
    "many cookies": (LINE + b"Host: a\r\nCookie: " + b"a=b;" * 3000 + b"\r\n\r\n", 431, True),
    "another version": (b"GET /health HTTP/3.0\r\nHost: a\r\n\r\n", 505, False),
    "no version": (b"GET /health\r\nHost: a\r\n\r\n", 400, False),
    "a long address": (b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414, False),
    "a long header": (LINE + b"Host: a\r\nX: " + b"a" * 40000 + b"\r\n\r\n", 431, False),
    "many headers": (LINE + b"Host: a\r\n" + b"X: y\r\n" * 2000 + b"\r\n", 431, False),
    "a line without a colon": (LINE + b"Host: a\r\nX\r\n\r\n", 400, False),
}
HIDDEN = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"


def reply(client, request, seconds=10):
    """What the server sends until it closes the connection."""
    with contextlib.closing(client):
        client.settimeout(seconds)
        data = b""
        # What was not read when the server closes resets the connection.
        with contextlib.suppress(ConnectionError):
            client.sendall(request)
            while part := client.recv(65536):
                data += part
        return data


class RefusalTests(unittest.TestCase):
    def connect(self, server):
        plain = socket.create_connection(("127.0.0.1", server.port), 20)
        return server.tls.wrap_socket(plain, server_hostname="127.0.0.1") if server.tls else plain

    def check(self, server):
        for name, (request, status, isKnown) in REFUSED.items():
            data = reply(self.connect(server), request)
            head, _, body = data.partition(b"\r\n\r\n")
            # What follows the first head is a body, and not another response.
            self.assertEqual((data[:13], data.count(b"HTTP/1.1 ")), (b"HTTP/1.1 %d " % status, 1), (name, data))
            lengths = re.findall(rb"(?i)\r\ncontent-length: (.*)\r\n", head + b"\r\n")
            self.assertEqual(lengths, [b"%d" % len(body)], name)
            self.assertIn(b"\r\nConnection: close", head, name)
            self.assertEqual(b"\r\nContent-Type: application/problem+json\r\n" in head + b"\r\n", isKnown, name)
            if isKnown:
                self.assertEqual(json.loads(body)["status"], status, name)
        self.assertEqual(server.send("GET", "/health")[0], 200)
        metrics = server.send("GET", "/metrics", port=server.first["metricsPort"])[1].decode()
        for status in {status for _, status, _ in REFUSED.values()}:
            count = sum(status == other for _, other, _ in REFUSED.values())
            self.assertIn(f'latchkey_server_unanswered_total{{reason="library",status="{status}"}} {count}\n', metrics)
        server.stop()
        lines = [json.loads(line) for line in server.written().splitlines()]
        lines = [line for line in lines if line.get("reason") == "library"]
        self.assertEqual([line["status"] for line in lines], [status for _, status, _ in REFUSED.values()])
        self.assertEqual([line.get("network") for line in lines],
                         ["127.0.0.1" if isKnown else None for _, _, isKnown in REFUSED.values()])

    def test_what_libmicrohttpd_refuses_has_one_response_a_line_of_the_log_and_a_metric(self):
        with Server(metrics_port=0, trusted_proxies=None) as server:
            self.check(server)

    def test_the_same_over_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            authority = Authority(folder)
            with Server(authority=authority.certificate, metrics_port=0, **authority.issue()) as server:
                self.check(server)

    def test_the_request_of_another_client_is_not_taken_for_the_one_that_is_refused(self):
        with Server(metrics_port=0) as server, contextlib.ExitStack() as stack:
            others = [stack.enter_context(self.connect(server)) for _ in range(20)]
            for other in others:
                other.sendall(LINE + b"Host: a\r\nContent-Length: x")
            for _ in range(10):
                # All are sent before the first reply is read, so that one thread has several that it refuses.
                sent = []
                for request, status, isKnown in list(REFUSED.values()) * 3:
                    sent.append((stack.enter_context(self.connect(server)), status, isKnown))
                    sent[-1][0].sendall(request)
                for client, status, isKnown in sent:
                    data = reply(client, b"")
                    # The rest of a long request resets the connection, and the reply may be lost.
                    if data == b"" and status in (414, 431):
                        continue
                    self.assertEqual((data[:13], data.count(b"HTTP/1.1 ")), (b"HTTP/1.1 %d " % status, 1), data)
                    self.assertEqual(b"problem+json" in data, isKnown)
            for other in others:
                other.sendall(b"\r\n\r\n")
                self.assertEqual(other.recv(13), b"HTTP/1.1 400 ")

    def test_connections_that_end_without_a_request_are_counted(self):
        with Server(metrics_port=0) as server:
            for request in (b"GARBAGE\r\n\r\n", b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\r\n\r\n"):
                self.assertEqual(reply(self.connect(server), request), b"")
            self.connect(server).close()
            self.assertTrue(wait_until(lambda: server.metric("connections_without_request_total") == 4))

    def test_every_refusal_of_a_body_ends_the_connection(self):
        with Server() as server:
            line, length = b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\n", b"Content-Length: %d\r\n" % len(HIDDEN)
            json_ = b"Content-Type: application/json\r\n"
            for request, status in ((line + json_ + length + b"\r\n" + HIDDEN, 400),
                                    (line + length + b"\r\n" + HIDDEN, 415),
                                    (line + b"\r\n", 411), (line + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
                                    (line + b"Content-Length: 20000\r\n\r\n" + b" " * 20000, 413),
                                    # Without waiting for the body.
                                    (line + b"Content-Length: 20000\r\nExpect: 100-continue\r\n\r\n", 413),
                                    (line + b"Content-Length: 65537\r\n\r\n", 413),
                                    (line.replace(b"/v1/sessions", b"/") + length + b"\r\n" + HIDDEN, 404),
                                    (line.replace(b"POST", b"PUT") + length + b"\r\n" + HIDDEN, 405)):
                data = reply(self.connect(server), request + HIDDEN)
                self.assertEqual((data[:13], data.count(b"HTTP/1.1 ")), (b"HTTP/1.1 %d " % status, 1), (request, data))

    def test_a_refused_body_is_read_so_that_its_client_reads_the_refusal(self):
        with Server() as server, self.connect(server) as client:
            head = b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n"
            client.settimeout(10)
            # A part of it at first: an early answer, and the end of the connection, would meet the rest.
            client.sendall(head + b" " * 16384)
            self.assertEqual(server.send("GET", "/health")[0], 200)
            self.assertEqual(select.select([client], [], [], 0)[0], [])
            client.sendall(b" " * 49152)
            self.assertEqual(client.recv(65536)[:13], b"HTTP/1.1 413 ")
            self.assertEqual(reply(client, b""), b"")

    def test_a_header_without_a_name_hides_no_second_request_in_a_body(self):
        # libmicrohttpd takes such a line for the end of the headers, so what follows would be the body.
        with Server() as server:
            line = b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            length = b"Content-Length: %d\r\n" % len(HIDDEN)
            for head in (length + b": x\r\n", b": x\r\n" + length):
                request = line + head + b"\r\n"
                data = reply(self.connect(server), request + HIDDEN + HIDDEN)
                self.assertEqual(data.count(b"HTTP/1.1 "), 1, data)
                self.assertIn(data[:13], (b"HTTP/1.1 400 ", b"HTTP/1.1 411 "))


class HeadTests(unittest.TestCase):
    def exchange(self, server, method, path, port=None, token=None):
        """The response's status, its headers but those of one request, and its body with whatever follows."""
        client = socket.create_connection(("127.0.0.1", port or server.port), 20)
        token = f"Authorization: Bearer {token}\r\n" if token else ""
        data = reply(client, f"{method} {path} HTTP/1.1\r\nHost: a\r\n{token}Connection: close\r\n\r\n".encode())
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        return lines[0], sorted(line for line in lines[1:] if not line.startswith(("Date:", "X-Request-Id:"))), body

    def test_head_is_get_without_a_body(self):
        with Server(administration="on", metrics_port=0) as server:
            token = Device(server, "ada").register().sign_in()[1]["token"]
            description = json.loads(server.send("GET", "/v1/openapi.json")[1])["paths"]
            paths = [path for path, methods in description.items() if "get" in methods]
            self.assertIn("/v1/session", paths)
            for path in paths + ["/admin", "/admin/admin.js", "/admin/icon.svg", "/nonexistent", "/v1/sessions"]:
                get, head = (self.exchange(server, method, path, token=token) for method in ("GET", "HEAD"))
                self.assertEqual(head[:2], get[:2], path)
                self.assertEqual((head[2], get[2] != b""), (b"", True), path)
            self.assertEqual(self.exchange(server, "HEAD", "/v1/session")[0], "HTTP/1.1 401 Unauthorized")
            line, headers, body = self.exchange(server, "HEAD", "/metrics", server.first["metricsPort"])
            self.assertEqual((line, body), ("HTTP/1.1 200 OK", b""))
            self.assertTrue(any(header.startswith("Content-Length: ") for header in headers))
            server.stop()
            self.assertIn('"path":"/health","method":"HEAD","status":200', server.written())

    def test_head_is_one_of_the_methods_of_a_path_with_get(self):
        with Server(administration="on") as server:
            for path, methods in (("/health", "GET, HEAD"), ("/v1/session", "GET, HEAD, DELETE"),
                                  ("/admin", "GET, HEAD"), ("/v1/sessions", "POST")):
                self.assertEqual(server.headers("PUT", path)["Allow"], methods)
