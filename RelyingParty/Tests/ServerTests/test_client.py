# SPDX-License-Identifier: Apache-2.0
"""The client that was written from docs/reference/relying-party.md alone, against running servers."""
import http.server
import pathlib
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

import client
from server import Authority, Server

FILE = pathlib.Path(client.__file__)


class IndependentClientTests(unittest.TestCase):
    def client(self, server, user="ada", address=None, party="example.com", context=None):
        return client.Client(address or f"http://127.0.0.1:{server.port}", party, user, context)

    def refused(self, status, call, *arguments):
        with self.assertRaises(client.Refused) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.args, (status,))

    def test_it_is_short_and_shares_no_code(self):
        text = FILE.read_text()
        self.assertLessEqual(len(text.splitlines()), 150)
        self.assertNotIn("from server", text)

    def test_it_registers_signs_in_steps_up_rotates_and_revokes(self):
        with Server() as server:
            ada = self.client(server)
            ada.register(server.command("code", "ada"))
            ada.sign_in()
            shown = ada.session()
            self.assertEqual((shown["user"], shown["key"]), ("ada", client.base64url(ada.key.identifier)))
            self.assertEqual(ada.step_up("pay 20 EUR")["context"], "pay 20 EUR")
            former = ada.key
            ada.rotate()
            self.assertNotEqual(ada.key.identifier, former.identifier)
            ada.sign_in()
            ada.sign_out()
            ada.key, current = former, ada.key
            self.refused(401, ada.sign_in)
            ada.key = current
            self.assertEqual(ada.revoke(), 1)
            self.refused(401, ada.sign_in)
            self.assertIn("rows", server.command("audit"))

    def test_targets_of_revocations_and_names_of_other_alphabets(self):
        with Server() as server:
            user = "J\u00fcrgen \u5c0f"
            for target, count in (("device:laptop", 2), ("user", 2)):
                devices = [self.client(server, user) for _ in range(2)]
                for device in devices:
                    device.register(server.command("code", user), "laptop")
                self.assertEqual(devices[0].revoke(target), count)
                self.refused(401, devices[1].sign_in)

    def test_what_the_client_refuses_itself(self):
        with Server() as server, Server(relying_party_id="example.org") as other:
            ada = self.client(server)
            ada.register(server.command("code", "ada"))
            ada.address = f"http://127.0.0.1:{other.port}"
            self.refused("challenge", ada.sign_in)

    def test_wrong_codes_and_replays_are_refused(self):
        with Server() as server:
            ada = self.client(server)
            self.refused(401, ada.register, "AAAA-AAAA-AAAA")
            ada.register(server.command("code", "ada"))
            proof, _ = ada.prove(ada.key, "login")
            ada.send("POST", "/v1/sessions", proof)
            self.refused(401, ada.send, "POST", "/v1/sessions", proof)

    def test_a_redirection_is_refused_and_the_token_goes_nowhere_else(self):
        received = []

        class Redirecting(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                received.append((self.path, self.headers["Authorization"]))
                self.send_response(302)
                self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirecting) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                ada = client.Client(f"http://127.0.0.1:{server.server_port}", "example.com", "ada")
                ada.token = "secret"
                self.refused(302, ada.session)
            finally:
                server.shutdown()
                thread.join()
        self.assertEqual(received, [("/v1/session", "Bearer secret")])

    def test_as_a_program_over_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            authority = Authority(folder)
            with Server(authority=authority.certificate, address="127.0.0.1", **authority.issue()) as server:
                context = ssl.create_default_context(cafile=authority.certificate)
                ada = self.client(server, address=f"https://127.0.0.1:{server.port}", context=context)
                ada.register(server.command("code", "ada"))
                ada.sign_in()
                self.assertEqual(ada.session()["user"], "ada")
        with Server() as server:
            written = subprocess.run(
                [sys.executable, FILE, f"http://127.0.0.1:{server.port}", "example.com", "bob",
                 server.command("code", "bob")], check=True, capture_output=True, text=True).stdout
            self.assertIn("revoked: 1", written)
