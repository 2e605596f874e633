# SPDX-License-Identifier: Apache-2.0
"""Tests of the example configurations of nginx and Caddy, which run with other ports, paths and names."""
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

from client import Client, base64url
from server import Authority, Server, wait_until

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Examples"
SEARCHED = "/usr/sbin:/usr/bin:/sbin:/bin"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def changed(name, *changes):
    """An example with other values, each of which is there exactly once."""
    text = (EXAMPLES / name).read_text()
    for old, new in changes:
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    return text


class ProxyTests:
    """The tests of each proxy."""

    @contextlib.contextmanager
    def proxied(self, **settings):
        """A server and the port of the proxy in front of it."""
        if shutil.which(self.program, path=SEARCHED) is None:
            self.skipTest(f"{self.program} is not installed")
        with tempfile.TemporaryDirectory() as folder, Server(metrics_port=0, **settings) as server:
            authority = Authority(folder)
            tls, port = authority.issue(), free_port()
            self.context = ssl.create_default_context(cafile=authority.certificate)
            command = self.command(pathlib.Path(folder), port, server.port, tls)
            with open(f"{folder}/output", "wb") as output:
                # Caddy stores files in the home folder.
                process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder,
                                           env={"HOME": folder, "PATH": SEARCHED})
            try:
                self.assertTrue(wait_until(lambda: process.poll() is not None or self.answers(port)))
                self.assertIsNone(process.poll(), pathlib.Path(f"{folder}/output").read_text())
                yield server, port
            finally:
                process.terminate()
                process.wait(20)

    @staticmethod
    def answers(port):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            return False

    def send(self, port, method, path, headers=None, source="127.0.0.1", body=None):
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=self.context,
                                                 source_address=(source, 0))
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()

    def test_a_client_registers_signs_in_and_revokes_through_the_proxy(self):
        with self.proxied(relying_party_id="127.0.0.1") as (server, port):
            client = Client(f"https://127.0.0.1:{port}", "127.0.0.1", "ada", self.context)
            client.register(server.command("code", "ada"))
            client.sign_in()
            self.assertEqual(client.session()["user"], "ada")
            client.step_up("pay 20 EUR")
            self.assertEqual(client.revoke(), 1)
            self.assertEqual(server.metric("requests_without_client_total"), 0)

    def test_the_limits_tell_clients_apart_whatever_they_write(self):
        with self.proxied() as (server, port):
            def guess(source, number):
                headers = {"Authorization": "Bearer " + base64url(bytes(32)), "X-Forwarded-For": f"192.0.2.{number}"}
                return self.send(port, "GET", "/v1/session", headers, source)[0]
            self.assertEqual({guess("127.0.0.2", number) for number in range(30)}, {401})
            self.assertIn(429, [guess("127.0.0.2", number) for number in range(10)])
            self.assertEqual(guess("127.0.0.3", 1), 401)
            self.assertEqual(server.metric("requests_without_client_total"), 0)
            server.stop()
            lines = [json.loads(line) for line in server.written().splitlines()]
            networks = {line["network"] for line in lines if line.get("path") == "/v1/session"}
            self.assertEqual(networks, {"127.0.0.2", "127.0.0.3"})

    def test_headers_of_the_proxy_and_of_the_server_reach_the_client(self):
        with self.proxied(administration="on") as (_, port):
            for path in ("/health", "/admin", "/v1/session", "/nonexistent"):
                status, headers, body = self.send(port, "GET", path)
                self.assertEqual(headers.get_all("Strict-Transport-Security"), ["max-age=31536000"], path)
                self.assertRegex(headers["X-Request-Id"], "^[0-9a-f]{16}$")
                self.assertEqual(headers["Cache-Control"], "no-store")
                head = self.send(port, "HEAD", path)
                self.assertEqual((head[0], head[1]["Content-Length"], head[2]), (status, str(len(body)), b""))

    def test_a_body_that_is_too_long_is_refused(self):
        with self.proxied() as (_, port):
            headers = {"Content-Type": "application/json"}
            status, _, _ = self.send(port, "POST", "/v1/sessions", headers, body=b" " * 17000)
            self.assertEqual(status, 413)

    def test_a_header_without_a_name_does_not_reach_the_server(self):
        with self.proxied() as (server, port):
            plain = socket.create_connection(("127.0.0.1", port), 20)
            with self.context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
                # For libmicrohttpd the headers would end here, and what follows would be another, malformed request.
                client.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n: x\r\nX-Next: y\r\n"
                               b"Connection: close\r\n\r\n")
                data = b""
                with contextlib.suppress(ConnectionError):
                    while part := client.recv(65536):
                        data += part
            self.assertEqual(data.count(b"HTTP/1.1 "), 1, data)
            server.stop()
            lines = [json.loads(line) for line in server.written().splitlines()]
            paths = [line["path"] for line in lines if line["event"] == "request"]
            self.assertIn(paths, ([], ["/health"]))

    def test_a_refusal_that_ends_its_connection_does_not_disturb_others(self):
        with self.proxied() as (_, port):
            began = time.monotonic()
            for _ in range(50):
                self.assertEqual(self.send(port, "POST", "/v1/sessions", {"Content-Type": "application/json"},
                                           body=b"{")[0], 400)
                self.assertEqual(self.send(port, "GET", "/health")[0], 200)
            self.assertLess(time.monotonic() - began, 15)


class NginxTests(ProxyTests, unittest.TestCase):
    program = "nginx"

    def command(self, folder, port, server, tls):
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{name}_temp_path {folder}/{name};" for name in kinds)
        user = "user root;\n" if os.geteuid() == 0 else ""
        text = changed(
            "nginx.conf", ("worker_processes auto;", f"worker_processes 1;\npid {folder}/pid;\n{user}"),
            ("http {", f"http {{ access_log off; {paths}"), ("server 127.0.0.1:8440;", f"server 127.0.0.1:{server};"),
            ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
            ("server_name example.com;", "server_name 127.0.0.1;"),
            ("/etc/nginx/tls.pem", str(tls["tls_certificate"])), ("/etc/nginx/tls.key", str(tls["tls_key_file"])))
        (folder / "nginx.conf").write_text(text)
        return ["nginx", "-e", "stderr", "-p", folder, "-c", folder / "nginx.conf", "-g", "daemon off;"]


class CaddyTests(ProxyTests, unittest.TestCase):
    program = "caddy"

    def command(self, folder, port, server, tls):
        text = changed(
            "Caddyfile", ("\nexample.com {", f"\nhttps://127.0.0.1:{port} {{\n\tbind 127.0.0.1"),
            ("reverse_proxy 127.0.0.1:8440 {", f"reverse_proxy 127.0.0.1:{server} {{"),
            ("/etc/caddy/tls.pem", str(tls["tls_certificate"])), ("/etc/caddy/tls.key", str(tls["tls_key_file"])))
        (folder / "Caddyfile").write_text(text)
        return ["caddy", "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"]
