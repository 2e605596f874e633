#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of a relying party, written from docs/reference/relying-party.md alone; it shares no code with the server and the app.

The command openssl signs. An example for clients in other languages, and not one for storing keys.
usage: client.py ADDRESS RELYING-PARTY USER CODE  (registers, uses and revokes a key)
"""
import base64
import hashlib
import json
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PURPOSES = {"login": 1, "step-up": 2, "register": 3, "rotate": 4, "revoke": 5}


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def counted(data):
    return struct.pack(">H", len(data)) + data


class Refused(Exception):
    """The server refused a request, or the client the server's challenge."""


class Key:
    """A key pair of P-256. A client that is more than an example leaves the private key in a secure enclave."""

    def __init__(self):
        self.private = self.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        self.der = self.openssl("pkey", "-pubout", "-outform", "DER", data=self.private)
        # SubjectPublicKeyInfo of P-256 ends with the point 04, x, y.
        self.identifier = hashlib.sha256(self.der[-65:]).digest()

    @staticmethod
    def openssl(*arguments, data=None):
        return subprocess.run(["openssl", *arguments], input=data, check=True, capture_output=True).stdout

    def sign(self, message):
        with tempfile.NamedTemporaryFile() as file:
            file.write(self.private)
            file.flush()
            return self.openssl("dgst", "-sha256", "-sign", file.name, data=message)

    @property
    def public(self):
        return {"format": "der", "value": base64url(self.der)}


class NoRedirections(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        """Makes no request, so the status is an error: another address would get the token."""


class Client:
    def __init__(self, address, relying_party, user, context=None):
        self.address, self.party, self.user, self.key, self.token = address, relying_party, user, None, None
        self.opener = urllib.request.build_opener(NoRedirections, urllib.request.HTTPSHandler(context=context))

    def send(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with self.opener.open(request, timeout=30) as reply:
                text = reply.read()
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code) from None
        return json.loads(text) if text else None

    def check(self, challenge, binding):
        """Refuses a challenge of another relying party, for something else, or of another time."""
        party = hashlib.sha256(b"latchkey relying party id 1\0" + self.party.encode()).digest()
        expected = b"\1" + party + hashlib.sha256(b"latchkey challenge binding 1\0" + binding).digest()
        if len(challenge) != 145 or challenge[:65] != expected:
            raise Refused("challenge")
        issued, expiry = struct.unpack(">QQ", challenge[65:81])
        if not issued - 300 < time.time() < expiry + 300:
            raise Refused("time")

    def prove(self, key, purpose, context=""):
        """The members of a proof, and the message that was signed."""
        challenge = base64.urlsafe_b64decode(self.send("POST", "/v1/challenges", {
            "user": self.user, "key": base64url(key.identifier), "purpose": purpose, "context": context,
        })["challenge"] + "==")
        binding = bytes([PURPOSES[purpose]]) + b"".join(
            counted(part) for part in (self.user.encode(), key.identifier, context.encode()))
        self.check(challenge, binding)
        message = b"latchkey relying party 1\0" + counted(self.party.encode()) + binding + counted(challenge)
        return {"user": self.user, "key": base64url(key.identifier), "challenge": base64url(challenge),
                "signature": base64url(key.sign(message))}, message

    def register(self, code, device="client.py"):
        key = Key()
        proof, _ = self.prove(key, "register")
        self.send("POST", "/v1/keys", proof | {
            "publicKey": key.public, "form": "bound", "tier": "user", "device": device, "enrollmentCode": code})
        self.key = key

    def sign_in(self):
        self.token = None
        proof, _ = self.prove(self.key, "login")
        self.token = self.send("POST", "/v1/sessions", proof)["token"]

    def session(self):
        return self.send("GET", "/v1/session")

    def sign_out(self):
        self.send("DELETE", "/v1/session")
        self.token = None

    def step_up(self, act):
        proof, _ = self.prove(self.key, "step-up", act)
        return self.send("POST", "/v1/step-ups", proof | {"context": act})

    def rotate(self):
        """Both keys sign one message, whose context names the new key and its tier."""
        key = Key()
        proof, message = self.prove(self.key, "rotate", "user:" + base64url(key.identifier))
        self.send("POST", "/v1/rotations", proof | {
            "publicKey": key.public, "tier": "user", "newSignature": base64url(key.sign(message))})
        self.key, self.token = key, None

    def revoke(self, target=None):
        """`user`, `device:NAME` or `key:ID`; by default the key itself. Returns how many keys were revoked."""
        target = target or "key:" + base64url(self.key.identifier)
        proof, _ = self.prove(self.key, "revoke", target)
        return self.send("POST", "/v1/revocations", proof | {"target": target})["revokedKeys"]


if __name__ == "__main__":
    client = Client(*sys.argv[1:4])
    client.register(sys.argv[4])
    client.sign_in()
    print("signed in:", client.session())
    print("approved:", client.step_up("pay 20 EUR"))
    client.rotate()
    client.sign_in()
    print("revoked:", client.revoke())
