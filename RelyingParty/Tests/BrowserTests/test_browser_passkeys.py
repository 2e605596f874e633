# SPDX-License-Identifier: Apache-2.0
"""Passkeys of Chromium's virtual authenticator (WebAuthn Level 3, section 11) at a running server."""
import base64
import http.server
import json
import threading
import unittest

from passkey import changed
from server import Server, text
from webdriver import Browser

REFUSED = {"type": "about:blank", "title": "The proof was not accepted.", "status": 401}

# Functions of the page: bytes are base64url, as in requests.
SCRIPT = """
const [options, done] = arguments;
const bytes = text => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), each => each.charCodeAt(0));
const make = () => navigator.credentials.create({ publicKey: {
    challenge: bytes(options.challenge), timeout: options.timeout, rp: { id: options.relyingParty, name: "tests" },
    user: { id: bytes(options.userHandle), name: options.user, displayName: options.user },
    pubKeyCredParams: [{ type: "public-key", alg: -7 }], attestation: options.attestation,
    authenticatorSelection: { residentKey: "required", userVerification: options.verification } } });
const use = () => navigator.credentials.get({ publicKey: {
    challenge: bytes(options.challenge), timeout: options.timeout, rpId: options.relyingParty,
    userVerification: options.verification } });
(options.userHandle ? make() : use()).then(made => done(made.toJSON()), error => done({ error: error.name }));
"""


class Empty(http.server.BaseHTTPRequestHandler):
    """A page without contents, because scripts need an origin."""

    def do_GET(self):
        data = b"<!doctype html><title>tests</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Page(Browser):
    """A browser that shows a page of its own origin."""

    def __init__(self):
        self.host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty)
        self.origin = f"http://localhost:{self.host.server_address[1]}"
        self.thread = threading.Thread(target=self.host.serve_forever)
        self.thread.start()
        super().__init__()
        self.go(self.origin)

    def close(self):
        try:
            super().close()
        finally:
            self.host.shutdown()
            self.thread.join()
            self.host.server_close()

    def authenticator(self, **options):
        """A new authenticator, whose user is always verified."""
        return self.send("POST", "/webauthn/authenticator", {
            "protocol": "ctap2_1", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "isUserConsenting": True} | options)

    def ask(self, server, user=None, attestation="none", verification="required"):
        body = {"purpose": "register", "user": user} if user else {"purpose": "login"}
        status, options = server.post("/v1/passkeys/challenges", body)
        assert status == 200, options
        options |= {"user": user, "attestation": attestation, "verification": verification}
        return self.run_async(SCRIPT, options)

    def registration(self, server, user, **options):
        return {"user": user, "credential": self.ask(server, user, **options),
                "enrollmentCode": server.command("code", user)}

    def sign_in(self, server, **options):
        return {"credential": self.ask(server, **options)}


def settings(page):
    return {"relying_party_id": "localhost", "passkeys": "allow", "origins": page.origin}


def altered(value):
    """The texts of the same bytes, each with one of them changed."""
    data = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
    for index in range(len(data)):
        yield text(data[:index] + bytes([data[index] ^ 1]) + data[index + 1:])


class PasskeyTests(unittest.TestCase):
    def test_a_passkey_of_chromium_signs_in_and_each_altered_byte_is_refused(self):
        with Page() as page, Server(**settings(page)) as server:
            page.authenticator()
            status, reply = server.post("/v1/passkeys", page.registration(server, "ada"))
            self.assertEqual(status, 201, reply)
            right = page.sign_in(server)
            response = right["credential"]["response"]
            self.assertIn("userHandle", response)
            count = 0
            for name in ("clientDataJSON", "authenticatorData", "signature", "userHandle", None):
                for other in altered(response[name] if name else right["credential"]["id"]):
                    body = changed(right, **{name: other}) if name else changed(right, other)
                    status, reply = server.post("/v1/passkeys/sessions", body)
                    # Some bytes of JSON and flags change the form, which is refused before the signature.
                    self.assertIn(status, (400, 401), name)
                    count += 1
            self.assertGreater(count, 300)
            status, session = server.post("/v1/passkeys/sessions", right)
            self.assertEqual(status, 201)
            self.assertEqual(server.post("/v1/passkeys/sessions", right), (401, REFUSED))
            header = {"Authorization": "Bearer " + session["token"]}
            status, shown = server.send("GET", "/v1/session", headers=header)
            self.assertEqual((status, json.loads(shown)["user"]), (200, "ada"))
            print(f"{count} altered bytes were refused")

    def test_an_attestation_of_chromium_is_verified_and_each_altered_byte_is_refused(self):
        with Page() as page, Server(**settings(page)) as server:
            page.authenticator()
            body = page.registration(server, "ada", attestation="direct")
            response = body["credential"]["response"]
            data = base64.urlsafe_b64decode(response["attestationObject"] + "==")
            self.assertIn(b"packed", data)
            # Issuer, dates and signature of a certificate are not compared: there is no list of makers.
            end, start = data.index(b"authData"), data.find(b"x5c")
            compared = set(range(start if start > 0 else end)) | set(range(end, len(data)))
            for index, other in enumerate(altered(response["attestationObject"])):
                if index in compared:
                    status, _ = server.post("/v1/passkeys", changed(body, attestationObject=other))
                    self.assertIn(status, (400, 401), index)
            for other in altered(response["clientDataJSON"]):
                self.assertIn(server.post("/v1/passkeys", changed(body, clientDataJSON=other))[0], (400, 401))
            self.assertEqual(server.post("/v1/passkeys", body)[0], 201)
            key = json.loads(server.command("keys", "ada", "--json"))[0]
            self.assertEqual((key["form"], key["passkey"]["attested"]), ("passkey", "certificate" if start > 0 else "self"))
            self.assertEqual(key["proven"]["device"], "none")
            self.assertEqual(server.post("/v1/passkeys/sessions", page.sign_in(server))[0], 201)

    def test_a_user_who_is_not_verified_is_refused(self):
        with Page() as page, Server(**settings(page)) as server:
            authenticator = page.authenticator()
            self.assertEqual(server.post("/v1/passkeys", page.registration(server, "ada"))[0], 201)
            page.send("POST", f"/webauthn/authenticator/{authenticator}/uv", {"isUserVerified": False})
            self.assertEqual(page.ask(server), {"error": "NotAllowedError"})
            unverified = page.sign_in(server, verification="discouraged")
            self.assertEqual(server.post("/v1/passkeys/sessions", unverified), (401, REFUSED))
            server.stop()
            self.assertIn('"reason":"userVerification"', server.written())

    def test_a_copied_passkey_is_noticed_by_its_counter(self):
        with Page() as page, Server(**settings(page)) as server:
            authenticator = page.authenticator()
            self.assertEqual(server.post("/v1/passkeys", page.registration(server, "ada"))[0], 201)
            copied = page.send("GET", f"/webauthn/authenticator/{authenticator}/credentials")
            for _ in range(2):
                self.assertEqual(server.post("/v1/passkeys/sessions", page.sign_in(server))[0], 201)
            page.send("DELETE", f"/webauthn/authenticator/{authenticator}")
            other = page.authenticator()
            for credential in copied:
                page.send("POST", f"/webauthn/authenticator/{other}/credential", credential)
            self.assertEqual(server.post("/v1/passkeys/sessions", page.sign_in(server)), (401, REFUSED))
            self.assertEqual(server.post("/v1/passkeys/sessions", page.sign_in(server)), (401, REFUSED))
            key = json.loads(server.command("keys", "ada", "--json"))[0]
            self.assertIsNotNone(key["frozen"])
            server.stop()
            self.assertIn('"reason":"counterRegressed"', server.written())

    def test_a_synchronised_passkey_is_shown_as_one(self):
        with Page() as page, Server(**settings(page)) as server:
            page.authenticator(defaultBackupEligibility=True, defaultBackupState=True)
            self.assertEqual(server.post("/v1/passkeys", page.registration(server, "ada"))[0], 201)
            self.assertEqual(server.post("/v1/passkeys/sessions", page.sign_in(server))[0], 201)
            self.assertIn("synced yes", server.command("keys", "ada"))

    def test_a_page_of_another_origin_is_refused(self):
        with Page() as page, Page() as other, Server(**settings(page)) as server:
            other.authenticator()
            self.assertEqual(server.post("/v1/passkeys", other.registration(server, "ada")), (401, REFUSED))
            page.authenticator()
            self.assertEqual(server.post("/v1/passkeys", page.registration(server, "ada"))[0], 201)
            server.stop()
            self.assertIn('"reason":"otherOrigin"', server.written())
