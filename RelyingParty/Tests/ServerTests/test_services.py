# SPDX-License-Identifier: Apache-2.0
"""Tests of the requests of back ends, with a client that has read only docs/reference/relying-party.md."""
import base64
import hashlib
import http.server
import importlib
import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.parse

from server import PROGRAM, Device, Server, text

UNKNOWN = text(bytes(32))


class BackEnd:
    """A registered service."""

    def __init__(self, server, name="shop", *options):
        self.server, self.name = server, name
        self.credential = json.loads(server.command("service", name, *options, "--json"))["credential"]

    def header(self, name=None, credential=None, scheme="Basic"):
        pair = f"{self.name if name is None else name}:{self.credential if credential is None else credential}"
        return {"Authorization": f"{scheme} {base64.b64encode(pair.encode()).decode()}"}

    def introspect(self, token, headers=None, **members):
        body = urllib.parse.urlencode({"token": token, **members}).encode()
        status, data = self.server.send("POST", "/v1/introspection", body, {
            "Content-Type": "application/x-www-form-urlencoded", **(self.header() if headers is None else headers)})
        return status, json.loads(data)

    def redeem(self, approval, token, context):
        return self.server.post("/v1/approvals", {"approval": approval, "token": token, "context": context}, self.header())

    def permit(self, user):
        return self.server.post("/v1/enrolments", {"user": user}, self.header())


class BackEndTests(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Server())
        self.shop = BackEnd(self.server)
        self.ada = Device(self.server, "ada").register()
        self.token = self.ada.sign_in()[1]["token"]

    def approve(self, act):
        status, reply = self.server.post("/v1/step-ups", self.ada.proof("step-up", act) | {"context": act},
                                         {"Authorization": "Bearer " + self.token})
        self.assertEqual(status, 200, reply)
        return reply

    def test_introspection_says_who_and_how(self):
        before = int(time.time())
        status, reply = self.shop.introspect(self.token)
        self.assertEqual(status, 200)
        times = {name: reply.pop(name) for name in ("iat", "exp", "auth_time")}
        self.assertTrue(before - 5 <= times["iat"] == times["auth_time"] <= before + 5, times)
        self.assertEqual(times["exp"] - times["iat"], 43200)
        session = reply.pop("session")
        self.assertEqual(reply, {
            "active": True, "token_type": "Bearer", "iss": self.server.party, "sub": "ada", "key": text(self.ada.id),
            "form": "bound", "proven": {"device": "none", "model": ""}, "claimed": {"tier": "user", "userVerification": ""}})
        self.assertNotEqual(session, self.token)
        self.approve("pay")
        again = self.shop.introspect(self.token, token_type_hint="access_token")[1]
        self.assertEqual(again["session"], session)
        self.assertTrue(before <= again["last_step_up"] <= before + 60)

    def test_a_token_of_no_open_session_is_not_active(self):
        for token in (UNKNOWN, "", "x", "A" * 4000, "\u00e9", self.token + "A"):
            self.assertEqual(self.shop.introspect(token), (200, {"active": False}), token)
        self.server.send("DELETE", "/v1/session", headers={"Authorization": "Bearer " + self.token})
        self.assertEqual(self.shop.introspect(self.token), (200, {"active": False}))

    def test_other_credentials_are_refused_with_the_challenge_of_basic(self):
        other = BackEnd(self.server, "other")
        for headers in ({}, {"Authorization": "Bearer " + self.token}, self.shop.header(credential=UNKNOWN),
                        self.shop.header(name="other"), self.shop.header(name="Shop"), self.shop.header(name="sh\u00f6p"),
                        self.shop.header(credential=other.credential), {"Authorization": "Basic ===="},
                        {"Authorization": "Basic c2hvcA=="}):
            status, reply = self.shop.introspect(self.token, headers)
            self.assertEqual((status, reply["status"]), (401, 401), headers)
        connection = self.server.connection()
        connection.request("POST", "/v1/introspection", b"token=x", {"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(connection.getresponse().headers["WWW-Authenticate"], 'Basic realm="services"')
        connection.close()
        self.assertEqual(self.shop.introspect(self.token, self.shop.header(scheme="bAsIc"))[0], 200)
        self.server.command("service", "shop", "--remove")
        self.assertEqual(self.shop.introspect(self.token)[0], 401)

    def test_forms_are_read_strictly(self):
        for body, status in ((b"token=x&token=y", 400), (b"x=1", 400), (b"token", 400), (b"", 400), (b"token=%zz", 400),
                             (b"token=%ff", 400), (b"token=x&use=yes", 400), (b"to%6ben=x", 200), (b"token=a+b", 200),
                             (b"&token=x&", 200)):
            headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"} | self.shop.header()
            self.assertEqual(self.server.send("POST", "/v1/introspection", body, headers)[0], status, body)
        self.assertEqual(self.server.post("/v1/introspection", {"token": "x"}, self.shop.header())[0], 415)

    def test_an_approval_is_redeemed_once_for_its_act(self):
        reply = self.approve("pay 20 EUR to Bob")
        approval = reply["approval"]
        self.assertEqual(self.shop.redeem(approval, self.token, "pay 200 EUR to Bob"), (200, {"valid": False}))
        other = self.ada.sign_in()[1]["token"]
        self.assertEqual(self.shop.redeem(approval, other, "pay 20 EUR to Bob"), (200, {"valid": False}))
        for wrong in (UNKNOWN, "", "x", "A" * 4000):
            self.assertEqual(self.shop.redeem(wrong, self.token, "pay 20 EUR to Bob"), (200, {"valid": False}))
            self.assertEqual(self.shop.redeem(approval, wrong, "pay 20 EUR to Bob"), (200, {"valid": False}))
        status, redeemed = self.shop.redeem(approval, self.token, "pay 20 EUR to Bob")
        # The time of a challenge is a second ahead in the second in which the server started.
        self.assertIn(redeemed.pop("approved") - reply["expires"] + 60, (0, 1))
        self.assertEqual((status, redeemed), (200, {
            "valid": True, "user": "ada", "key": text(self.ada.id), "context": "pay 20 EUR to Bob"}))
        self.assertEqual(self.shop.redeem(approval, self.token, "pay 20 EUR to Bob"), (200, {"valid": False}))
        # What the client holds is no right to redeem.
        again = self.approve("pay")["approval"]
        self.assertEqual(self.server.post("/v1/approvals", {"approval": again, "token": self.token, "context": "pay"},
                                          {"Authorization": "Bearer " + self.token})[0], 401)

    def test_an_application_enrols_its_users_but_no_administrators(self):
        self.assertEqual(self.shop.permit("bob")[0], 403)
        registrar = BackEnd(self.server, "registrar", "--enroll")
        status, made = registrar.permit("bob")
        self.assertEqual(status, 201)
        bob = Device(self.server, "bob")
        self.assertEqual(self.server.post("/v1/keys", bob.registration(made["code"].lower().replace("-", " ")))[0], 201)
        self.assertEqual(bob.sign_in()[0], 201)
        self.server.command("administrator", "root")
        self.assertEqual(registrar.permit("root")[0], 403)
        self.assertEqual(registrar.permit("")[0], 400)

    def test_refused_credentials_are_limited_for_themselves_and_valid_ones_are_not(self):
        with Server(trusted_proxies=None) as server:
            shop, ada = BackEnd(server), Device(server, "ada").register()
            token = ada.sign_in()[1]["token"]
            wrong = shop.header(credential=UNKNOWN)
            statuses = [shop.introspect(token, wrong)[0] for _ in range(60)]
            self.assertEqual((statuses[:30], set(statuses[30:]) - {401}), ([401] * 30, {429}))
            self.assertEqual(shop.introspect(token)[0], 200)
            # Refusals of another kind are counted for themselves.
            self.assertEqual(server.send("GET", "/v1/session", headers={"Authorization": "Bearer " + UNKNOWN})[0], 401)

    def test_the_commands_list_replace_and_remove(self):
        self.assertEqual(self.server.command("services"), "shop")
        before = self.shop.credential
        self.shop = BackEnd(self.server, "shop", "--enroll")
        self.assertNotEqual(before, self.shop.credential)
        self.assertEqual(self.shop.introspect(self.token, self.shop.header(credential=before))[0], 401)
        self.assertEqual(self.server.command("services"), "shop, makes enrolment codes")
        for arguments, words in ((("service", "Shop"), "the name is not"), (("service", "none", "--remove"), "no service"),
                                 (("service", "shop", "--enroll", "--remove"), "exclude each other")):
            done = subprocess.run([PROGRAM, self.server.configuration, *arguments], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
        self.server.command("service", "shop", "--remove")
        self.assertEqual(self.server.command("services"), "no service is registered")

    def test_the_log_has_no_credential_token_or_approval(self):
        approval = self.approve("pay")["approval"]
        self.shop.introspect(self.token)
        self.shop.redeem(approval, self.token, "pay")
        self.server.stop()
        written = self.server.written()
        self.assertIn("/v1/introspection", written)
        for secret in (self.shop.credential, self.token, approval, self.shop.header()["Authorization"][6:]):
            self.assertNotIn(secret, written)

    def test_a_credential_that_was_replaced_is_in_the_list_of_revocations(self):
        revocations = self.server.folder / "revocations"
        with Server(revocations_file=revocations) as server:
            before = base64.urlsafe_b64decode(BackEnd(server).credential + "=")
            BackEnd(server)
            self.assertEqual(revocations.read_text(), f"service {text(hashlib.sha256(before).digest())}\n")


class ExampleTests(unittest.TestCase):
    """The examples of docs/reference/relying-party.md, as they are."""

    EXAMPLES = pathlib.Path(__file__).parents[2] / "Examples"

    def setUp(self):
        self.server = self.enterContext(Server())
        self.shop = BackEnd(self.server, "shop", "--enroll")
        self.ada = Device(self.server, "ada")
        self.address = f"http://127.0.0.1:{self.server.port}"

    def approve(self, token, act):
        body = self.ada.proof("step-up", act) | {"context": act}
        return self.server.post("/v1/step-ups", body, {"Authorization": "Bearer " + token})[1]["approval"]

    def redirecting(self):
        """A server that sends everything elsewhere, where everything is permitted, and counts what comes there."""
        arrived = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                if self.path == "/there":
                    arrived.append(self.headers["Authorization"])
                    body = b'{"active": true, "sub": "admin", "valid": true}'
                    self.send_response(200)
                else:
                    body = b""
                    self.send_response(302)
                    self.send_header("Location", "/there")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        server = self.enterContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}", arrived

    def test_the_back_end_in_python(self):
        sys.path.insert(0, str(self.EXAMPLES))
        self.addCleanup(sys.path.remove, str(self.EXAMPLES))
        back_end = importlib.import_module("back_end")
        sign_in = back_end.SignIn(self.address, "shop", self.shop.credential)
        self.assertEqual(self.server.post("/v1/keys", self.ada.registration(sign_in.enrolment_code("ada")))[0], 201)
        token = self.ada.sign_in()[1]["token"]
        self.assertEqual(sign_in.session(token)["sub"], "ada")
        self.assertIsNone(sign_in.session(UNKNOWN))
        approval = self.approve(token, "pay")
        self.assertFalse(sign_in.redeem(approval, token, "pay more"))
        self.assertTrue(sign_in.redeem(approval, token, "pay"))
        with self.assertRaises(urllib.error.HTTPError):
            back_end.SignIn(self.address, "shop", UNKNOWN).session(token)
        elsewhere, arrived = self.redirecting()
        with self.assertRaises(urllib.error.HTTPError):
            back_end.SignIn(elsewhere, "shop", self.shop.credential).session(token)
        self.assertEqual(arrived, [])

    def test_the_back_end_in_swift(self):
        program = self.server.folder / "BackEnd"
        subprocess.run(["swiftc", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors",
                        self.EXAMPLES / "BackEnd.swift", "-o", program], check=True)
        self.ada.register()
        token = self.ada.sign_in()[1]["token"]
        approval = self.approve(token, "pay")

        def run(credential, *lines, address=self.address):
            return subprocess.run([program, address, "shop", credential], input="\n".join(lines), text=True,
                                  capture_output=True, timeout=30)

        self.assertEqual(run(self.shop.credential, token).stdout, "200 ada\n")
        self.assertEqual(run(self.shop.credential, UNKNOWN).stdout, "401\n")
        self.assertEqual(run(self.shop.credential, token + "&use=false").stdout, "401\n")
        self.assertEqual(run(self.shop.credential, token, approval, "pay more").stdout, "403\n")
        self.assertEqual(run(self.shop.credential, token, approval, "pay").stdout, "200 ada: pay\n")
        self.assertEqual(run(self.shop.credential, token, approval, "pay").stdout, "403\n")
        self.assertNotEqual(run(UNKNOWN, token).returncode, 0)
        elsewhere, arrived = self.redirecting()
        self.assertNotEqual(run(self.shop.credential, token, address=elsewhere).returncode, 0)
        self.assertEqual(arrived, [])
