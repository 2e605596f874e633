# SPDX-License-Identifier: Apache-2.0
"""Tests of TLS with clients of OpenSSL: the module ssl and the command openssl."""
import base64
import concurrent.futures
import http.client
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

from server import PROGRAM, Authority, Device, Server, stop_while_signing_in, wait_until


class TLSTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.authority = Authority(folder.name)

    def server(self, **settings):
        server = Server(authority=self.authority.certificate, **(self.authority.issue() | settings))
        self.addCleanup(server.__exit__)
        return server

    def connect(self, server, context=None, source="127.0.0.1"):
        plain = socket.create_connection(("127.0.0.1", server.port), 20, (source, 0))
        try:
            return (context or server.tls).wrap_socket(plain, server_hostname="127.0.0.1")
        except OSError:
            plain.close()
            raise

    def presented(self, server):
        """The name in the certificate of the server."""
        with self.connect(server) as client:
            return dict(part[0] for part in client.getpeercert()["subject"])["commonName"]

    def test_a_client_that_trusts_the_authority_signs_in(self):
        server = self.server()
        device = Device(server, "ada").register()
        self.assertEqual(device.sign_in()[0], 201)
        with self.connect(server) as client:
            self.assertEqual(client.version(), "TLSv1.3")
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.connect(server, ssl.create_default_context())
        wrong = ssl.create_default_context(cafile=self.authority.certificate)
        with socket.create_connection(("127.0.0.1", server.port), 20) as plain, \
                self.assertRaises(ssl.SSLCertVerificationError):
            wrong.wrap_socket(plain, server_hostname="example.com")

    def test_keys_of_rsa_are_served(self):
        server = self.server(**self.authority.issue("rsa", ("rsa:2048",)))
        self.assertEqual(self.presented(server), "rsa")

    def test_addresses_of_ipv6_are_served(self):
        try:
            with socket.create_server(("::1", 0), family=socket.AF_INET6):
                pass
        except OSError as error:
            self.skipTest(f"this machine has no IPv6: {error.strerror}")
        server = self.server(address="::")
        self.assertEqual(self.presented(server), "server")
        with socket.create_connection(("::1", server.port), 20) as plain, \
                server.tls.wrap_socket(plain, server_hostname="::1") as client:
            client.sendall(b"GET /health HTTP/1.0\r\n\r\n")
            self.assertIn(b"200", client.recv(100))

    def handshake(self, server, *arguments):
        """What openssl s_client reports, at a security level that permits everything to the client."""
        return subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile",
                               self.authority.certificate, *arguments], input="", capture_output=True, text=True,
                              timeout=20)

    def test_browsers_are_told_to_use_tls_only_but_not_for_hosts_below_the_name(self):
        for settings, values in (({}, ["max-age=31536000"]), ({"hsts_seconds": 60}, ["max-age=60"]),
                                 ({"hsts_seconds": 0}, None)):
            server = self.server(administration="on", metrics_port=0, **settings)
            for path in ("/admin", "/admin/api/session", "/v1/session", "/health", "/nonexistent"):
                self.assertEqual(server.headers("GET", path).get_all("Strict-Transport-Security"), values, path)
            plain = server.connection(server.first["metricsPort"])
            plain.request("GET", "/metrics")
            self.assertIsNone(plain.getresponse().headers["Strict-Transport-Security"])
            plain.close()
            server.stop()

    def test_old_versions_and_weak_ciphers_are_refused(self):
        server = self.server(**self.authority.issue("rsa", ("rsa:2048",)), metrics_port=0)
        everything = "ALL:COMPLEMENTOFALL:@SECLEVEL=0"
        for arguments in (("-tls1", "-cipher", everything), ("-tls1_1", "-cipher", everything),
                          ("-tls1_2", "-cipher", "AES128-GCM-SHA256:@SECLEVEL=0"),
                          ("-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA:@SECLEVEL=0"),
                          ("-tls1_2", "-cipher", "ECDHE-RSA-AES256-SHA384:@SECLEVEL=0"),
                          ("-tls1_3", "-groups", "X448")):
            done = self.handshake(server, *arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn("Cipher is (NONE)", done.stdout, arguments)
        # The same client succeeds with what is permitted, so it is the server that refused.
        for arguments in (("-tls1_2",), ("-tls1_3",), ("-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256")):
            done = self.handshake(server, *arguments)
            self.assertIn("Verify return code: 0 (ok)", done.stdout, arguments)
        self.assertEqual(server.metric("tls_handshake_failures_total"), 6)

    def test_plain_http_and_garbage_are_refused_and_do_not_stop_it(self):
        server = self.server(metrics_port=0)
        request = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
        for data in (request, b"\x16\x03\x01\x00\x05aaaaa", bytes(5000), b"\x16\x03\x01\xff\xff" + os.urandom(70000)):
            with socket.create_connection(("127.0.0.1", server.port), 20) as client:
                reply = b""
                try:
                    client.sendall(data)
                    while received := client.recv(4096):
                        reply += received
                except ConnectionError:
                    pass
                self.assertNotIn(b"HTTP/", reply, data[:10])
        self.assertTrue(wait_until(lambda: server.metric("tls_handshake_failures_total") == 4))
        self.assertTrue(wait_until(lambda: server.metric("connections") == 0))
        self.assertEqual(server.send("GET", "/health")[0], 200)
        self.assertTrue(wait_until(lambda: '"event":"handshakes failed","count":' in server.written()))

    def test_a_client_that_renegotiates_is_cut_off(self):
        server = self.server()
        with subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-tls1_2"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as client:
            client.stdin.write(b"R\n")
            client.stdin.flush()
            # It ends because the server closes the connection; its own input stays open.
            output = client.stdout.read()
            self.assertIn(b"RENEGOTIATING", output)
        self.assertEqual(server.send("GET", "/health")[0], 200)

    def test_elliptic_curve_keys_of_other_programs_are_served(self):
        """Java writes no public key, some programs compress it, and others drop or add zeros in front of the number."""
        for name, options in (("absent", ("ec", "-no_public")), ("compressed", ("pkey", "-ec_conv_form", "compressed"))):
            files = self.authority.issue(name)
            self.authority.openssl(*options, "-in", files["tls_key_file"], "-out", self.folder / "written")
            (self.folder / "written").replace(files["tls_key_file"])
            files["tls_key_file"].chmod(0o600)
            self.assertEqual(self.presented(self.server(**files)), name)
        # The number has one zero too many.
        files = self.authority.issue("long")
        der = subprocess.run(["openssl", "ec", "-in", files["tls_key_file"], "-no_public", "-outform", "DER"],
                             check=True, capture_output=True).stdout
        self.assertEqual(der[:7], bytes.fromhex("30310201010420"))
        text = base64.b64encode(b"\x30\x32\x02\x01\x01\x04\x21\x00" + der[7:]).decode()
        files["tls_key_file"].write_text(f"-----BEGIN EC PRIVATE KEY-----\n{text}\n-----END EC PRIVATE KEY-----\n")
        self.assertEqual(self.presented(self.server(**files)), "long")

    def test_files_that_cannot_be_used_are_refused_at_the_start(self):
        good, other = self.authority.issue(), self.authority.issue("other")
        (self.folder / "empty").write_text("")
        (self.folder / "empty").chmod(0o600)
        locked = self.folder / "locked"
        self.authority.openssl("pkey", "-in", good["tls_key_file"], "-aes128", "-passout", "pass:a", "-out", locked)
        locked.chmod(0o600)
        readable = self.folder / "readable"
        readable.write_bytes(good["tls_key_file"].read_bytes())
        readable.chmod(0o640)
        foreign = self.folder / "foreign"
        foreign.write_bytes(good["tls_key_file"].read_bytes())
        foreign.chmod(0o600)
        os.chown(foreign, 12345, 12345) if os.geteuid() == 0 else foreign.unlink()
        # The compressed public key of another key.
        der = [subprocess.run(["openssl", "ec", "-in", files["tls_key_file"], "-conv_form", "compressed", "-outform",
                               "DER"], check=True, capture_output=True).stdout for files in (good, other)]
        text = base64.b64encode(der[0][:-33] + der[1][-33:]).decode()
        mixed = self.folder / "mixed"
        mixed.write_text(f"-----BEGIN EC PRIVATE KEY-----\n{text}\n-----END EC PRIVATE KEY-----\n")
        mixed.chmod(0o600)
        long = self.folder / "long"
        long.write_text(self.authority.certificate.read_text() * 11)
        secret = self.folder / "secret"
        secret.write_text("00" * 32)
        secret.chmod(0o600)
        for change, message in (
                ({"tls_key_file": other["tls_key_file"]}, "does not belong to the first certificate"),
                ({"tls_key_file": readable}, "can be read or written by other users"),
                ({"tls_key_file": foreign}, "belongs to another user" if os.geteuid() == 0 else "cannot be opened"),
                ({"tls_key_file": locked}, "no private key in PEM"),
                ({"tls_key_file": self.folder / "empty"}, "no private key in PEM"),
                ({"tls_key_file": mixed}, "no private key in PEM"),
                ({"tls_key_file": good["tls_certificate"]}, "can be read or written by other users"),
                ({"tls_certificate": good["tls_key_file"]}, "no certificate in PEM"),
                ({"tls_certificate": self.folder / "empty"}, "no certificate in PEM"),
                ({"tls_certificate": long}, "no certificate in PEM"),
                ({"tls_certificate": self.folder / "none"}, "cannot be opened"),
                ({"tls_certificate": None}, "one of them is missing"),
                ({"tls_key_file": None}, "one of them is missing"),
                ({"address": "localhost"}, "address is not an address"),
                ({"address": "127.0.0.1 "  + "\t1"}, "address is not an address"),
                ({"connections": "9"}, "connections is not a number"), ({"threads": "0"}, "threads is not a number"),
                ({"tls_certificate": None, "tls_key_file": None, "address": "0.0.0.0"}, "without TLS"),
                ({"tls_certificate": None, "tls_key_file": None, "address": "::1"}, "without TLS"),
                ({"tls_certificate": None, "tls_key_file": None, "connections_per_client": "5"}, "needs TLS")):
            values = {"relying_party_id": "a", "port": 0, "database": self.folder / "database",
                      "secret_file": secret} | good | change
            (self.folder / "configuration").write_text("".join(
                f"{name} = {value}\n" for name, value in values.items() if value is not None))
            done = subprocess.run([PROGRAM, self.folder / "configuration", "serve"], capture_output=True, text=True,
                                  timeout=20)
            self.assertEqual(done.returncode, 1, change)
            self.assertTrue(done.stderr.startswith("error: "), done.stderr)
            self.assertIn(message, done.stderr, change)
            if "tls" in str(change) and "missing" not in message and "opened" not in message and "needs" not in message:
                self.assertIn("\nhint: ", done.stderr, change)

    def test_sighup_replaces_the_certificate_and_drops_no_connection(self):
        server = self.server(metrics_port=0)
        self.assertEqual(self.presented(server), "server")
        expiry = server.metric("certificate_expiry_timestamp_seconds")
        self.assertEqual(expiry, server.first["certificateExpires"])
        kept = server.connection()
        kept.request("GET", "/health")
        kept.getresponse().read()
        number = kept.sock.fileno()
        # The handshake of this one begins before the change and ends after it.
        slow = socket.create_connection(("127.0.0.1", server.port), 20)
        self.addCleanup(slow.close)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        half = server.tls.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        with self.assertRaises(ssl.SSLWantReadError):
            half.do_handshake()
        hello = outgoing.read()
        slow.sendall(hello[:20])
        files = self.authority.issue("renewed", days=3)
        for name in ("tls_certificate", "tls_key_file"):
            os.replace(files[name], self.folder / {"tls_certificate": "server.pem", "tls_key_file": "server.key"}[name])
        server.process.send_signal(signal.SIGHUP)
        self.assertTrue(wait_until(lambda: '"event":"certificate replaced"' in server.written()))
        self.assertEqual(self.presented(server), "renewed")
        self.assertGreater(server.metric("certificate_expiry_timestamp_seconds"), expiry)
        kept.request("GET", "/health")
        self.assertEqual(kept.getresponse().status, 200)
        self.assertEqual(kept.sock.fileno(), number, "the same connection")
        kept.close()
        slow.sendall(hello[20:])
        while True:
            try:
                half.do_handshake()
                break
            except ssl.SSLWantReadError:
                slow.sendall(outgoing.read())
                incoming.write(slow.recv(4096))
        # Files that are not usable change nothing.
        (self.folder / "server.key").write_text("")
        server.process.send_signal(signal.SIGHUP)
        self.assertTrue(wait_until(lambda: '"event":"certificate not replaced"' in server.written()))
        self.assertEqual(self.presented(server), "renewed")
        self.assertEqual(server.stop(), 0)

    def test_a_hundred_reloads_under_load_fail_no_request(self):
        server = self.server()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            replies = [pool.submit(server.send, "GET", "/health") for _ in range(200)]
            for _ in range(100):
                server.process.send_signal(signal.SIGHUP)
            self.assertEqual({reply.result()[0] for reply in replies}, {200})
        self.assertEqual(server.stop(), 0)

    def test_a_handshake_that_trickles_is_cut_off(self):
        server = self.server(metrics_port=0)
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = server.tls.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        with self.assertRaises(ssl.SSLWantReadError):
            client.do_handshake()
        hello = outgoing.read()
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", server.port), 20) as slow:
            slow.settimeout(1)
            for byte in hello:
                try:
                    slow.sendall(bytes([byte]))
                    if slow.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
        self.assertLess(time.monotonic() - began, 20)
        self.assertTrue(wait_until(lambda: server.metric("tls_handshake_failures_total") == 1))

    def test_rate_limits_hold_for_the_address_of_a_connection(self):
        server = self.server()
        proof = Device(server, "ada").register().proof()
        wrong = proof | {"signature": ""}
        for number in range(10):
            # What a client that is no trusted proxy writes into the header is not believed.
            self.assertEqual(server.post("/v1/sessions", wrong, {"X-Forwarded-For": f"192.0.2.{number}"})[0], 401)
        self.assertEqual(server.post("/v1/sessions", wrong)[0], 429)
        self.assertEqual(server.post("/v1/sessions", proof)[0], 201)

    def test_a_proxy_on_another_machine_is_trusted_over_tls(self):
        server = self.server(trusted_proxies="127.0.0.2")

        def send(source):
            """The statuses of requests on one connection, each of which names another client."""
            connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=30, context=server.tls,
                                                     source_address=(source, 0))
            statuses = set()
            for number in range(250):
                connection.request("GET", "/v1/session", headers={"X-Forwarded-For": f"192.0.2.{number}"})
                response = connection.getresponse()
                response.read()
                statuses.add(response.status)
            connection.close()
            return statuses
        self.assertEqual(send("127.0.0.2"), {401})
        self.assertEqual(send("127.0.0.3"), {401, 429})

    def test_a_client_cannot_take_all_connections_and_a_proxy_can(self):
        server = self.server(connections_per_client=20, trusted_proxies="127.0.0.9", metrics_port=0)

        def open_connections(source, count):
            clients = [socket.create_connection(("127.0.0.1", server.port), 20, (source, 0)) for _ in range(count)]
            for client in clients:
                self.addCleanup(client.close)
            return clients
        first = open_connections("127.0.0.2", 20)
        self.assertTrue(wait_until(lambda: server.metric("connections") == 20))
        for refused in open_connections("127.0.0.2", 5):
            refused.settimeout(20)
            try:
                self.assertEqual(refused.recv(1), b"")
            except ConnectionError:
                pass
        self.assertEqual(server.metric("connections_refused_total"), 5)
        self.connect(server, source="127.0.0.3").close()
        first[0].close()
        self.assertTrue(wait_until(lambda: server.metric("connections") == 19))
        self.connect(server, source="127.0.0.2").close()
        open_connections("127.0.0.9", 50)
        self.assertTrue(wait_until(lambda: server.metric("connections") >= 69))

    def test_sigterm_answers_what_was_received_over_tls(self):
        server = self.server()
        device = Device(server, "ada").register()
        acknowledged, stored = stop_while_signing_in(server, device)
        self.assertGreaterEqual(acknowledged, 1)
        self.assertGreaterEqual(stored, acknowledged)
