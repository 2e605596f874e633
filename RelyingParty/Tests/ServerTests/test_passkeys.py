# SPDX-License-Identifier: Apache-2.0
"""Tests of passkeys over loopback, with an authenticator and a browser that share no code with the server."""
import base64
import concurrent.futures
import json
import pathlib
import struct
import subprocess
import tempfile
import threading
import unittest

from passkey import (
    BACKED_UP, ELIGIBLE, USER_PRESENT, USER_VERIFIED, AttestedPasskey, EdwardsPasskey, Passkey, RSAPasskey, cbor, changed,
    head, sha256)
from server import PROGRAM, Device, Server, counted, text

REFUSED = {"type": "about:blank", "title": "The proof was not accepted.", "status": 401}
MALFORMED = {"type": "about:blank", "title": "The request is malformed.", "status": 400}


def reasons(server):
    """The reasons of refusals in the log, in their order."""
    server.stop()
    lines = [json.loads(line) for line in server.written().splitlines()]
    return [line["reason"] for line in lines if line.get("status") in (400, 401)]


class PasskeyTests(unittest.TestCase):
    def refused(self, reply, expected=REFUSED):
        self.assertEqual(reply, (expected["status"], expected))

    def test_a_registered_passkey_signs_in_and_its_session_ends(self):
        with Server(passkeys="allow") as server:
            for passkey in (Passkey(server, "ada"), AttestedPasskey(server, "bob"),
                            AttestedPasskey(server, "eve").certify()):
                passkey.register()
                body = passkey.chosen_body()
                status, session = server.post("/v1/passkeys/sessions", body)
                self.assertEqual(status, 201, session)
                header = {"Authorization": "Bearer " + session["token"]}
                status, shown = server.send("GET", "/v1/session", headers=header)
                self.assertEqual((status, json.loads(shown)["user"]), (200, passkey.user))
                self.assertEqual(json.loads(shown)["key"], text(passkey.id))
                self.assertEqual(server.send("DELETE", "/v1/session", headers=header)[0], 204)
                self.assertEqual(server.send("GET", "/v1/session", headers=header)[0], 401)
            self.assertIn("9 rows", server.command("audit"))

    def test_challenges_name_the_relying_party_and_no_user(self):
        with Server(passkeys="allow", challenge_seconds=90, passkey_seconds=120) as server:
            status, login = server.post("/v1/passkeys/challenges", {"purpose": "login"})
            self.assertEqual((status, set(login)), (200, {"challenge", "relyingParty", "timeout"}))
            self.assertEqual((login["relyingParty"], login["timeout"]), ("example.com", 120000))
            status, register = server.post("/v1/passkeys/challenges", {"purpose": "register", "user": "ada"})
            self.assertEqual((status, len(register["userHandle"])), (200, 43))
            for body in ({}, {"purpose": "register"}, {"purpose": "login", "user": "ada"}, {"purpose": "passkey-login"},
                         {"purpose": "register", "user": ""}, {"purpose": "login", "key": text(bytes(32))}):
                self.refused(server.post("/v1/passkeys/challenges", body), MALFORMED)
            # The requests of other keys do not know these purposes.
            for purpose in ("passkey-login", "passkey-register"):
                self.refused(server.post("/v1/challenges", {"user": "ada", "key": text(bytes(32)), "purpose": purpose}),
                             MALFORMED)

    def test_passkeys_are_refused_without_being_permitted(self):
        with Server() as server:
            for path, body in (("challenges", {"purpose": "login"}), ("challenges", {"purpose": "register", "user": "ada"})):
                self.refused(server.post("/v1/passkeys/" + path, body))
            self.assertEqual(reasons(server), ["passkeysOff"] * 2)

    def test_abuse43_a_hundred_clients_replay_one_assertion(self):
        with Server(passkeys="allow") as server:
            body = Passkey(server, "ada", counter=1).register().sign_in_body()
            barrier = threading.Barrier(100)

            def client(_):
                barrier.wait()
                return server.post("/v1/passkeys/sessions", body)
            with concurrent.futures.ThreadPoolExecutor(100) as pool:
                replies = list(pool.map(client, range(100)))
            self.assertEqual(sum(status == 201 for status, _ in replies), 1)
            self.assertEqual([reply for status, reply in replies if status != 201], [REFUSED] * 99)

    def test_each_signed_field_altered_once_is_refused(self):
        with Server(passkeys="allow") as server:
            ada, bob = Passkey(server, "ada", counter=7).register(), Passkey(server, "bob").register()
            challenge = ada.challenge("login")
            right = {"credential": ada.assertion(challenge)}
            signature = lambda body: body["credential"]["response"]["signature"]
            count = ada.counter - 1
            alterations = [
                ({"client": ada.client_data("create", challenge)}, "clientDataType"),
                ({"client": ada.client_data("get", challenge, origin="https://example.org")}, "otherOrigin"),
                ({"client": ada.client_data("get", challenge, origin="http://example.com")}, "otherOrigin"),
                ({"client": ada.client_data("get", challenge, origin="https://example.com:8443")}, "otherOrigin"),
                ({"client": ada.client_data("get", challenge, crossOrigin=True)}, "otherOrigin"),
                ({"client": ada.client_data("get", challenge, topOrigin="https://example.org")}, "otherOrigin"),
                ({"client": ada.client_data("get", text(b"\1" + bytes(144)))}, "challengeCode"),
                ({"client": ada.client_data("get", bob.challenge("register"))}, "otherBinding"),
                ({"data": ada.data(party="example.org", counter=count)}, "otherRelyingParty"),
                ({"data": ada.data(flags=USER_VERIFIED, counter=count)}, "userPresence"),
                ({"data": ada.data(flags=USER_PRESENT, counter=count)}, "userVerification"),
                ({"data": ada.data(flags=5 | BACKED_UP, counter=count)}, "backupState"),
                ({"data": ada.data(flags=5 | ELIGIBLE, counter=count)}, "backupState")]
            for parts, _ in alterations:
                altered = {"credential": ada.assertion(challenge, **parts)}
                self.refused(server.post("/v1/passkeys/sessions", altered))
                # Altered after it was signed.
                unsigned = changed(altered, signature=signature(right))
                self.refused(server.post("/v1/passkeys/sessions", unsigned))
            wrong = [changed(right, text(bob.credential)), changed(right, text(bytes(32))),
                     changed(right, signature=signature({"credential": bob.assertion(challenge)})),
                     changed(right, signature=""),
                     changed(right, authenticatorData=text(ada.data(counter=count + 1))),
                     changed(right, clientDataJSON=text(ada.client_data("get", challenge, other=1))),
                     changed(right, userHandle=bob.handle)]
            for body in wrong:
                self.refused(server.post("/v1/passkeys/sessions", body))
            # None of these spent the challenge.
            self.assertEqual(server.post("/v1/passkeys/sessions", right)[0], 201)
            # Whether the passkey could leave its authenticator before is known only after its signature is valid.
            expected = [reason for _, reason in alterations for _ in range(2)][:-1] + ["wrongSignature"]
            self.assertEqual(reasons(server), expected + [
                "wrongSignature", "unknownKey", "wrongSignature", "wrongSignature", "wrongSignature", "wrongSignature",
                "userHandle"])

    def test_malformed_parts_are_refused_before_anything_else(self):
        with Server(passkeys="allow") as server:
            ada = Passkey(server, "ada").register()
            right = ada.sign_in_body()
            json = right["credential"]
            data = base64.urlsafe_b64decode(json["response"]["authenticatorData"] + "==")
            client = base64.urlsafe_b64decode(json["response"]["clientDataJSON"] + "==")
            for credential in (text(bytes(15)), text(bytes(1024)), "A", "", 1, None, json["id"] + "="):
                self.refused(server.post("/v1/passkeys/sessions", {"credential": json | {"id": credential, "rawId": credential}}),
                             MALFORMED)
            without = lambda name: {"credential": {key: value for key, value in json.items() if key != name}}
            for body in ([], {}, {"credential": []}, {"credential": json["id"]}, right | {"user": "ada"},
                         {"credential": json | {"id": text(bytes(32))}}, {"credential": json | {"rawId": text(bytes(32))}},
                         {"credential": json | {"type": "password"}}, {"credential": json | {"response": []}},
                         *map(without, ("id", "rawId", "type", "response")), json,
                         right | {"signature": json["response"]["signature"]}):
                self.refused(server.post("/v1/passkeys/sessions", body), MALFORMED)
            for change in ({"authenticatorData": text(data[:-1])}, {"authenticatorData": text(data + b"\0")},
                           {"authenticatorData": text(ada.data(credential=ada.attested()))},
                           {"clientDataJSON": text(client + b"}")}, {"clientDataJSON": text(b"\xef\xbb\xbf" * 2 + client)},
                           {"clientDataJSON": text(client.replace(b'"type"', b'"type":"webauthn.get","type"', 1))},
                           {"clientDataJSON": text(client + b" " * 4096)}, {"clientDataJSON": ""},
                           {"signature": None}, {"clientDataJSON": json["response"]["clientDataJSON"] + "="},
                           {"userHandle": 1}, {"userHandle": "="}):
                self.refused(server.post("/v1/passkeys/sessions", changed(right, **change)), MALFORMED)
            self.assertEqual(server.post("/v1/passkeys/sessions", right)[0], 201)

    def test_a_byte_order_mark_is_removed_once_and_is_signed(self):
        """"UTF-8 decode", WebAuthn Level 3, sections 7.1 and 7.2."""
        mark = b"\xef\xbb\xbf"
        with Server(passkeys="allow") as server:
            ada = Passkey(server, "ada")
            ada.register(client=mark + ada.client_data("create", ada.challenge("register")))
            challenge = ada.challenge("login")
            client = ada.client_data("get", challenge)
            right = {"credential": ada.assertion(challenge, client=mark + client)}
            self.refused(server.post("/v1/passkeys/sessions", changed(right, clientDataJSON=text(client))))
            self.assertEqual(server.post("/v1/passkeys/sessions", right)[0], 201)
            self.assertEqual(reasons(server), ["wrongSignature"])

    def test_an_empty_user_handle_names_no_user(self):
        with Server(passkeys="allow") as server:
            ada = Passkey(server, "ada").register()
            for handle in ("", None):
                self.assertEqual(ada.sign_in(userHandle=handle)[0], 201)

    def test_challenges_of_passkeys_have_a_life_of_their_own(self):
        """A challenge ends with its expiry, in seconds since 1970 (docs/reference/relying-party.md)."""
        for settings, expected in (({}, (300, 60)), ({"challenge_seconds": 600, "passkey_seconds": 30}, (30, 600))):
            with Server(passkeys="allow", **settings) as server:
                ada = Passkey(server, "ada").register()
                step_up = {"user": "ada", "key": text(ada.id), "purpose": "step-up", "context": "pay"}
                lives = []
                for path, body in (("/v1/passkeys/challenges", {"purpose": "login"}),
                                   ("/v1/passkeys/challenges", {"purpose": "register", "user": "bob"}),
                                   ("/v1/challenges", step_up)):
                    challenge = base64.urlsafe_b64decode(server.post(path, body)[1]["challenge"] + "==")
                    lives.append(int.from_bytes(challenge[73:81], "big") - int.from_bytes(challenge[65:73], "big"))
                self.assertEqual(lives, [expected[0], expected[0], expected[1]])

    def test_a_request_that_arrives_late_is_refused_and_freezes_nothing(self):
        """A security key signs twice, and the second request arrives first."""
        for settings, reason in (({}, "counterLate"), ({"counters": "tolerant"}, "counterLate"),
                                 ({"counters": "strict"}, "counterRegressed")):
            with Server(passkeys="allow", **settings) as server:
                ada = Passkey(server, "ada", counter=3).register()
                first, second = ada.sign_in_body(), ada.sign_in_body()
                self.assertEqual(server.post("/v1/passkeys/sessions", second)[0], 201)
                self.refused(server.post("/v1/passkeys/sessions", first))
                ada.counter += 20
                self.assertEqual(ada.sign_in()[0], 201 if reason == "counterLate" else 401)
                # A large step back is that of a copy.
                ada.counter -= 18
                self.refused(ada.sign_in())
                self.assertIn(" frozen,", server.command("keys", "ada"))
                self.assertEqual(reasons(server), [reason, "counterRegressed"] if reason == "counterLate"
                                 else [reason, "frozenKey", "frozenKey"])

    def test_a_client_behind_the_proxy_is_limited_for_one_passkey_and_one_user(self):
        with Server(passkeys="allow") as server:
            ada, bob = Passkey(server, "ada").register(), Passkey(server, "bob").register()
            client = {"X-Forwarded-For": "192.0.2.7"}
            wrong = changed(ada.sign_in_body(), signature="")
            for _ in range(10):
                self.refused(server.post("/v1/passkeys/sessions", wrong, client))
            self.assertEqual(server.post("/v1/passkeys/sessions", wrong, client)[0], 429)
            self.refused(server.post("/v1/passkeys/sessions", changed(bob.sign_in_body(), signature=""), client))
            other = {"X-Forwarded-For": "192.0.2.8"}
            self.refused(server.post("/v1/passkeys/sessions", wrong, other))
            self.assertEqual(server.post("/v1/passkeys/sessions", ada.sign_in_body(), client)[0], 201)
            # Wrong codes are another kind, and the right one is never refused.
            guess = Passkey(server, "eve")
            statuses = [server.post("/v1/passkeys", guess.registration("WRONG"), client)[0] for _ in range(40)]
            self.assertEqual((statuses[:30], statuses[-1]), ([401] * 30, 429))
            code = server.command("code", "eve")
            self.assertEqual(server.post("/v1/passkeys", guess.registration(code), client)[0], 201)

    def test_a_counter_that_does_not_increase_freezes_the_passkey(self):
        with Server(passkeys="allow") as server:
            ada = Passkey(server, "ada", counter=3).register()
            status, session = ada.sign_in()
            self.assertEqual(status, 201)
            ada.counter = 4
            self.refused(ada.sign_in())
            header = {"Authorization": "Bearer " + session["token"]}
            self.assertEqual(server.send("GET", "/v1/session", headers=header)[0], 401)
            ada.counter = 9
            self.refused(ada.sign_in())
            server.command("unfreeze", "--", "ada", text(ada.id))
            self.assertEqual(ada.sign_in()[0], 201)
            self.assertEqual(reasons(server), ["counterRegressed", "unknownSession", "frozenKey"])


class RegistrationTests(unittest.TestCase):
    def attempt(self, server, passkey, expected, **parts):
        """Sends a registration with the code of the test, and compares the status."""
        status, reply = server.post("/v1/passkeys", passkey.registration(self.code, **parts))
        self.assertEqual(status, expected, reply)

    def test_each_signed_field_altered_once_is_refused(self):
        with Server(passkeys="allow") as server:
            ada = AttestedPasskey(server, "ada")
            self.code = server.command("code", "ada")
            challenge, other = ada.challenge("register"), text(b"\1" + bytes(144))
            for client in (ada.client_data("get", challenge), ada.client_data("create", challenge, origin="null"),
                           ada.client_data("create", other), ada.client_data("create", challenge, crossOrigin=True),
                           ada.client_data("create", Passkey(server, "bob").challenge("register"))):
                self.attempt(server, ada, 401, client=client)
            attested = ada.attested()
            for data in (ada.data(party="example.org", credential=attested), ada.data(flags=1, credential=attested),
                         ada.data(flags=4, credential=attested), ada.data(flags=5 | BACKED_UP, credential=attested)):
                self.attempt(server, ada, 401, data=data)
            # Signed for other client data, or for another key.
            client = ada.client_data("create", ada.challenge("register"))
            data = ada.data(credential=attested)
            for statement in (ada.statement(data, client + b" "), ada.statement(data + b"\0", client),
                              ("packed", ada.statement(data, client)[1] | {"alg": -257}),
                              ("packed", ada.statement(data, client)[1] | {"alg": -8}),
                              ("packed", {"alg": -7, "sig": Device(server, "ada").sign(data + sha256(client))}),
                              ("packed", {"alg": -7, "sig": b""}), ("packed", {"alg": -7}), ("packed", {}),
                              ("packed", ada.statement(data, client)[1] | {"x5c": []}),
                              ("packed", ada.statement(data, client)[1] | {"zzz": 1}),
                              ("none", ada.statement(data, client)[1])):
                self.attempt(server, ada, 401, client=client, data=data, statement=statement)
            self.attempt(server, ada, 201, client=client, data=data)
            self.assertEqual(reasons(server), [
                "clientDataType", "otherOrigin", "challengeCode", "otherOrigin", "otherBinding", "otherRelyingParty",
                "userVerification", "userPresence", "backupState"] + ["passkeyStatement"] * 11)

    def test_keys_have_exactly_the_parameters_of_their_algorithm(self):
        with Server(passkeys="allow") as server:
            ada = Passkey(server, "ada")
            self.code = server.command("code", "ada")
            x, y = ada.point[1:33], ada.point[33:]
            modulus = b"\x80" + bytes(254) + b"\1"
            keys = [{1: 3, 3: -257, -1: bytes(256), -2: b"\1\0\1"}, {1: 3, 3: -257, -1: modulus, -2: b"\3"},
                    {1: 3, 3: -257, -1: modulus[1:], -2: b"\1\0\1"}, {1: 3, 3: -257, -1: b"\0" + modulus, -2: b"\1\0\1"},
                    {1: 3, 3: -257, -1: modulus + bytes(256) + b"\1", -2: b"\1\0\1"}, {1: 3, 3: -257, -1: modulus},
                    {1: 3, 3: -257, -1: modulus, -2: b"\1\0\1", -3: b"\1"}, {1: 2, 3: -257, -1: modulus, -2: b"\1\0\1"},
                    {1: 1, 3: -8, -1: 6, -2: b"\1" + bytes(31)}, {1: 1, 3: -8, -1: 7, -2: x}, {1: 1, 3: -8, -1: 6, -2: x[:-1]},
                    {1: 1, 3: -8, -1: 6, -2: x, -3: y}, {1: 2, 3: -8, -1: 6, -2: x}, {1: 1, 3: -8, -2: x},
                    {1: 2, 3: -35, -1: 2, -2: bytes(48), -3: bytes(48)}, {1: 2, 3: -7, -1: 1, -2: x},
                    {1: 2, 3: -7, -1: 1, -2: x, -3: True}, {1: 2, 3: -7, -1: 1, -2: x, -3: x},
                    {1: 2, 3: -7, -1: 1, -2: x, -3: y, -4: b""}, {1: 2, -1: 1, -2: x, -3: y},
                    {1: 2, 3: -7, -1: 2, -2: x, -3: y}]
            for key in keys:
                self.attempt(server, ada, 401, data=ada.data(credential=ada.attested(key=cbor(key))))
            self.attempt(server, ada, 201)
            self.assertEqual(reasons(server), ["publicKey"] * len(keys))

    def test_keys_of_rs256_and_eddsa_register_and_sign_in(self):
        with Server(passkeys="allow", administration="on", origins="https://example.com") as server:
            for kind in (RSAPasskey, EdwardsPasskey):
                for statement in ("none", "self", "certificate"):
                    user = f"{kind.NAME}-{statement}"
                    passkey = kind(server, user, statement=statement, counter=1).register()
                    self.assertEqual(passkey.sign_in()[0], 201)
                    body = passkey.chosen_body()
                    self.assertEqual(server.post("/v1/passkeys/sessions", changed(body, signature=text(bytes(64)))), (401, REFUSED))
                    status, session = server.post("/v1/passkeys/sessions", body)
                    self.assertEqual(status, 201)
                    self.assertEqual(server.post("/v1/passkeys/sessions", body), (401, REFUSED))
                    proof = passkey.proof("step-up", "pay") | {"context": "pay"}
                    header = {"Authorization": "Bearer " + session["token"]}
                    self.assertEqual(server.post("/v1/step-ups", proof, header)[0], 200)
                    key = json.loads(server.command("keys", user, "--json"))[0]
                    self.assertEqual((key["key"], key["algorithm"], key["publicKey"], key["passkey"]["attested"]),
                                     (text(passkey.id), kind.NAME, text(passkey.stored), statement))
            self.assertEqual(reasons(server), ["wrongSignature", "replayed"] * 6)

    def test_a_statement_of_another_algorithm_than_its_key_is_refused(self):
        with Server(passkeys="allow") as server:
            for kind in (RSAPasskey, EdwardsPasskey):
                for statement in ("self", "certificate"):
                    passkey = kind(server, "ada", statement=statement)
                    self.code = server.command("code", "ada")
                    client = passkey.client_data("create", passkey.challenge("register"))
                    data = passkey.data(credential=passkey.attested())
                    form, value = passkey.statement(data, client)
                    for change in ({"alg": -7}, {"alg": -65535}, {"alg": -257 - 8 - kind.ALGORITHM}, {"sig": value["sig"][:-1]},
                                   {"sig": value["sig"] + b"\0"}, {"sig": bytes(len(value["sig"]))}):
                        self.attempt(server, passkey, 401, client=client, data=data, statement=(form, value | change))
                    self.attempt(server, passkey, 201, client=client, data=data, statement=(form, value))
            self.assertEqual(reasons(server), ["passkeyStatement"] * 24)

    def test_genuine_keys_of_other_algorithms_are_refused(self):
        with Server(passkeys="allow") as server:
            ada, folder = Passkey(server, "ada"), pathlib.Path(server.scratch.name)
            self.code = server.command("code", "ada")
            openssl = lambda *arguments: subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout
            count = 0
            for algorithm, number, curve, digest in (("P-384", -35, 2, "sha384"), ("P-521", -36, 3, "sha512"),
                                                     ("secp256k1", -47, 8, "sha256"), ("P-384", -7, 2, "sha256"),
                                                     ("P-256", -9, 1, "sha256"), ("P-256", -7, 1, "sha256")):
                file = str(folder / "other.pem")
                openssl("genpkey", "-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:{algorithm}", "-out", file)
                size = {"P-384": 48, "P-521": 66}.get(algorithm, 32)
                point = openssl("pkey", "-in", file, "-pubout", "-outform", "DER")[-2 * size:]
                key = {1: 2, 3: number, -1: curve, -2: point[:size], -3: point[size:]}
                client = ada.client_data("create", ada.challenge("register"))
                data = ada.data(credential=ada.attested(key=cbor(key)))
                (folder / "message").write_bytes(data + sha256(client))
                statement = "packed", {"alg": number, "sig": openssl("dgst", f"-{digest}", "-sign", file, folder / "message")}
                isAccepted = (algorithm, number) == ("P-256", -7)
                self.attempt(server, ada, 201 if isAccepted else 401, client=client, data=data, statement=statement)
                count += 0 if isAccepted else 1
            self.assertEqual(reasons(server), ["publicKey"] * count)

    def test_genuine_statements_of_other_formats_are_refused(self):
        """The formats of sections 8.3, 8.4, 8.6 and 8.8, each with what it demands."""
        with Server(passkeys="allow") as server:
            ada = AttestedPasskey(server, "ada")
            client = ada.client_data("create", ada.challenge("register"))
            data = ada.data(credential=ada.attested())
            hashed = sha256(client)
            x, y = ada.point[1:33], ada.point[33:]
            maker = ada.certify()
            chain, key = [maker.certificate], maker.maker
            area = (struct.pack(">HHIHHHHH", 0x23, 0x0b, 0x60472, 0, 0x10, 0x10, 3, 0x10) + counted(x) + counted(y))
            name = b"\0\x0b" + sha256(area)
            info = (b"\xffTCG\x80\x17" + counted(name) + counted(sha256(data + hashed)) + bytes(17) + bytes(8)
                    + counted(name) + counted(name))
            statements = {
                "tpm": {"alg": -7, "sig": key.sign(info), "ver": "2.0", "x5c": chain, "pubArea": area, "certInfo": info},
                "fido-u2f": {"sig": key.sign(b"\0" + sha256(b"example.com") + hashed + ada.credential + ada.point), "x5c": chain}}
            nonce = sha256(data + hashed).hex()
            ada.certify(extensions=["1.2.840.113635.100.8.2 = DER:3024A1220420" + nonce], key=ada)
            statements["apple"] = {"x5c": [ada.certificate]}
            # A description of the key without lists: versions and levels, the hash of the client data, nothing unique.
            description = ("020104" + "0a0101" + "020104" + "0a0101" + "0420" + hashed.hex() + "0400" + "3000" + "3000")
            description = f"30{len(description) // 2:02x}{description}"
            ada.certify(extensions=["1.3.6.1.4.1.11129.2.1.17 = DER:" + description], key=ada)
            statements["android-key"] = {"alg": -7, "sig": ada.sign(data + hashed), "x5c": [ada.certificate]}
            self.code = server.command("code", "ada")
            for form, statement in statements.items():
                self.attempt(server, ada, 400, client=client, data=data, statement=(form, statement))
            # The same key with a format that is read.
            self.attempt(server, ada, 201, client=client, data=data, statement=("none", {}))
            self.assertEqual(reasons(server), ["attestationObject"] * len(statements))

    def test_other_encodings_are_refused(self):
        with Server(passkeys="allow") as server:
            ada = Passkey(server, "ada")
            self.code = server.command("code", "ada")
            client = ada.client_data("create", ada.challenge("register"))
            data = ada.data(credential=ada.attested())
            items = [cbor("fmt") + cbor("none"), cbor("attStmt") + cbor({}), cbor("authData") + cbor(data)]
            whole = b"\xa3" + b"".join(items)
            objects = [
                whole + b"\0", whole[:-1], b"", b"\xbf" + b"".join(items) + b"\xff", b"\xa3" + b"".join(reversed(items)),
                b"\xa4" + items[0] + b"".join(items), b"\xa2" + items[0] + items[2], b"\xb8\x03" + b"".join(items),
                b"\xa3" + items[0] + cbor("attStmt") + b"\xbf\xff" + items[2], b"\xd9\xd9\xf7" + whole,
                b"\xa3" + items[0] + items[1] + cbor("authData") + b"\x5f" + cbor(data) + b"\xff",
                b"\xa3" + items[0] + items[1] + cbor("authData") + b"\x5b" + b"\xff" * 8,
                b"\xa3" + items[0] + items[1] + cbor("authData") + b"\x5b\x7f" + b"\xff" * 7,
                b"\xbb" + b"\xff" * 8, b"\x9b" + b"\xff" * 8, b"\x81" * 10000, head(5, 2**32) + whole,
                cbor({"fmt": "fido-u2f", "attStmt": {}, "authData": data}),
                cbor({"fmt": "none", "attStmt": [], "authData": data}),
                cbor({"fmt": "tpm", "attStmt": {}, "authData": data}), cbor({"fmt": 1, "attStmt": {}, "authData": data})]
            for extra in (b"\0", b"\xa0"):
                objects.append(cbor({"fmt": "none", "attStmt": {}, "authData": data + extra}))
            for cose in (b"\xbf" + ada.cose()[1:] + b"\xff", b"\xa6\x01\x02" + ada.cose()[1:]):
                wrong = ada.data(credential=ada.attested(key=cose))
                objects.append(cbor({"fmt": "none", "attStmt": {}, "authData": wrong}))
            for size in (0, 15, 1024):
                long = ada.data(credential=ada.attested(identifier=bytes(size)))
                objects.append(cbor({"fmt": "none", "attStmt": {}, "authData": long}))
            right = ada.registration(self.code, client=client)
            for number, value in enumerate(objects):
                reply = server.post("/v1/passkeys", changed(right, attestationObject=text(value)))
                self.assertEqual(reply, (400, MALFORMED), number)
            self.assertEqual(server.post("/v1/passkeys", changed(right, attestationObject=text(whole)))[0], 201)

    def test_identifiers_of_every_length_and_extensions_are_accepted(self):
        with Server(passkeys="allow") as server:
            for size in (16, 1023):
                ada = Passkey(server, "ada")
                ada.credential = bytes([size % 251]) * size
                extension = cbor({"credProtect": 3, "hmac-secret": True})
                ada.register(data=ada.data(credential=ada.attested(), extensions=extension))
                self.assertEqual(ada.sign_in(data=ada.data(extensions=cbor({"hmac-secret": b"1"})))[0], 201)

    def test_a_certificate_of_packed_has_what_the_specification_demands(self):
        with Server(passkeys="allow") as server:
            subject, aaguid = AttestedPasskey.SUBJECT, "1.3.6.1.4.1.45724.1.1.4 = "
            right = aaguid + "DER:0410" + bytes(range(16)).hex()
            for options in ({}, {"extensions": []}, {"extensions": ["keyUsage = digitalSignature", right]}):
                AttestedPasskey(server, "ada").certify(**options).register()
            for options in ({"extensions": [aaguid + "DER:0410" + bytes(16).hex()]},
                            {"extensions": [aaguid + "critical,DER:0410" + bytes(range(16)).hex()]},
                            {"extensions": [aaguid + "DER:" + bytes(range(16)).hex()]},
                            {"extensions": [aaguid + "DER:0411" + bytes(range(17)).hex()]},
                            {"authority": "TRUE"}, {"authority": None}, {"curve": "P-384"}, {"curve": "P-521"},
                            {"subject": subject.replace("/C=AA", "")}, {"subject": subject.replace("/O=Maker", "")},
                            {"subject": subject.replace("/CN=Model", "")},
                            {"subject": subject.replace("Authenticator Attestation", "Authenticator attestation")},
                            {"subject": subject + "/OU=Authenticator Attestation"}):
                passkey = AttestedPasskey(server, "bob").certify(**options)
                code = server.command("code", "bob")
                status, reply = server.post("/v1/passkeys", passkey.registration(code))
                self.assertEqual((status, reply), (401, REFUSED), options)
            forger = AttestedPasskey(server, "bob").certify()
            forger.maker = Device(server, "bob")
            self.assertEqual(server.post("/v1/passkeys", forger.registration(server.command("code", "bob")))[0], 401)
            trailing = AttestedPasskey(server, "bob").certify()
            trailing.certificate += b"\0"
            self.assertEqual(server.post("/v1/passkeys", trailing.registration(server.command("code", "bob")))[0], 401)
            # Only the first certificate is read; there are at most eight.
            for count, expected in ((8, 201), (9, 401)):
                chain = AttestedPasskey(server, "bob").certify()
                data = chain.data(credential=chain.attested())
                client = chain.client_data("create", chain.challenge("register"))
                form, value = chain.statement(data, client)
                value["x5c"] = [chain.certificate] + [b"1"] * (count - 1)
                self.code = server.command("code", "bob")
                self.attempt(server, chain, expected, client=client, data=data, statement=(form, value))
            self.assertEqual(set(reasons(server)), {"passkeyStatement"})

    def test_a_session_adds_a_passkey_and_its_token_alone_does_not(self):
        with Server(passkeys="allow") as server:
            device, passkey, second = Device(server, "ada").register(), Passkey(server, "ada"), Passkey(server, "ada")
            header = {"Authorization": "Bearer " + device.sign_in()[1]["token"]}

            def bound(new, signer):
                challenge = new.challenge("register")
                message = (b"latchkey relying party 1\0" + counted(b"example.com") + bytes([7]) + counted(b"ada")
                           + counted(new.id) + counted(b"") + counted(base64.urlsafe_b64decode(challenge + "==")))
                made = new.made(client=new.client_data("create", challenge))
                return {"user": "ada", "credential": made, "sessionProof": {"signature": text(signer.sign(message))}}
            self.assertEqual(server.post("/v1/passkeys", bound(passkey, passkey), header), (401, REFUSED))
            self.assertEqual(server.post("/v1/passkeys", bound(passkey, device)), (401, REFUSED))
            for change in ({"sessionProof": {}}, {"sessionProof": "A"}, {"sessionProof": {"signature": "AA", "more": 1}},
                           {"sessionProof": {"signature": "AA", "credential": {}}}, {"sessionProof": {"credential": {}}}):
                self.assertEqual(server.post("/v1/passkeys", bound(passkey, device) | change, header), (400, MALFORMED))
            self.assertEqual(server.post("/v1/passkeys", bound(passkey, device), header)[0], 201)
            # The session of a passkey: its assertion names the new key.
            header = {"Authorization": "Bearer " + passkey.sign_in()[1]["token"]}

            def asserted(new, named):
                proof = passkey.proof("register", "key:" + text(named))
                return {"user": "ada", "credential": new.made(), "sessionProof": {"credential": proof["credential"]}}
            self.assertEqual(server.post("/v1/passkeys", asserted(second, passkey.id), header), (401, REFUSED))
            self.assertEqual(server.post("/v1/passkeys", bound(second, passkey), header), (401, REFUSED))
            self.assertEqual(server.post("/v1/passkeys", asserted(second, second.id), header)[0], 201)
            self.assertEqual(second.sign_in()[0], 201)
            self.assertEqual(reasons(server)[-2:], ["otherBinding", "otherForm"])


class ActTests(unittest.TestCase):
    def test_a_passkey_approves_an_act_and_revokes(self):
        with Server(passkeys="allow") as server:
            passkey, device = Passkey(server, "ada", counter=1).register(), Device(server, "ada").register()
            header = {"Authorization": "Bearer " + passkey.sign_in()[1]["token"]}
            act = "pay 20 EUR to Bob"
            proof = passkey.proof("step-up", act)
            for wrong, status in ((proof | {"context": "pay 200 EUR to Bob"}, 401), (proof | {"context": act, "counter": 9}, 400),
                                  (changed(proof, authenticatorData=None) | {"context": act}, 400),
                                  (changed(proof, text(device.id)) | {"context": act}, 401)):
                self.assertEqual(server.post("/v1/step-ups", wrong, header)[0], status)
            # What another form of key signs, and both at once.
            bare = Device.proof(passkey, "step-up", act) | {"context": act}
            self.assertEqual(server.post("/v1/step-ups", bare, header), (401, REFUSED))
            self.assertEqual(server.post("/v1/step-ups", bare | proof, header), (400, MALFORMED))
            status, reply = server.post("/v1/step-ups", proof | {"context": act}, header)
            self.assertEqual((status, len(reply.pop("approval")), reply.pop("expires") > 0), (200, 43, True))
            self.assertEqual(reply, {"user": "ada", "key": text(passkey.id), "context": act})
            # Other requests have no place for an assertion.
            for path in ("/v1/sessions", "/v1/keys", "/v1/rotations"):
                self.assertEqual(server.post(path, passkey.proof("login"), header)[0], 400)
            target = "key:" + text(device.id)
            body = passkey.proof("revoke", target) | {"target": target}
            self.assertEqual(server.post("/v1/revocations", body), (200, {"revokedKeys": 1}))
            self.assertEqual(server.post("/v1/revocations", body), (401, REFUSED))
            self.assertEqual(device.sign_in(), (401, REFUSED))
            self.assertEqual(reasons(server), ["otherBinding", "credential", "credential", "otherCredential", "otherForm",
                                               "credential", "members", "members", "members", "replayed", "revokedKey"])

    def test_commands_show_the_form_and_delete_passkeys(self):
        with Server(passkeys="allow") as server:
            synced = AttestedPasskey(server, "ada", flags=USER_PRESENT | USER_VERIFIED | ELIGIBLE | BACKED_UP).register()
            Device(server, "ada").register()
            Device(server, "ada").register(raw=True)
            keys = json.loads(server.command("keys", "ada", "--json"))
            self.assertEqual(sorted(key["form"] for key in keys), ["bound", "passkey", "raw"])
            shown = next(key for key in keys if key["form"] == "passkey")
            self.assertEqual(shown["passkey"], {
                "credential": text(synced.credential), "authenticator": "00010203-0405-0607-0809-0a0b0c0d0e0f",
                "attested": "self", "synced": "yes"})
            self.assertEqual((shown["device"], shown["proven"]["device"], shown["counter"]), ("laptop", "none", None))
            self.assertIn("passkey: authenticator 00010203-0405-0607-0809-0a0b0c0d0e0f, attested self, synced yes",
                          server.command("export", "ada"))
            self.assertIn("3 keys", server.command("delete", "ada"))
            self.assertEqual(synced.sign_in(), (401, REFUSED))

    def test_a_restored_database_ends_the_sessions_of_passkeys(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder, passkeys="allow") as server:
            passkey = Passkey(server, "ada").register()
            header = {"Authorization": "Bearer " + passkey.sign_in()[1]["token"]}
            backup = pathlib.Path(folder) / "backup"
            server.command("backup", str(backup))
            server.stop()
            (pathlib.Path(folder) / "server.sqlite").write_bytes(backup.read_bytes())
            for suffix in ("-wal", "-shm"):
                (pathlib.Path(folder) / ("server.sqlite" + suffix)).unlink(missing_ok=True)
            server.command("restored")
            with Server(folder, passkeys="allow") as again:
                passkey.server = again
                self.assertEqual(again.send("GET", "/v1/session", headers=header)[0], 401)
                self.assertEqual(passkey.sign_in()[0], 201)

    def test_origins_and_passkeys_are_configured_exactly(self):
        origins = "https://login.example.com", "https://example.com:8443"
        with Server(passkeys="allow", origins=", ".join(origins)) as server:
            ada = Passkey(server, "ada")
            for origin in origins:
                ada.origin = origin
                (ada.register() if ada.handle is None else ada)
                self.assertEqual(ada.sign_in()[0], 201)
            ada.origin = "https://example.com"
            self.assertEqual(ada.sign_in(), (401, REFUSED))
        with Server(passkeys="allow", relying_party_id="localhost", origins="http://localhost:8000") as server:
            ada = Passkey(server, "ada")
            ada.origin = "http://localhost:8000"
            self.assertEqual(ada.register().sign_in()[0], 201)
        with Server() as server:
            good = server.configuration.read_text()
            server.stop()
            for value in ("passkeys = yes", "counters = loose", "passkey_seconds = 0", "passkey_seconds = 601", "origins = https://example.com/", "origins = http://example.com",
                          "origins = https://example.com:443", "origins = https://Example.com", "origins = example.com",
                          "origins = https://example.com,", "origins = http://localhost:80", "origins = https://",
                          "origins = https://example.com:0", "origins = https://example.com:08443", "origins = null",
                          "origins = http://localhost.example.com", "origins = https://a:b:1",
                          "origins = https://ex\u00e4mple.com"):
                server.configuration.write_text(good + value + "\n")
                run = subprocess.run([PROGRAM, server.configuration, "serve"], capture_output=True, text=True,
                                     timeout=20)
                self.assertEqual((run.returncode, run.stderr[:7]), (1, "error: "), value)

    def test_names_and_origins_that_no_browser_can_use_are_refused_by_name(self):
        """WebAuthn Level 3, section 5.1.2: the name is a domain, and each origin is there or below it."""
        with Server() as server:
            good = server.configuration.read_text().replace("relying_party_id = example.com\n", "")
            server.stop()

            def start(*lines):
                server.configuration.write_text(good + "".join(line + "\n" for line in lines))
                return subprocess.run([PROGRAM, server.configuration, "audit"], capture_output=True, text=True, timeout=20)
            wrong = ("Example.com", "https://example.com", "example.com:8443", "example.com/login", "ex\u00e4mple.com",
                     "example.com.", ".example.com", "example..com", "-example.com", "example-.com", "exa_mple.com",
                     "192.0.2.1", "example.0x1", "[2001:db8::1]", "example com", "*.example.com", "a" * 64 + ".com")
            for on in ("passkeys = allow", "administration = on"):
                for name in wrong:
                    run = start(f"relying_party_id = {name}", on)
                    self.assertEqual((run.returncode, run.stderr[:23]), (1, "error: relying_party_id"), name)
                for name, origins, isRight in (
                        ("example.com", "https://example.com:8443, https://a.b.example.com", True),
                        ("login.example.com", "https://login.example.com", True), ("xn--exmple-cua.com", None, True),
                        ("localhost", "http://localhost:8440", True), ("intranet", None, True),
                        ("example.com", "https://example.org", False), ("example.com", "https://notexample.com", False),
                        ("login.example.com", "https://example.com", False), ("example.com", "http://localhost:8440", False),
                        ("example.com", "https://example.com.example.org", False),
                        ("example.com", "https://example.com, https://com", False)):
                    run = start(f"relying_party_id = {name}", on, *([f"origins = {origins}"] if origins else []))
                    self.assertEqual(run.returncode, 0 if isRight else 1, (name, origins, run.stderr))
                    self.assertEqual(run.stderr[:14] == "error: origins", not isRight)
            # Devices sign the name as it is.
            for name in wrong:
                self.assertEqual(start(f"relying_party_id = {name}").returncode, 0, name)
