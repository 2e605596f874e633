#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example app on a simulated machine, against running servers and an attacker between both."""
import http.client
import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

from administration import AdministrationServer, PageClient
from server import Authority, Server, wait_until

LATCHKEY, SIGN_IN = os.environ["LATCHKEY"], os.environ["SIGN_IN"]
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


def needs(condition, reason):
    """Skips a test, or fails it in CI."""
    def decorate(test):
        if condition:
            return test
        if os.environ.get("CI") == "true":
            return lambda case: case.fail(reason)
        return unittest.skip(reason)(test)
    return decorate


class Machine:
    """A simulated machine with one enrolled finger."""

    def __init__(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.environment = os.environ | {"LATCHKEY_HOME": self.scratch.name}
        self.process = int(self.sim("start", "--ready").split("process ")[1].split(",")[0])

    def sim(self, *words):
        return subprocess.run([LATCHKEY, "sim", *words], env=self.environment, check=True, capture_output=True,
                              text=True).stdout

    def prompts(self):
        return [line.split("asks: ")[1].strip('"') for line in self.sim("transcript").splitlines() if "asks: " in line]

    def app(self, address, *words, party="localhost", fingers=0, before=(), **environment):
        """The exit code of the app, and what it printed."""
        for _ in range(fingers):
            self.sim("touch")
        # An app that asks for more fingers than there are would wait for ever.
        ended = subprocess.run([*before, SIGN_IN, address, party, "ada", *words], capture_output=True, text=True,
                               timeout=40, env=self.environment | environment)
        assert not ended.stderr, ended.stderr
        return ended.returncode, ended.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sim("stop")
        wait_until(lambda: not pathlib.Path(f"/proc/{self.process}").exists())
        self.scratch.cleanup()


class Attacker:
    """A proxy between app and server, which changes requests and replies."""

    def __init__(self, server, request=lambda path, body: body, headers=lambda headers: headers):
        attacker = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                attacker.paths.append(self.path)
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
                names = {name: value for name, value in self.headers.items() if name in ("Authorization", "Content-Type")}
                connection.request("POST", self.path, json.dumps(request(self.path, body)), names)
                reply = connection.getresponse()
                data = reply.read()
                self.send_response_only(reply.status)
                for name, value in headers({"Date": reply.headers["Date"], "Content-Length": str(len(data))}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
                connection.close()

            def log_message(self, *_):
                pass

        self.paths = []
        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://localhost:{self.listener.server_port}"

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

    @needs(os.geteuid() == 0, "a mount namespace needs root")
    def test_tls_with_an_unknown_and_a_known_authority(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        authority = Authority(folder)
        party = "127.0.0.1"
        server = self.start(relying_party_id=party, authority=authority.certificate, address=party, **authority.issue())
        address = f"https://{party}:{server.port}"
        self.fails("The server cannot prove that it is the right one.", address, "register", "AAAAAAAAAAAA", party=party)
        # FoundationNetworking reads the bundle of the system only, so the tests put another one in its place.
        trusting = ["unshare", "-m", "--propagation", "private", "sh", "-c",
                    f'mount --bind "$0" {BUNDLE} && exec "$@"', str(authority.certificate)]
        self.register(server, address, party=party, before=trusting)
        status, words = self.machine.app(address, "sign-in", party=party, fingers=1, before=trusting)
        self.assertEqual(status, 0, words)
        # The certificate is for the address, and not for the name.
        self.fails("The server cannot prove that it is the right one.", f"https://localhost:{server.port}",
                   "register", "AAAAAAAAAAAA", before=trusting)


if __name__ == "__main__":
    unittest.main()
