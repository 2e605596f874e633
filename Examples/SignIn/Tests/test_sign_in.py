# SPDX-License-Identifier: Apache-2.0
"""The example app on a simulated machine, against running servers and an attacker between both."""
import http.client
import http.server
import json
import os
import pathlib
import ssl
import tempfile
import threading
import time
import unittest

from administration import AdministrationServer, PageClient
from server import Authority, Server
from sign_in_machine import Machine

BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# What a connection of TLS is told in place of the reply: a record that cannot be decrypted, what is no record, and nothing.
ENDINGS = [b"\x17\x03\x03\x00\x20" + bytes(32), b"HTTP/1.1 401 Unauthorized\r\n\r\n", b""]


class Attacker:
    """A proxy between app and server, which changes requests and replies.

    Requests for a path in `lost` reach the server. Instead of the reply the app gets these bytes, past TLS, and the
    connection ends. Requests by GET for a path in `moved` are redirected."""

    def __init__(self, server, request=lambda path, body: body, headers=lambda headers: headers, tls=None, lost=None,
                 moved=None):
        attacker = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def forward(self):
                attacker.paths.append(self.path)
                length = int(self.headers.get("Content-Length", 0))
                body = json.dumps(request(self.path, json.loads(self.rfile.read(length)))) if length else None
                if self.command == "GET" and self.path in (moved or {}):
                    self.send_response_only(307)
                    self.send_header("Location", moved[self.path])
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
                names = {name: value for name, value in self.headers.items() if name in ("Authorization", "Content-Type")}
                connection.request(self.command, self.path, body, names)
                reply = connection.getresponse()
                data = reply.read()
                connection.close()
                if self.path in (lost or {}):
                    os.write(self.connection.fileno(), lost[self.path])
                    return
                self.send_response_only(reply.status)
                for name, value in headers({"Date": reply.headers["Date"], "Content-Length": str(len(data))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_DELETE = do_GET = do_POST = forward

            def log_message(self, *_):
                pass

        self.paths = []
        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.listener.server_port
        self.address = f"http://localhost:{self.port}"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            # The handshake is in the thread of the connection, with the first byte that is read.
            self.listener.socket = context.wrap_socket(self.listener.socket, server_side=True, do_handshake_on_connect=False)

    def __enter__(self):
        self.thread = threading.Thread(target=self.listener.serve_forever)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown()
        self.thread.join()
        self.listener.server_close()


class SignInTests(unittest.TestCase):
    def setUp(self):
        self.machine = self.enterContext(Machine())
        # The keychain and the prompts are simulated; a server for people demands more.
        self.server = self.start()
        self.address = f"http://localhost:{self.server.port}"

    def start(self, **settings):
        return self.enterContext(Server(**{"relying_party_id": "localhost", "minimum_tier": "simulated"} | settings))

    def register(self, server=None, address=None, **options):
        server = server or self.server
        code = server.command("code", "ada")
        status, words = self.machine.app(address or self.address, "register", code, fingers=1, **options)
        self.assertEqual(status, 0, words)
        self.assertNotIn(code, words)

    def trusting(self, authority, hosts=None):
        """The beginning of a command that trusts an authority, and that finds these hosts."""
        # FoundationNetworking reads the bundle of the system only, so the tests put another one in its place.
        mounts = [(authority.certificate, BUNDLE)] + ([(hosts, "/etc/hosts")] if hosts else [])
        script = "".join(f"mount --bind '{file}' {place} && " for file, place in mounts)
        return ["unshare", "-m", "--propagation", "private", "sh", "-c", script + 'exec "$@"', "sh"]

    def rotates_without_reply(self, server, tls, name, trusting, endings):
        """Registers, and loses the reply to a rotation that the server accepted: the user is not locked out."""
        honest = self.enterContext(Attacker(server, tls=tls))
        for ending in endings:
            self.register(server, f"https://{name}:{honest.port}", party=name, before=trusting)
            before = server.command("keys", "ada", "--json")
            with Attacker(server, tls=tls, lost={"/v1/rotations": ending}) as attacker:
                self.fails("It is not known whether the server accepted the new key.",
                           f"https://{name}:{attacker.port}", "rotate", party=name, before=trusting, fingers=1)
            self.assertNotEqual(server.command("keys", "ada", "--json"), before, "the server has replaced the key")
            for command, fingers in (("sign-in", 1), ("remove", 0)):
                status, words = self.machine.app(f"https://{name}:{honest.port}", command, party=name, before=trusting,
                                                 fingers=fingers)
                self.assertEqual(status, 0, words)

    def fails(self, words, address=None, *command, **options):
        """The app ends with these words, asks for no finger and leaks nothing."""
        before = len(self.machine.prompts())
        status, shown = self.machine.app(address or self.address, *(command or ("sign-in",)), **options)
        self.assertEqual(status, 1, shown)
        self.assertIn(f"Failed: {words}", shown)
        self.assertEqual(len(self.machine.prompts()) - before, options.get("fingers", 0), "how often it asked")
        for jargon in ("NSURL", "Optional", "Error Domain", "curl", "challenge\":"):
            self.assertNotIn(jargon, shown)

    def test_the_whole_flow(self):
        self.register()
        status, words = self.machine.app(self.address, "sign-in", "pay 20 EUR to Bob", fingers=2)
        self.assertEqual(status, 0, words)
        self.assertIn("Approved: pay 20 EUR to Bob.", words)
        self.assertEqual(self.machine.prompts(), [
            "register this device with localhost for ada", "sign in to localhost as ada",
            "approve at localhost: pay 20 EUR to Bob"])
        for command in ("rotate", "sign-in", "revoke"):
            status, words = self.machine.app(self.address, command, fingers=1)
            self.assertEqual(status, 0, words)
        self.fails("The server did not accept the sign-in.", fingers=1)
        self.assertIn("rows", self.server.command("audit"))
        keys = json.loads(self.server.command("keys", "ada", "--json"))
        self.assertIn("simulated", json.dumps(keys), "the tier that the daemon says")

    def test_an_administrator_opens_the_page_with_a_finger(self):
        server = self.enterContext(AdministrationServer(relying_party_id="localhost", minimum_tier="simulated"))
        address = f"http://localhost:{server.port}"
        self.register(server, address)
        self.fails("The server did not accept the opening of the administration.", address, "administration", fingers=2)
        server.command("administrator", "ada")
        status, words = self.machine.app(address, "administration", fingers=2)
        self.assertEqual(status, 0, words)
        self.assertEqual(self.machine.prompts()[-1], "open the administration of localhost")
        opened, _, code = words.splitlines()[-1].partition("#code=")
        self.assertEqual(opened, f"{address}/admin")
        browser = PageClient(server)
        self.assertEqual(browser.call("code", {"code": code}), (200, {"user": "ada"}))
        self.assertEqual(browser.call("sign-in", {"code": code})[0], 201)
        self.assertEqual(browser.call("session", {})[1]["user"], "ada")
        self.assertEqual(PageClient(server).call("sign-in", {"code": code})[0], 401, "a code is valid once")

    def test_a_key_that_the_operator_revoked(self):
        self.register()
        self.server.command("revoke", "ada")
        self.fails("The server did not accept the sign-in.", fingers=1)

    def test_a_wrong_code_leaves_no_key(self):
        self.fails("The server did not accept the registration.", None, "register", "AAAAAAAAAAAA", fingers=1)
        self.register()

    def test_a_new_finger(self):
        self.register()
        self.machine.sim("replace")
        self.fails("The enrolled fingers or faces changed")

    def test_a_cancelled_prompt(self):
        self.register()
        self.machine.sim("cancel")
        status, words = self.machine.app(self.address, "sign-in")
        self.assertEqual((status, words.splitlines()[0]), (1, "Failed: The sign-in was cancelled."))

    def test_a_server_that_is_down(self):
        self.register()
        self.server.stop()
        self.fails("The server cannot be reached.")

    def test_a_server_of_another_relying_party(self):
        self.register()
        other = self.start(relying_party_id="example.org")
        self.fails("The server asked for a signature for another relying party.", f"http://localhost:{other.port}")
        self.fails("The relying party does not belong to the host", party="example.org")

    def test_an_attacker_who_asks_for_a_challenge_of_another_purpose_or_user(self):
        self.register()
        for change in ({"purpose": "revoke", "context": "user"}, {"user": "eve"}, {"key": "A" * 43},
                       {"context": "pay 20000 EUR to Eve"}):
            with Attacker(self.server, request=lambda _, body: body | change) as attacker:
                self.fails("The server asked for a signature for something else.", attacker.address)
                self.assertEqual(attacker.paths, ["/v1/challenges"], "no signature was sent")

    def test_an_attacker_who_changes_the_act_of_a_step_up(self):
        """The attacker lets the sign-in pass. The act is signed, so that another one is refused by both sides."""
        self.register()

        def change(path, body):
            return body | {"context": "pay 20000 EUR to Eve"} if path == "/v1/step-ups" else body
        with Attacker(self.server, request=change) as attacker:
            self.fails("The server did not accept the approval.", attacker.address, "sign-in", "pay 20 EUR", fingers=2)
        self.assertNotIn("20000", self.server.command("export", "ada"))

    def test_a_server_whose_clock_differs(self):
        self.register()
        date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() - 3600))
        with Attacker(self.server, headers=lambda headers: headers | {"Date": date}) as attacker:
            self.fails("The clock of this device is 60 minutes ahead of the server's.", attacker.address)

    @unittest.skipUnless(os.geteuid() == 0, "a mount namespace needs root")
    def test_tls_with_an_unknown_and_a_known_authority(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        authority = Authority(folder)
        party = "127.0.0.1"
        server = self.start(relying_party_id=party, authority=authority.certificate, address=party, **authority.issue())
        address = f"https://{party}:{server.port}"
        self.fails("The server cannot prove that it is the right one.", address, "register", "AAAAAAAAAAAA", party=party)
        trusting = self.trusting(authority)
        self.register(server, address, party=party, before=trusting)
        status, words = self.machine.app(address, "sign-in", party=party, fingers=1, before=trusting)
        self.assertEqual(status, 0, words)
        # The certificate is for the address, and not for the name.
        self.fails("The server cannot prove that it is the right one.", f"https://localhost:{server.port}",
                   "register", "AAAAAAAAAAAA", before=trusting)

    @unittest.skipUnless(os.geteuid() == 0, "a mount namespace needs root")
    def test_a_reply_that_is_damaged_on_the_network_leaves_both_keys(self):
        authority = Authority(self.enterContext(tempfile.TemporaryDirectory()))
        files = authority.issue()
        party = "127.0.0.1"
        self.rotates_without_reply(self.start(relying_party_id=party), (files["tls_certificate"], files["tls_key_file"]),
                                   party, self.trusting(authority), ENDINGS)

    @unittest.skipUnless(os.geteuid() == 0, "a mount namespace needs root")
    def test_a_reply_that_is_lost_after_another_address_refused_the_connection_leaves_both_keys(self):
        """libcurl reports the failure of the first address then, as if the request had not been sent."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        authority, party = Authority(folder), "login.test"
        hosts, key, request, certificate = (folder / name for name in ("hosts", "key", "request", "certificate"))
        hosts.write_text(f"::1 {party}\n127.0.0.1 {party} localhost\n")
        authority.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test",
                          "-addext", f"subjectAltName=DNS:{party}", "-keyout", key, "-out", request)
        authority.openssl("x509", "-req", "-in", request, "-CA", authority.certificate, "-CAkey", authority.key, "-days",
                          "2", "-copy_extensions", "copy", "-out", certificate)
        self.rotates_without_reply(self.start(relying_party_id=party), (certificate, key), party,
                                   self.trusting(authority, hosts), [b""])

    def test_a_redirection_does_not_get_the_token(self):
        self.register()
        with Attacker(self.server) as elsewhere:
            with Attacker(self.server, moved={"/v1/session": f"{elsewhere.address}/v1/session"}) as attacker:
                status, words = self.machine.app(attacker.address, "sign-in", fingers=1)
                self.assertEqual(status, 0, words)
                self.assertNotIn("The server says about the session", words)
                # Challenge, session, the request of the app, and the sign-out.
                self.assertEqual(attacker.paths, ["/v1/challenges", "/v1/sessions", "/v1/session", "/v1/session"])
            self.assertEqual(elsewhere.paths, [])

    def test_a_proxy_does_not_get_requests_without_tls(self):
        self.register()
        with Attacker(self.server) as proxy:
            for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
                settings = {"http_proxy": "", "all_proxy": "", "ALL_PROXY": "", "no_proxy": "", "NO_PROXY": ""}
                settings[name] = f"http://127.0.0.1:{proxy.port}"
                self.fails("The address of the server", **settings)
                status, words = self.machine.app(self.address, "sign-in", fingers=1, **settings | {"no_proxy": "localhost"})
                self.assertEqual(status, 0, words)
            self.assertEqual(proxy.paths, [])
