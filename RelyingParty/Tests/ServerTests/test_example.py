# SPDX-License-Identifier: Apache-2.0
"""Tests of Examples/SignInServer, which verifies sign-ins with the library alone."""
import base64
import json
import os
import subprocess
import tempfile
import unittest

from passkey import AttestedPasskey, EdwardsPasskey, Passkey, RSAPasskey, changed
from server import Device, counted, text


class Example:
    """The running example, with what passkeys need of a server."""

    party = "example.com"

    def __init__(self, program):
        self.scratch = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, action, **members):
        self.process.stdin.write(json.dumps({"do": action} | members) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        self.scratch.cleanup()


class ExampleTests(unittest.TestCase):
    def setUp(self):
        self.server = Example(os.environ["LATCHKEY_EXAMPLE"])
        self.addCleanup(self.server.close)

    def registered(self, kind, user, **options):
        passkey = kind(self.server, user, **options)
        reply = self.server.ask("register-challenge", user=user)
        passkey.handle = reply["userHandle"]
        made = passkey.made(client=passkey.client_data("create", reply["challenge"]))
        self.assertEqual(self.server.ask("register", user=user, credential=made), {"key": text(passkey.id)})
        self.assertEqual(self.server.ask("register", user=user, credential=made), {"refused": "replayed"})
        return passkey

    def assertion(self, passkey):
        challenge = self.server.ask("sign-in-challenge")["challenge"]
        return {"credential": passkey.assertion(challenge, userHandle=passkey.handle)}

    def test_passkeys_of_every_algorithm_register_and_sign_in_once(self):
        for kind, user in ((Passkey, "ada"), (AttestedPasskey, "bob"), (RSAPasskey, "eve"), (EdwardsPasskey, "joe")):
            passkey = self.registered(kind, user)
            for _ in range(2):
                used = self.assertion(passkey)
                self.assertEqual(self.server.ask("sign-in", **used), {"user": user})
                self.assertEqual(self.server.ask("sign-in", **used), {"refused": "replayed"})

    def test_each_part_that_is_another_one_is_refused(self):
        ada, bob = self.registered(Passkey, "ada"), self.registered(Passkey, "bob")
        right = self.assertion(ada)
        ada.origin = "https://example.org"
        page = self.assertion(ada)
        for wrong, reason in ((changed(right, text(bob.credential)), "signature"), (changed(right, signature=""), "signature"),
                              (changed(right, text(bytes(16))), "unknown"), (changed(right, userHandle=None), "userHandle"),
                              (changed(right, userHandle=bob.handle), "userHandle"), (page, "origin"),
                              (changed(right, clientDataJSON=text(b"{}")), "clientData"), ({"credential": {}}, "credential")):
            self.assertEqual(self.server.ask("sign-in", **wrong), {"refused": reason})
        self.assertEqual(self.server.ask("sign-in", **right), {"user": "ada"})

    def test_a_late_request_is_refused_and_a_copy_freezes_the_key(self):
        ada = self.registered(Passkey, "ada", counter=3)
        first, second = self.assertion(ada), self.assertion(ada)
        self.assertEqual(self.server.ask("sign-in", **second), {"user": "ada"})
        self.assertEqual(self.server.ask("sign-in", **first), {"refused": "counter refuse"})
        ada.counter -= 1
        self.assertEqual(self.server.ask("sign-in", **self.assertion(ada)), {"refused": "counter freeze"})
        self.assertEqual(self.server.ask("sign-in", **self.assertion(ada)), {"refused": "frozen"})

    def test_a_bound_key_signs_in(self):
        device = Device(self.server, "ada")
        key = text(device.id)
        self.assertEqual(self.server.ask("add-key", user="ada", publicKey=text(device.point)), {"key": key})

        def proof(user="ada", counter=None):
            challenge = self.server.ask("bound-challenge", user=user, key=key)["challenge"]
            message = (b"latchkey relying party 1\0" + counted(b"example.com") + b"\1" + counted(user.encode())
                       + counted(device.id) + counted(b"") + counted(base64.urlsafe_b64decode(challenge + "==")))
            message += b"" if counter is None else counter.to_bytes(8, "big")
            return {"user": user, "key": key, "challenge": challenge, "signature": text(device.sign(message))} | (
                {} if counter is None else {"counter": counter})
        right = proof()
        self.assertEqual(self.server.ask("bound-sign-in", **(right | {"counter": 1})), {"refused": "signature"})
        self.assertEqual(self.server.ask("bound-sign-in", **(right | {"user": "bob"})), {"refused": "otherBinding"})
        self.assertEqual(self.server.ask("bound-sign-in", **proof("bob")), {"refused": "unknown"})
        self.assertEqual(self.server.ask("bound-sign-in", **right), {"user": "ada"})
        self.assertEqual(self.server.ask("bound-sign-in", **right), {"refused": "replayed"})
        self.assertEqual(self.server.ask("bound-sign-in", **proof(counter=30)), {"user": "ada"})
        self.assertEqual(self.server.ask("bound-sign-in", **proof(counter=29)), {"refused": "counter refuse"})
        self.assertEqual(self.server.ask("bound-sign-in", **proof()), {"refused": "no counter"})
        self.assertEqual(self.server.ask("bound-sign-in", **proof(counter=2)), {"refused": "counter freeze"})
