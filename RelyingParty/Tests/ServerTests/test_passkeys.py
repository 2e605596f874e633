#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of passkeys over loopback, with an authenticator that shares no code with the server."""
import json
import unittest

from passkey import AttestedPasskey, Passkey
from server import Device, Server, text

REFUSED = {"type": "about:blank", "title": "The proof was not accepted.", "status": 401}


class PasskeyTests(unittest.TestCase):
    def test_a_registered_passkey_signs_in_and_its_session_ends(self):
        with Server(passkeys="allow") as server:
            for passkey in (Passkey(server, "ada"), AttestedPasskey(server, "bob"),
                            AttestedPasskey(server, "eve").certify()):
                passkey.register()
                status, session = passkey.sign_in()
                self.assertEqual(status, 201, session)
                header = {"Authorization": "Bearer " + session["token"]}
                status, shown = server.send("GET", "/v1/session", headers=header)
                self.assertEqual((status, json.loads(shown)["user"]), (200, passkey.user))
                self.assertEqual(json.loads(shown)["key"], text(passkey.id))
                self.assertEqual(server.send("DELETE", "/v1/session", headers=header)[0], 204)
                self.assertEqual(server.send("GET", "/v1/session", headers=header)[0], 401)
            self.assertIn("9 rows", server.command("audit"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
