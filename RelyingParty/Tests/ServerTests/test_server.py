# SPDX-License-Identifier: Apache-2.0
"""Tests of running servers over loopback, with a client that shares no code with them."""
import base64
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest

from administration import AdministrationServer
from server import PROGRAM, Device, Server, stop_while_signing_in, text, wait_until, waiting_sign_ins

UNPROVEN = {"proven": {"device": "none", "model": ""}, "claimed": {"tier": "user", "userVerification": ""}}
REFUSED = {"type": "about:blank", "title": "The proof was not accepted.", "status": 401}


class SignInTests(unittest.TestCase):
    def test_a_registered_key_signs_in_and_its_session_ends(self):
        with Server() as server:
            for raw in (True, False):
                device = Device(server, f"ada{raw}").register(raw)
                status, session = device.sign_in(raw)
                self.assertEqual(status, 201)
                header = {"Authorization": "Bearer " + session["token"]}
                status, shown = server.send("GET", "/v1/session", headers=header)
                self.assertEqual((status, json.loads(shown)["user"]), (200, device.user))
                self.assertEqual(server.send("DELETE", "/v1/session", headers=header)[0], 204)
                self.assertEqual(server.send("GET", "/v1/session", headers=header)[0], 401)
            self.assertIn("6 rows", server.command("audit"))

    def test_abuse43_a_hundred_clients_replay_one_challenge(self):
        with Server() as server:
            proof = Device(server, "ada").register().proof()
            barrier = threading.Barrier(100)

            def client(_):
                barrier.wait()
                return server.post("/v1/sessions", proof)
            with concurrent.futures.ThreadPoolExecutor(100) as pool:
                replies = list(pool.map(client, range(100)))
            acknowledged = [reply for status, reply in replies if status == 201]
            self.assertEqual(len(acknowledged), 1)
            self.assertEqual([reply for status, reply in replies if status != 201], [REFUSED] * 99)
            rows = sqlite3.connect(server.folder / "server.sqlite").execute("SELECT count(*) FROM sessions").fetchone()
            print(f"acknowledged {len(acknowledged)}, lost {len(acknowledged) - rows[0]}, "
                  f"redeemed twice {max(0, len(acknowledged) - 1)}")
            self.assertEqual(rows, (1,))

    def test_a_spent_challenge_stays_spent_after_kill_9(self):
        with tempfile.TemporaryDirectory() as folder:
            with Server(folder) as server:
                device = Device(server, "ada").register()
                spent = device.proof()
                status, session = server.post("/v1/sessions", spent)
                self.assertEqual(status, 201)
                server.stop(signal.SIGKILL)
                with Server(folder) as again:
                    self.assertEqual(again.post("/v1/sessions", spent), (401, REFUSED))
                    header = {"Authorization": "Bearer " + session["token"]}
                    self.assertEqual(again.send("GET", "/v1/session", headers=header)[0], 200)
                    self.assertIn("rows", again.command("audit"))

    def test_abuse44_an_expired_challenge_is_refused(self):
        with tempfile.TemporaryDirectory() as folder, Server(folder) as first:
            device = Device(first, "ada").register()
            first.stop()
            with Server(folder, challenge_seconds=1) as server:
                device.server = server
                proof = device.proof()
                expiry = int.from_bytes(base64.urlsafe_b64decode(proof["challenge"] + "==")[73:81], "big")
                # The life of the challenge is the condition that is waited for, by CLOCK_REALTIME_COARSE (5), which time(2) reads.
                while time.clock_gettime(5) < expiry:
                    time.sleep(0.02)
                self.assertEqual(server.post("/v1/sessions", proof), (401, REFUSED))
                server.stop()
                self.assertIn('"reason":"expired"', server.written())

    def test_abuse44_other_user_key_purpose_or_relying_party_is_refused_uniformly(self):
        with Server() as server, Server(relying_party_id="example.org") as other:
            ada, bob = Device(server, "ada").register(), Device(server, "bob").register()
            proof, foreign = ada.proof(), bob.proof()
            purpose = ada.proof("revoke", "user")
            for wrong in (proof | {"user": "bob"}, proof | {"key": foreign["key"]}, proof | {"user": "eve"},
                          purpose, proof | {"signature": foreign["signature"]}, proof | {"signature": ""},
                          proof | {"challenge": text(bytes(145))}, proof | {"challenge": "AAAA"}):
                self.assertEqual(server.post("/v1/sessions", wrong), (401, REFUSED))
            stranger = Device(other, "ada").register()
            self.assertEqual(other.post("/v1/sessions", proof), (401, REFUSED))
            self.assertEqual(server.post("/v1/sessions", stranger.proof()), (401, REFUSED))
            # None of these spent the challenge.
            self.assertEqual(server.post("/v1/sessions", proof)[0], 201)

    def test_a_token_without_its_key_registers_no_key(self):
        with Server() as server:
            victim, thief = Device(server, "ada").register(), Device(server, "ada")
            header = {"Authorization": "Bearer " + victim.sign_in()[1]["token"]}
            self.assertEqual(server.post("/v1/keys", thief.registration_by(thief), header), (401, REFUSED))
            second = Device(server, "ada")
            self.assertEqual(server.post("/v1/keys", second.registration_by(victim), header)[0], 201)
            self.assertEqual(second.sign_in()[0], 201)

    def test_a_device_is_revoked_by_the_bytes_of_its_name(self):
        # A combining mark and the character before it are one character; a letter with it has two spellings.
        with Server() as server:
            ada = Device(server, "ada").register()
            header = {"Authorization": "Bearer " + ada.sign_in()[1]["token"]}
            for name, other in (("\u0301laptop", "laptop"), ("caf\u00e9", "cafe\u0301")):
                second = Device(server, "ada")
                self.assertEqual(server.post("/v1/keys", second.registration_by(ada, name), header)[0], 201)
                for target, count in (("device:" + other, 0), ("device:" + name, 1)):
                    body = ada.proof("revoke", target) | {"target": target}
                    self.assertEqual(server.post("/v1/revocations", body), (200, {"revokedKeys": count}), target)
                self.assertEqual(second.sign_in(), (401, REFUSED))

    def test_a_member_is_named_by_its_bytes(self):
        with Server() as server:
            device = Device(server, "ada")
            body = device.registration(server.command("code", "ada"))
            body["public\u212aey"] = body.pop("publicKey")
            self.assertEqual(server.post("/v1/keys", body)[0], 400)

    def test_a_key_is_rotated_by_a_signature_of_both(self):
        with Server() as server:
            old, new = Device(server, "ada").register(), Device(server, "ada")
            proof = old.proof("rotate", "user:" + text(new.id))
            body = proof | {"publicKey": {"format": "pem", "value": new.pem}, "tier": "user"}
            self.assertEqual(server.post("/v1/rotations", body)[0], 400)
            self.assertEqual(server.post("/v1/rotations", body | {"newSignature": proof["signature"]}), (401, REFUSED))
            body |= {"newSignature": text(new.sign(old.signed))}
            self.assertEqual(server.post("/v1/rotations", body), (201, {"key": text(new.id), **UNPROVEN}))
            self.assertEqual(server.post("/v1/rotations", body), (401, REFUSED))
            self.assertEqual(old.sign_in(), (401, REFUSED))
            self.assertEqual(new.sign_in()[0], 201)

    def test_a_client_behind_the_proxy_is_limited_and_others_are_not(self):
        with Server() as server:
            proof = Device(server, "ada").register().proof()
            wrong = proof | {"signature": ""}
            # The proxy appends the address that it saw; the client may have sent one of its own.
            client = {"X-Forwarded-For": "192.0.2.7, 192.0.2.1"}
            for _ in range(10):
                self.assertEqual(server.post("/v1/sessions", wrong, client), (401, REFUSED))
            status, reply = server.post("/v1/sessions", wrong, client)
            self.assertEqual((status, reply["status"]), (429, 429))
            self.assertEqual(server.post("/v1/sessions", wrong, {"X-Forwarded-For": "192.0.2.7"})[0], 401)
            self.assertEqual(server.post("/v1/sessions", proof, client)[0], 201, "the right one is never refused")

    def test_a_step_up_is_signed_with_its_context(self):
        with Server() as server:
            device = Device(server, "ada").register()
            header = {"Authorization": "Bearer " + device.sign_in()[1]["token"]}
            proof = device.proof("step-up", "pay 20 EUR to Bob")
            wrong = proof | {"context": "pay 200 EUR to Bob"}
            right = proof | {"context": "pay 20 EUR to Bob"}
            self.assertEqual(server.post("/v1/step-ups", wrong, header), (401, REFUSED))
            self.assertEqual(server.post("/v1/step-ups", right), (401, REFUSED))
            status, reply = server.post("/v1/step-ups", right, header)
            self.assertEqual((status, reply["context"]), (200, right["context"]))
            self.assertEqual(server.post("/v1/step-ups", right, header), (401, REFUSED))

    def test_revocation_ends_sessions_and_refuses_the_key(self):
        with Server() as server:
            device = Device(server, "ada").register()
            header = {"Authorization": "Bearer " + device.sign_in()[1]["token"]}
            target = "key:" + text(device.id)
            status, reply = server.post("/v1/revocations", device.proof("revoke", target) | {"target": target})
            self.assertEqual((status, reply), (200, {"revokedKeys": 1}))
            self.assertEqual(server.send("GET", "/v1/session", headers=header)[0], 401)
            self.assertEqual(device.sign_in(), (401, REFUSED))


class TokenTests(unittest.TestCase):
    def test_a_token_is_accepted_in_its_header_only(self):
        with Server() as server:
            token = Device(server, "ada").register().sign_in()[1]["token"]
            elsewhere = [{"Cookie": f"token={token}"}, {"Cookie": f"__Host-latchkey={token}"}, {"X-Auth-Token": token},
                         {"Authorization": token}, {"Authorization": "Basic " + token}, {"Proxy-Authorization": "Bearer " + token},
                         {"Authorization": f"Bearer {token}, Bearer {token}"}, {"Authorization": f"Bearer {token}="},
                         {"Authorization": f"Bearer {token[:-1]}"}, {"Authorization": f"Bearer {token}A"}]
            for headers in elsewhere:
                self.assertEqual(server.send("GET", "/v1/session", headers=headers)[0], 401, headers)
            for path in (f"/v1/session?access_token={token}", f"/v1/session?token={token}"):
                self.assertEqual(server.send("GET", path)[0], 401)
            self.assertEqual(server.send("GET", f"/v1/session/{token}")[0], 404)
            device = Device(server, "bob").register()
            body = device.proof("step-up", "pay") | {"context": "pay", "token": token}
            self.assertEqual(server.post("/v1/step-ups", body)[0], 400)
            self.assertEqual(server.send("GET", "/v1/session", headers={"Authorization": "Bearer " + token})[0], 200)

    def test_each_sign_in_has_a_new_token_of_which_the_database_has_the_hash(self):
        with Server() as server:
            device = Device(server, "ada").register()
            fixed = text(b"fixed" + bytes(27))
            tokens = [server.post("/v1/sessions", device.proof(), {"Authorization": "Bearer " + fixed})[1]["token"]
                      for _ in range(3)]
            self.assertEqual(len({fixed, *tokens}), 4)
            raw = [base64.urlsafe_b64decode(token + "=") for token in tokens]
            self.assertEqual({len(token) for token in raw}, {32})
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database:
                stored = {row[0] for row in database.execute("SELECT token FROM sessions")}
            self.assertEqual(stored, {hashlib.sha256(token).digest() for token in raw})
            # Signing in again ends no session of another program, and signing out ends one.
            headers = [{"Authorization": "Bearer " + token} for token in tokens]
            self.assertEqual(server.send("DELETE", "/v1/session", headers=headers[1])[0], 204)
            self.assertEqual([server.send("GET", "/v1/session", headers=header)[0] for header in headers], [200, 401, 200])
            self.assertEqual(server.send("GET", "/v1/session", headers={"Authorization": "Bearer " + fixed})[0], 401)

    def test_replies_may_not_be_stored(self):
        with Server() as server:
            for path in ("/v1/session", "/v1/openapi.json", "/health", "/nothing"):
                self.assertEqual(server.headers("GET", path).get_all("Cache-Control"), ["no-store"], path)


class BadInputTests(unittest.TestCase):
    def test_malformed_requests_are_refused_and_store_nothing(self):
        with Server() as server:
            device = Device(server, "ada").register()
            proof = device.proof()
            good = json.dumps(proof).encode()
            database = sqlite3.connect(server.folder / "server.sqlite")
            count = lambda: [database.execute(f"SELECT count(*) FROM {t}").fetchone()
                             for t in ("audit", "sessions", "keys", "codes", "epochs")]
            before = count()
            duplicate = good[:-1] + b', "user": "ada"}'
            named = json.dumps(device.registration("X") | {"publicKey": {"format": "pem", "value": "", "x": 1}}).encode()
            self.assertEqual(server.send("POST", "/v1/keys", named)[0], 400)
            for target in ("device:", "key:", "key:AAAA"):
                body = device.proof("revoke", target) | {"target": target}
                self.assertEqual(server.post("/v1/revocations", body)[0], 400, target)
            for body in (b"", b"{", b"[]", b"null", b"\xff", good + b"x", duplicate, b"[" * 10000,
                         json.dumps(proof | {"more": 1}).encode(), json.dumps(proof | {"user": 1}).encode(),
                         json.dumps(proof | {"user": ""}).encode(), json.dumps(proof | {"user": "a" * 129}).encode(),
                         json.dumps(proof | {"key": "!"}).encode(), json.dumps(proof | {"key": "AA"}).encode()):
                self.assertEqual(server.send("POST", "/v1/sessions", body)[0], 400, body[:60])
            oversize = b'{"user":"' + b"a" * 20000 + b'"}'
            self.assertEqual(server.send("POST", "/v1/sessions", oversize)[0], 413)
            self.assertEqual(server.send("POST", "/v1/sessions", good, {"Content-Type": "text/plain"})[0], 415)
            self.assertEqual(server.send("GET", "/v1/sessions")[0], 405)
            self.assertEqual(server.headers("DELETE", "/v1/sessions")["Allow"], "POST")
            self.assertEqual(server.send("GET", "/v2")[0], 404)
            for purpose in ("rotation", "LOGIN", ""):
                body = {"user": "ada", "key": text(device.id), "purpose": purpose}
                self.assertEqual(server.post("/v1/challenges", body)[0], 400)
            for _ in range(300):
                self.assertEqual(server.post("/v1/sessions", proof | {"signature": "AAAA"})[0], 401)
            self.assertEqual(count(), before)
            self.assertEqual(server.post("/v1/sessions", proof)[0], 201)

    def test_abuse45_keys_of_other_curves_are_refused(self):
        with Server() as server:
            for curve in ("P-384", "secp256k1"):
                device = Device(server, "ada", curve)
                self.assertEqual(server.post("/v1/keys", device.registration("X"))[0], 400)

    def test_abuse45_keys_of_rsa_are_refused_in_each_format(self):
        with Server() as server:
            rsa = Device(server, "ada", options=("-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"))
            der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "DER"], input=rsa.pem.encode(), check=True,
                                 capture_output=True).stdout
            modulus = subprocess.run(["openssl", "rsa", "-pubin", "-modulus", "-noout"], input=rsa.pem.encode(), check=True,
                                     capture_output=True).stdout.decode().strip().removeprefix("Modulus=")
            point = Device(server, "ada").point
            coordinates = {"crv": "P-256", "x": text(point[1:33]), "y": text(point[33:])}
            numbers = {"n": text(bytes.fromhex(modulus)), "e": "AQAB"}
            body = rsa.registration(server.command("code", "ada"))
            for format, value in (("pem", rsa.pem), ("der", text(der)), ("x963", text(der)),
                                  ("jwk", {"kty": "RSA"} | numbers), ("jwk", {"kty": "RSA"} | coordinates),
                                  ("jwk", {"kty": "EC", "crv": "P-256"} | numbers)):
                status, reply = server.post("/v1/keys", body | {"publicKey": {"format": format, "value": value}})
                self.assertEqual(status, 400, (format, reply))
            # The code is still there: the key is refused before anything is spent.
            other = Device(server, "ada")
            self.assertEqual(server.post("/v1/keys", other.registration(body["enrollmentCode"]))[0], 201)

    def test_bodies_without_a_length_are_refused(self):
        with Server() as server:
            for head in (b"Transfer-Encoding: chunked\r\n", b"", b"Content-Length: -1\r\n",
                         b"Content-Length: 99999999999999999999\r\n"):
                with socket.create_connection(("127.0.0.1", server.port), 20) as client:
                    client.sendall(b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n")
                    self.assertIn(client.recv(100)[:12], (b"HTTP/1.1 411", b"HTTP/1.1 400", b"HTTP/1.1 413", b""))
            self.assertEqual(server.send("GET", "/health")[0], 200)

    def raw(self, server, request):
        """The bytes that the server sends for a request until it closes the connection, or sends none for two seconds."""
        with socket.create_connection(("127.0.0.1", server.port), 20) as client:
            client.sendall(request)
            client.settimeout(2)
            reply = b""
            try:
                while data := client.recv(4096):
                    reply += data
            except TimeoutError:
                pass
            return reply

    def test_headers_with_two_meanings_are_refused_and_end_the_connection(self):
        hidden = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
        with Server() as server:
            for head in (b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(hidden),
                         b"Content-Length: 0\r\nTransfer-Encoding : chunked\r\n",
                         b"Content-Length : %d\r\nContent-Length: 0\r\n" % len(hidden),
                         b"Content-Length: 0\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n",
                         b"Content-Length: 0\r\nHost: b\r\n", b"Content-Length: 0\r\nX: a\x01b\r\n"):
                reply = self.raw(server, b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n" + hidden)
                self.assertEqual(reply.count(b"HTTP/1.1 "), 1, (head, reply))
                self.assertIn(b"HTTP/1.1 400", reply)
            token = Device(server, "ada").register().sign_in()[1]["token"].encode()
            for path in (b"/v1/session%00/x", b"/v1/sessio%6e"):
                reply = self.raw(server, b"GET %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n" % (path, token))
                self.assertIn(b"HTTP/1.1 404", reply, path)
            server.stop()
            self.assertIn('"path":"unread","method":"unread","status":400,"reason":"framing"', server.written())

    def test_a_request_that_trickles_is_cut_off(self):
        with Server() as server, socket.create_connection(("127.0.0.1", server.port), 20) as client:
            began = time.monotonic()
            client.settimeout(1)
            client.sendall(b"GET /health HTTP/1.1\r\n")
            # One byte a second, so that the connection is never idle for long; each wait ends with the reply or the cut.
            while time.monotonic() - began < 30:
                try:
                    if client.recv(1) == b"":
                        break
                except TimeoutError:
                    try:
                        client.sendall(b"X")
                    except OSError:
                        break
                except OSError:
                    break
            self.assertLess(time.monotonic() - began, 20)
            self.assertEqual(server.send("GET", "/health")[0], 200)

    def test_the_log_has_no_secrets(self):
        with Server() as server:
            device = Device(server, "adalovelace").register()
            proof = device.proof()
            token = server.post("/v1/sessions", proof)[1]["token"]
            code = server.command("code", "adalovelace")
            server.send("GET", "/v1/session", headers={"Authorization": "Bearer " + token})
            server.send("GET", "/" + token)
            server.send(token, "/v1/session")
            server.send("GET", "/health?" + token, headers={"X-Request-Id": token})
            server.post("/v1/keys", Device(server, "adalovelace").registration(code))
            server.stop()
            log = server.written()
            self.assertIn('"status":201', log)
            for secret in (token, proof["signature"], proof["challenge"], "adalovelace", code, text(device.id)):
                self.assertNotIn(secret, log)
            for line in log.splitlines():
                json.loads(line)

    def test_a_line_of_the_log_says_which_request_of_which_network_and_key(self):
        with Server(trusted_proxies=None) as server:
            device = Device(server, "ada").register()
            token = device.sign_in()[1]["token"]
            connection = server.connection()
            connection.request("GET", "/v1/session", headers={"Authorization": "Bearer " + token})
            response = connection.getresponse()
            response.read()
            connection.close()
            server.requests += 1
            key = text(hashlib.sha256(b"latchkey log key 1\0" + device.id).digest()[:9])
            server.stop()
            lines = [json.loads(line) for line in server.written().splitlines()]
            last = [line for line in lines if line["event"] == "request"][-1]
            self.assertLess(last.pop("microseconds"), 5_000_000)
            self.assertAlmostEqual(last.pop("time"), time.time(), delta=60)
            self.assertEqual(last, {
                "event": "request", "path": "/v1/session", "method": "GET", "status": 200, "reason": "", "node": "",
                "request": response.headers["X-Request-Id"], "network": "127.0.0.1", "key": key})
            identifiers = [line["request"] for line in lines if line["event"] == "request"]
            self.assertEqual(len(set(identifiers)), server.requests)
            proofs = [line for line in lines if line.get("path") in ("/v1/keys", "/v1/sessions")]
            self.assertEqual([line.get("key") for line in proofs], [key, key])


class ProcessTests(unittest.TestCase):
    def test_health_readiness_and_the_description_are_served(self):
        with AdministrationServer() as server:
            self.assertEqual(server.send("GET", "/health")[0], 200)
            self.assertEqual(server.send("GET", "/ready")[0], 200)
            status, body = server.send("GET", "/v1/openapi.json")
            self.assertEqual((status, json.loads(body)["openapi"]), (200, "3.1.0"))
            for path in json.loads(body)["paths"]:
                self.assertNotEqual(server.send("GET", path)[0], 404, path)

    def test_metrics_have_a_port_of_their_own_and_no_names(self):
        with Server(metrics_port=0) as server:
            Device(server, "ada").register()
            server.send("GET", "/" + "x" * 50)
            server.post("/v1/sessions", {"user": "ada", "key": text(bytes(32)), "challenge": "", "signature": ""})
            self.assertEqual(server.send("GET", "/metrics")[0], 404, "not where clients are")
            server.port = server.first["metricsPort"]
            status, body = server.send("GET", "/metrics")
            lines = body.decode().splitlines()
            self.assertEqual(status, 200)
            for line in ('latchkey_server_requests_total{path="/v1/keys",method="POST",status="201"} 1',
                         'latchkey_server_requests_total{path="unknown",method="GET",status="404"} 2',
                         "latchkey_server_queue_requests 0", "latchkey_server_queue_shed_total 0",
                         "latchkey_server_queue_abandoned_total 0", "latchkey_server_database_connections 1",
                         "latchkey_server_database_connections_in_use 0", "latchkey_server_database_waiting 0",
                         'latchkey_server_refusals_total{reason="challengeFormat"} 1',
                         "latchkey_server_request_seconds_count 5"):
                self.assertIn(line, lines)
            self.assertRegex(body.decode(), r'\nlatchkey_server_build_info\{version="[0-9.]+"\} 1\n')
            self.assertNotIn("ada", body.decode())
            self.assertEqual(server.send("GET", "/v1/sessions")[0], 404)

    def test_the_environment_replaces_values_of_the_file(self):
        with Server(environment={"LATCHKEY_SERVER_RELYING_PARTY_ID": "example.org"}) as server:
            device = Device(server, "ada")
            with self.assertRaises(AssertionError):
                device.register()
            server.party = "example.org"
            device.register()
        for name, value in (("LATCHKEY_SERVER_PROT", "1"), ("LATCHKEY_SERVER_PORT", "x"), ("LATCHKEY_SERVER_PORT", "")):
            with Server() as server:
                done = subprocess.run([PROGRAM, server.configuration, "audit"], env={name: value}, capture_output=True)
                self.assertEqual(done.returncode, 1, (name, value))
                self.assertIn(b"error: ", done.stderr)

    def test_sigterm_answers_what_was_received_and_ends_with_0(self):
        with Server() as server:
            device = Device(server, "ada").register()
            acknowledged, stored = stop_while_signing_in(server, device)
            self.assertGreaterEqual(acknowledged, 1)
            self.assertGreaterEqual(stored, acknowledged)

    def test_a_log_that_nothing_reads_does_not_stop_the_server(self):
        with Server() as server:
            os.kill(server.reader.pid, signal.SIGSTOP)
            try:
                for _ in range(1500):
                    self.assertEqual(server.send("GET", "/health")[0], 200)
            finally:
                os.kill(server.reader.pid, signal.SIGCONT)
            self.assertEqual(server.stop(), 0)

    def test_requests_at_once_have_a_whole_line_each(self):
        with Server() as server:
            with concurrent.futures.ThreadPoolExecutor(16) as pool:
                for reply in [pool.submit(server.send, "GET", "/health") for _ in range(1000)]:
                    self.assertEqual(reply.result()[0], 200)
            self.assertEqual(server.stop(), 0)
            lines = [json.loads(line) for line in server.written().splitlines()]
            self.assertEqual(sum(line.get("path") == "/health" for line in lines), 1000)
            self.assertFalse([line for line in lines if "lostLines" in line])

    def test_lines_that_a_full_pipe_does_not_take_are_counted(self):
        # A client that the proxy does not name is another line each second, which may be lost too.
        def send():
            return server.send("GET", "/health", headers={"X-Forwarded-For": "192.0.2.7"})

        with Server() as server:
            os.kill(server.reader.pid, signal.SIGSTOP)
            try:
                with concurrent.futures.ThreadPoolExecutor(16) as pool:
                    for reply in [pool.submit(send) for _ in range(2000)]:
                        self.assertEqual(reply.result()[0], 200)
            finally:
                os.kill(server.reader.pid, signal.SIGCONT)
            # The count of threads that add at once is not exact.
            server.requests = 2000
            # Each request writes a line until the pipe takes one, which has the number of those that were lost.
            self.assertTrue(wait_until(lambda: send()[0] == 200 and "lostLines" in server.written()))
            requests = server.requests
            self.assertEqual(server.stop(), 0)
            lines = [json.loads(line) for line in server.written().splitlines()]
            written = sum(line.get("path") == "/health" for line in lines)
            lost = sum(line.get("lostLines", 0) for line in lines)
            self.assertGreater(lost, 0)
            self.assertEqual(written + lost, requests)

    def test_another_writer_makes_it_unready_and_not_dead(self):
        with Server() as server:
            proof = Device(server, "ada").register().proof()
            other = sqlite3.connect(server.folder / "server.sqlite", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            self.assertEqual(server.send("GET", "/ready")[0], 503)
            self.assertEqual(server.post("/v1/sessions", proof)[0], 503)
            self.assertEqual(server.send("GET", "/health")[0], 200)
            other.execute("ROLLBACK")
            self.assertEqual(server.post("/v1/sessions", proof)[0], 201)

    def test_what_needs_no_database_is_answered_while_other_requests_wait_for_it(self):
        with Server(threads=1) as server, waiting_sign_ins(server, 8) as (other, replies):
            bob = Device(server, "bob")
            # One after the other waits for a second, and is refused.
            self.assertEqual(next(concurrent.futures.as_completed(replies)).result()[0], 503)
            for _ in range(5):
                self.assertEqual(server.send("GET", "/health")[0], 200)
                bob.proof()
            self.assertFalse(all(reply.done() for reply in replies))
            other.execute("ROLLBACK")
            self.assertIn(201, [reply.result()[0] for reply in replies])

    def test_sigterm_refuses_requests_that_still_wait_for_the_database(self):
        # So many that their refusals are not all sent at the moment when the last one is made.
        with Server(threads=1) as server, waiting_sign_ins(server, 48) as (_, replies):
            # Now all of them were received.
            self.assertEqual(next(concurrent.futures.as_completed(replies)).result()[0], 503)
            began = time.monotonic()
            self.assertEqual(server.stop(), 0)
            self.assertLess(time.monotonic() - began, 7.9, "requests that no thread has begun to answer wait no longer")
            self.assertEqual([reply.result()[0] for reply in replies], [503] * 48)

    def test_a_server_that_ends_closes_new_connections_and_answers_what_it_has_received(self):
        with Server(threads=1) as server:
            body = json.dumps(Device(server, "ada").register().proof()).encode()

            def is_closed():
                with socket.create_connection(("127.0.0.1", server.port), timeout=5) as client:
                    try:
                        client.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
                        return client.recv(1) == b""
                    except ConnectionError:
                        return True

            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite", isolation_level=None)) as other, \
                    contextlib.closing(server.connection()) as waiting:
                other.execute("BEGIN IMMEDIATE")
                waiting.request("POST", "/v1/sessions", body, {"Content-Type": "application/json"})
                # The one thread has received the request before.
                self.assertEqual(server.send("GET", "/health")[0], 200)
                self.assertFalse(is_closed())
                server.process.send_signal(signal.SIGTERM)
                self.assertTrue(wait_until(is_closed, 4))
                self.assertIsNone(server.process.poll(), "a request that was received has no answer yet")
                other.execute("ROLLBACK")
                self.assertEqual(waiting.getresponse().status, 201)
                self.assertEqual(server.process.wait(10), 0)

    def test_clients_that_leave_while_their_requests_wait_do_no_harm(self):
        with Server(threads=1) as server:
            body = json.dumps(Device(server, "ada").register().proof()).encode()
            other = sqlite3.connect(server.folder / "server.sqlite", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            for _ in range(10):
                connection = server.connection()
                connection.request("POST", "/v1/sessions", body, {"Content-Type": "application/json"})
                connection.close()
            other.execute("ROLLBACK")
            # The answers are logged, whether or not a client is there; most are not begun.
            self.assertTrue(wait_until(lambda: server.written().count("/v1/sessions") == 10))
            server.requests += 10
            Device(server, "bob").register().sign_in()

    def test_wrong_configurations_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            secret = folder / "secret"
            secret.write_text("00" * 32)
            secret.chmod(0o600)
            good = f"relying_party_id = a\nport = 0\ndatabase = {folder}/d\nsecret_file = {secret}\n"
            other = good.replace(f"database = {folder}/d", f"postgresql = host={folder} port=1")
            (folder / "open").write_text("00" * 32)
            (folder / "open").chmod(0o644)
            (folder / "short").write_text("00")
            (folder / "short").chmod(0o600)
            (folder / "readable").write_text("")
            (folder / "readable").chmod(0o644)
            os.mkfifo(folder / "fifo", 0o600)
            for text_ in ("", good + "prot = 1\n", good + "port = 1\n", good.replace("port = 0", "port = x"),
                          good.replace("port = 0", "port = 70000"), good + "minimum_tier = tpm\n",
                          good.replace(str(secret), str(folder / "open")), good + "challenge_seconds = 601\n",
                          good.replace(str(secret), str(folder / "short")), good + "word\n",
                          good.replace("\n", "\r\n"), "# a comment\r\n" + good, "# a comment\v" + good,
                          "# a comment\u2028" + good, good.replace("= a\n", "= a\rminimum_tier = file\n"),
                          good.replace(f"{folder}/d", ":memory:"), good.replace(f"{folder}/d", "file:d?mode=memory"),
                          good.replace(f"{folder}/d", str(folder / "readable")), good.replace(str(secret), str(folder / "fifo")),
                          good + "trusted_proxies = 10.0.0.1\n", good + "trusted_proxies = 127.0.0.1,\n",
                          good + "hsts_seconds = 60\n",
                          good + "node = a\n", good + "postgresql_connections = 1\n", good + "postgresql = host=/a\n",
                          other, other + "node = A\n", other + "node = a\npostgresql_connections = 65\n",
                          other + "node = a\n", other.replace("host=", "password=x host=") + "node = a\n",
                          other.replace("host=", "hots=") + "node = a\n"):
                (folder / "c").write_text(text_, newline="")
                run = subprocess.run([PROGRAM, folder / "c", "serve"], capture_output=True, text=True, timeout=20)
                self.assertEqual(run.returncode, 1, text_)
                self.assertTrue(run.stderr.startswith("error: "), run.stderr)
                self.assertNotIn("password=x", run.stderr)
