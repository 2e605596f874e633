# SPDX-License-Identifier: Apache-2.0
"""Tests of the requests of the administration, with a client that shares no code with the page."""
import base64
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import re
import sqlite3
import struct
import subprocess
import threading
import unittest

from administration import CONTEXT, AdministrationServer, PageClient, free_port
from passkey import Passkey, changed
from server import PROGRAM, Device, Server, text

REFUSED = {"type": "about:blank", "title": "The proof was not accepted.", "status": 401}
FORBIDDEN = {"type": "about:blank", "title": "The request is not permitted.", "status": 403}
UNKNOWN = text(bytes(32))

# Every request that needs a session, with a body that fulfils its form.
REQUESTS = {
    "session": {}, "users": {"prefix": "", "after": ""}, "user": {"user": "victim"}, "keys": {"state": "all"},
    "sessions": {}, "chains": {}, "audit": {"node": "", "before": 0}, "revoke": {"user": "victim", "target": "user"},
    "unfreeze": {"user": "victim", "key": UNKNOWN, "proof": {"code": UNKNOWN}},
    "enrolment-code": {"user": "victim", "proof": {"code": UNKNOWN}},
    "end-sessions": {"user": "victim"}, "sign-out": {"everywhere": True},
}
# The ones that begin a session.
OPEN = {"code": {"code": UNKNOWN}, "sign-in": {"code": UNKNOWN}, "passkey": {"credential": {
    "id": UNKNOWN, "rawId": UNKNOWN, "type": "public-key", "response": {
        "clientDataJSON": "AAAA", "authenticatorData": "AAAA", "signature": "AAAA"}}}}


@contextlib.contextmanager
def rows(server):
    """The database, for what no request can do: rows of the past and of a broken machine."""
    with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite", timeout=20)) as database, database:
        yield database


class AccessTests(unittest.TestCase):
    def refused_everywhere(self, client, expected, status):
        for name, body in REQUESTS.items():
            self.assertEqual(client.call(name, body), (status, expected), name)

    def test_every_request_is_refused_without_a_session_and_tells_nothing(self):
        with AdministrationServer() as server:
            victim = server.device("victim")
            client = PageClient(server)
            self.refused_everywhere(client, REFUSED, 401)
            # The same for a user who does not exist.
            self.assertEqual(client.call("user", {"user": "unknown-user"}), (401, REFUSED))
            for cookie in ("", "A", UNKNOWN, UNKNOWN + "=", "A" * 4000, "\u00ff" * 43):
                client.cookie = cookie
                self.refused_everywhere(client, REFUSED, 401)
            self.assertEqual(victim.sign_in()[0], 201)

    def test_the_token_of_a_program_opens_no_page_and_a_cookie_is_no_token(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            self.assertEqual(client.call("session")[0], 200)
            self.assertEqual(server.send("GET", "/v1/session", headers={"Authorization": "Bearer " + client.cookie})[0], 401)
            program = PageClient(server)
            program.cookie = client.device.token
            self.refused_everywhere(program, REFUSED, 401)
            header = {"Authorization": "Bearer " + client.device.token}
            self.assertEqual(PageClient(server).call("users", REQUESTS["users"], header), (401, REFUSED))
            # Neither ends the other.
            self.assertEqual(server.send("DELETE", "/v1/session", headers={"Authorization": "Bearer " + client.cookie})[0], 204)
            self.assertEqual(client.call("session")[0], 200)

    def test_a_user_who_is_no_administrator_any_more_has_lost_the_session_at_once(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            self.assertEqual(client.call("users", REQUESTS["users"])[0], 200)
            server.command("administrator", "ada", "--remove")
            self.refused_everywhere(client, REFUSED, 401)
            # Even a session that stayed, as in an earlier copy of the database, opens nothing.
            server.command("administrator", "ada")
            self.assertEqual(client.sign_in(server.browser_code(client.device)), 201)
            with rows(server) as database:
                database.execute("DELETE FROM administrators")
            self.refused_everywhere(client, FORBIDDEN, 403)
            self.assertIn('"revoked":null', server.command("keys", "ada", "--json"))

    def test_the_deletion_of_an_administrator_and_the_revocation_of_the_key_end_the_session(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            server.command("delete", "ada")
            self.refused_everywhere(client, REFUSED, 401)
            client = server.signed_in("bob")
            self.assertEqual(client.revoke_own_key(), (200, {"revokedKeys": 1}))
            self.refused_everywhere(client, REFUSED, 401)
            client = server.signed_in("eve")
            server.command("revoke", "eve")
            self.refused_everywhere(client, REFUSED, 401)
            self.assertNotIn("ada", server.command("audit"))

    def test_a_user_without_the_role_gets_no_code_and_opens_nothing_with_a_passkey(self):
        with AdministrationServer() as server:
            device = server.device("eve")
            header = {"Authorization": "Bearer " + device.token}
            self.assertEqual(server.post("/v1/browser-codes", device.proof("step-up", CONTEXT), header), (403, FORBIDDEN))
            passkey = Passkey(server, "eve")
            passkey.origin = server.origin
            passkey.register()
            client = PageClient(server)
            with rows(server) as database:
                # As many as a key can have, so that another one would end the oldest.
                database.executemany("INSERT INTO sessions (token, key, created, used, expiry, browser) VALUES (?, ?, 1, 1, 2, 0)",
                                     [(hashlib.sha256(b"%d" % index).digest(), passkey.id) for index in range(16)])
            count = lambda: [database.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("sessions", "audit")]
            with rows(server) as database:
                before = count()
            self.assertEqual(client.call("passkey", passkey.chosen_body()), (403, FORBIDDEN))
            self.assertIsNone(client.cookie)
            with rows(server) as database:
                self.assertEqual(count(), before)
                self.assertEqual(database.execute("SELECT count(*) FROM sessions WHERE browser = 1").fetchone(), (0,))

    def test_a_passkey_of_an_administrator_opens_a_session_and_a_replay_does_not(self):
        with AdministrationServer() as server:
            server.command("administrator", "ada")
            passkey = Passkey(server, "ada")
            passkey.origin = server.origin
            passkey.register()
            body = passkey.chosen_body()
            client = PageClient(server)
            self.assertEqual(client.call("passkey", body)[0], 201)
            self.assertEqual(client.call("session")[1]["user"], "ada")
            self.assertEqual(PageClient(server).call("passkey", body), (401, REFUSED))
            passkey.origin = "https://example.org"
            self.assertEqual(PageClient(server).call("passkey", passkey.chosen_body()), (401, REFUSED))

    def test_a_passkey_signs_the_act_that_creates_a_right(self):
        with AdministrationServer() as server:
            server.command("administrator", "ada")
            passkey = Passkey(server, "ada", counter=1)
            passkey.origin = server.origin
            client = PageClient(server)
            self.assertEqual(client.call("passkey", passkey.register().chosen_body())[0], 201)

            def proof(context):
                return {"credential": passkey.proof("step-up", context)["credential"]}
            right = {"user": "bob", "proof": proof("make an enrolment code for bob")}
            for wrong, status in ((proof("make an enrolment code for eve"), 401), (proof("x"), 401), ({}, 400),
                                  ({"credential": {}}, 400), (right["proof"] | {"code": UNKNOWN}, 400)):
                self.assertEqual(client.call("enrolment-code", {"user": "bob", "proof": wrong})[0], status)
            self.assertEqual(client.call("enrolment-code", right)[0], 201)
            self.assertEqual(client.call("enrolment-code", right)[0], 401)

    def test_a_passkey_that_does_not_say_whose_it_is_opens_no_page(self):
        with AdministrationServer() as server:
            server.command("administrator", "ada")
            passkey = Passkey(server, "ada")
            passkey.origin = server.origin
            passkey.register()
            # The page names no user before (WebAuthn Level 3, section 7.2, step 6).
            self.assertEqual(PageClient(server).call("passkey", passkey.sign_in_body()), (401, REFUSED))
            # A page of programs may have asked for the name, and named the passkeys of the user.
            self.assertEqual(passkey.sign_in()[0], 201)
            self.assertEqual(PageClient(server).call("passkey", passkey.chosen_body())[0], 201)
            server.stop()
            self.assertIn('"reason":"userHandle"', server.written())

    def test_nothing_is_served_unless_it_is_configured(self):
        with Server() as server:
            for path in ("/admin", "/admin/admin.js", "/admin/api/session"):
                self.assertEqual(server.send("GET", path)[0], 404)
            device = Device(server, "ada").register()
            header = {"Authorization": "Bearer " + device.sign_in()[1]["token"]}
            self.assertEqual(server.post("/v1/browser-codes", device.proof("step-up", CONTEXT), header), (401, REFUSED))


class ForgeryTests(unittest.TestCase):
    def test_every_request_needs_the_headers_of_the_page(self):
        with AdministrationServer() as server:
            victim = server.device("victim")
            client = server.signed_in("ada")
            port = server.port
            wrong = [{"X-Latchkey-Administration": value} for value in (None, "", "0", "1, 1", "true")]
            wrong += [{"Origin": value} for value in (
                None, "", "null", "https://localhost", f"http://localhost:{port + 1}", f"http://127.0.0.1:{port}",
                f"http://localhost:{port}/", f"http://localhost:{port}.evil.example", f"HTTP://localhost:{port}",
                f"http://evil.example:{port}", f"http://localhost:{port}@evil.example")]
            wrong += [{"Sec-Fetch-Site": value} for value in ("same-site", "cross-site", "none", "", "same-origin, cross-site")]
            for headers in wrong:
                for name, body in (REQUESTS | OPEN).items():
                    self.assertEqual(client.call(name, body, headers), (403, FORBIDDEN), (headers, name))
            for kind in (None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
                self.assertEqual(client.call("revoke", REQUESTS["revoke"], {"Content-Type": kind})[0], 415, kind)
            self.assertEqual(victim.sign_in()[0], 201)
            # A browser that does not send the last one is served.
            self.assertEqual(client.call("users", REQUESTS["users"], {"Sec-Fetch-Site": None})[0], 200)

    def test_other_methods_and_paths_have_no_effect(self):
        with AdministrationServer() as server:
            victim = server.device("victim")
            client = server.signed_in("ada")
            for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "post", "BREW"):
                status, headers, _ = client.request("revoke", REQUESTS["revoke"], method=method)
                self.assertIn(status, (400, 405), method)
                self.assertIsNone(headers["Access-Control-Allow-Origin"])
            override = {"X-HTTP-Method-Override": "POST", "X-HTTP-Method": "POST"}
            self.assertEqual(client.call("revoke", REQUESTS["revoke"], override, method="GET")[0], 405)
            for name in ("revoke/", "Revoke", "revoke%2f", "../api/revoke", "revoke;x", "", "users/../revoke", "__proto__"):
                self.assertEqual(client.call(name, REQUESTS["revoke"])[0], 404, name)
            for name in ("revoke?user=victim", "revoke?x", "users?prefix=&after="):
                self.assertEqual(client.call(name, REQUESTS["revoke"])[0], 400, name)
            self.assertEqual(victim.sign_in()[0], 201)

    def test_a_cookie_that_another_host_tossed_is_not_chosen(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            mine, theirs = client.cookie, UNKNOWN
            for value in (f"__Host-latchkey={theirs}; __Host-latchkey={mine}", f"__Host-latchkey={mine}; __Host-latchkey={theirs}",
                          f"__Host-latchkey={mine};__Host-latchkey={mine}", f"__host-latchkey={mine}", f"latchkey={mine}",
                          f'__Host-latchkey="{mine}"', f"__Host-latchkey={mine} ", f"x__Host-latchkey={mine}"):
                self.assertEqual(client.call("session", {}, {"Cookie": value})[0], 401, value)
            self.assertEqual(client.call("session", {}, {"Cookie": f"a=b; __Host-latchkey={mine}; c=d"})[0], 200)

    def test_repeated_headers_are_refused(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            for name, value in (("Cookie", "a=b"), ("Origin", "https://evil.example"), ("X-Latchkey-Administration", "1"),
                                ("Sec-Fetch-Site", "same-origin")):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
                connection.putrequest("POST", "/admin/api/session")
                for header, sent in (client.headers() | {"Content-Length": "2"}).items():
                    connection.putheader(header, sent)
                connection.putheader(name, value)
                connection.endheaders(b"{}")
                self.assertEqual(connection.getresponse().status, 400, name)
                connection.close()


class SessionTests(unittest.TestCase):
    def test_the_cookie_has_every_attribute_and_each_sign_in_a_new_token(self):
        with AdministrationServer() as server:
            device = server.administrator("ada")
            client = PageClient(server)
            # Fixation: a token that somebody else has set is not adopted.
            client.cookie = fixed = text(b"fixed" + bytes(27))
            self.assertEqual(client.sign_in(server.browser_code(device)), 201)
            first = client.cookie
            self.assertEqual(sorted(part.strip() for part in client.attributes.split(";"))[:-1],
                             ["HttpOnly", "Path=/", "SameSite=Strict", "Secure"])
            self.assertEqual(len(base64.urlsafe_b64decode(first + "=")), 32)
            self.assertEqual(client.sign_in(server.browser_code(device)), 201)
            second = client.cookie
            self.assertEqual(len({fixed, first, second}), 3)
            # The session of the cookie before has ended.
            for cookie, status in ((fixed, 401), (first, 401), (second, 200)):
                client.cookie = cookie
                self.assertEqual(client.call("session")[0], status)
            with rows(server) as database:
                self.assertEqual(database.execute("SELECT count(*) FROM sessions WHERE browser = 1").fetchone(), (1,))
                # The database has no token.
                stored = database.execute("SELECT token FROM sessions WHERE browser = 1").fetchone()[0]
            self.assertEqual(stored, hashlib.sha256(base64.urlsafe_b64decode(second + "=")).digest())

    def test_signing_out_ends_the_session_on_the_server_and_the_cookie(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            cookie = client.cookie
            self.assertEqual(client.call("sign-out", {"everywhere": False})[0], 204)
            self.assertIn("Max-Age=0", client.attributes)
            client.cookie = cookie
            self.assertEqual(client.call("session"), (401, REFUSED))
            # The program of the same key goes on, until everything ends.
            header = {"Authorization": "Bearer " + client.device.token}
            self.assertEqual(server.send("GET", "/v1/session", headers=header)[0], 200)
            self.assertEqual(client.sign_in(server.browser_code(client.device)), 201)
            self.assertEqual(client.call("sign-out", {"everywhere": True})[0], 204)
            self.assertEqual(server.send("GET", "/v1/session", headers=header)[0], 401)

    def test_a_session_ends_when_it_is_idle_or_old_and_the_limits_are_only_shortened(self):
        with AdministrationServer(session_idle_seconds=86400, session_seconds=2592000) as server:
            client = server.signed_in("ada")
            status, session = client.call("session")
            self.assertEqual((status, session["idleSeconds"]), (200, 900))
            with rows(server) as database:
                created, expiry = database.execute("SELECT created, expiry FROM sessions WHERE browser = 1").fetchone()
                self.assertEqual(expiry - created, 28800)
                database.execute("UPDATE sessions SET used = used - 890 WHERE browser = 1")
            # Used within the idle time: it lives on, and the use is written down.
            self.assertEqual(client.call("session")[0], 200)
            with rows(server) as database:
                database.execute("UPDATE sessions SET used = used - 901 WHERE browser = 1")
            self.assertEqual(client.call("session"), (401, REFUSED))
            self.assertEqual(client.sign_in(server.browser_code(client.device)), 201)
            with rows(server) as database:
                database.execute("UPDATE sessions SET expiry = created WHERE browser = 1")
            self.assertEqual(client.call("session"), (401, REFUSED))
        with AdministrationServer(session_idle_seconds=60) as server:
            self.assertEqual(server.signed_in("ada").call("session")[1]["idleSeconds"], 60)


    def test_what_a_page_asks_for_by_itself_is_no_use_of_the_session(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            used = lambda: database.execute("SELECT used FROM sessions WHERE browser = 1").fetchone()[0]
            with rows(server) as database:
                database.execute("UPDATE sessions SET used = used - 500 WHERE browser = 1")
                before = used()
            for name, body in (("chains", {}), ("audit", {"node": "", "after": 0}), ("audit", {"node": "", "before": 0})):
                self.assertEqual(client.call(name, body | {"watching": True})[0], 200, name)
                self.assertEqual(client.call(name, body | {"watching": 1})[0], 400, name)
            with rows(server) as database:
                self.assertEqual(used(), before)
            # It has its end all the same, and a person who asks prolongs it.
            self.assertEqual(client.call("users", {"prefix": "", "after": "", "watching": True})[0], 400)
            self.assertEqual(client.call("chains", {"watching": False})[0], 200)
            with rows(server) as database:
                self.assertGreater(used(), before)
                database.execute("UPDATE sessions SET used = used - 901 WHERE browser = 1")
            self.assertEqual(client.call("chains", {"watching": True}), (401, REFUSED))


class BrowserCodeTests(unittest.TestCase):
    def test_a_hundred_uses_of_one_code_open_one_session(self):
        with AdministrationServer() as server:
            code = server.browser_code(server.administrator("ada"))
            barrier = threading.Barrier(100)

            def use(_):
                client = PageClient(server)
                barrier.wait()
                return client.call("sign-in", {"code": code})
            with concurrent.futures.ThreadPoolExecutor(100) as pool:
                replies = list(pool.map(use, range(100)))
            self.assertEqual(sorted(status for status, _ in replies), [201] + [401] * 99)
            self.assertEqual([reply for status, reply in replies if status != 201], [REFUSED] * 99)
            with rows(server) as database:
                self.assertEqual(database.execute("SELECT count(*) FROM sessions WHERE browser = 1").fetchone(), (1,))

    def test_a_code_is_over_when_it_is_old_replaced_or_its_key_revoked_and_is_stored_as_a_hash(self):
        with AdministrationServer() as server:
            device = server.administrator("ada")
            client = PageClient(server)
            first, second = server.browser_code(device), server.browser_code(device)
            self.assertEqual(client.call("code", {"code": first}), (401, REFUSED))
            # To look at a code does not spend it.
            self.assertEqual([client.call("code", {"code": second}) for _ in range(2)], [(200, {"user": "ada"})] * 2)
            with rows(server) as database:
                stored = database.execute("SELECT code, expiry FROM browser_codes").fetchall()
                self.assertEqual(stored[0][0], hashlib.sha256(base64.urlsafe_b64decode(second + "=")).digest())
                database.execute("UPDATE browser_codes SET expiry = expiry - 60")
            self.assertEqual(client.sign_in(second), 401)
            with rows(server) as database:
                # One of a clock that was set back since.
                database.execute("UPDATE browser_codes SET expiry = expiry + 600")
            self.assertEqual(client.sign_in(second), 401)
            third = server.browser_code(device)
            server.command("revoke", "ada")
            self.assertEqual(client.sign_in(third), 401)
            other = server.administrator("bob")
            fourth = server.browser_code(other)
            server.command("administrator", "bob", "--remove")
            self.assertEqual(client.sign_in(fourth), 401)
            self.assertIsNone(client.cookie)
            server.stop()
            self.assertNotIn(fourth, server.written())

    def test_a_step_up_for_another_act_or_of_another_key_makes_no_code(self):
        with AdministrationServer() as server:
            device, other = server.administrator("ada"), server.device("bob")
            header = {"Authorization": "Bearer " + device.token}
            for proof in (device.proof("step-up", "pay 20 EUR"), device.proof("login"), other.proof("step-up", CONTEXT)):
                self.assertEqual(server.post("/v1/browser-codes", proof, header), (401, REFUSED))
            proof = device.proof("step-up", CONTEXT)
            self.assertEqual(server.post("/v1/browser-codes", proof), (401, REFUSED))
            self.assertEqual(server.post("/v1/browser-codes", proof | {"context": CONTEXT}, header)[0], 400)
            # The session of a browser does not approve anything that only a program can sign.
            client = PageClient(server)
            client.sign_in(server.browser_code(device))
            cookie = {"Authorization": "Bearer " + client.cookie}
            self.assertEqual(server.post("/v1/browser-codes", device.proof("step-up", CONTEXT), cookie), (401, REFUSED))
            self.assertEqual(server.post("/v1/browser-codes", proof, header)[0], 201)
            self.assertEqual(server.post("/v1/browser-codes", proof, header), (401, REFUSED))


class ActsTests(unittest.TestCase):
    def pseudonym(self, server, user):
        with rows(server) as database:
            return database.execute("SELECT pseudonym FROM users WHERE user = ?", (user,)).fetchone()[0]

    def last(self, server, event):
        with rows(server) as database:
            return database.execute("SELECT user, hex(key), detail FROM audit WHERE event = ? ORDER BY number DESC LIMIT 1",
                                    (event,)).fetchone()

    def test_each_act_has_its_effect_and_a_row_that_names_the_administrator(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            victim = server.device("victim")
            actor, own = self.pseudonym(server, "ada"), client.device.id.hex().upper()
            self.assertEqual(client.call("end-sessions", {"user": "victim"}), (200, {"endedSessions": 1}))
            whom = self.pseudonym(server, "victim")
            self.assertEqual(self.last(server, "end-sessions"), (whom, own, f"administrator {actor}: 1 sessions"))
            self.assertEqual(client.call("end-sessions", {"user": "victim"}), (200, {"endedSessions": 0}))
            status, made = client.proven("enrolment-code", {"user": "victim"})
            self.assertEqual(status, 201)
            self.assertEqual(self.last(server, "code"), (whom, own, f"administrator {actor}"))
            second = Device(server, "victim")
            self.assertEqual(server.post("/v1/keys", second.registration(made["code"]))[0], 201)
            for target, count in (("key:" + text(victim.id), 1), ("device:test", 1), ("user", 0)):
                self.assertEqual(client.call("revoke", {"user": "victim", "target": target}), (200, {"revokedKeys": count}))
                self.assertEqual(self.last(server, "revoke"), (whom, own, f"administrator {actor}: {target}, {count} keys"))
            self.assertEqual((victim.sign_in()[0], second.sign_in()[0]), (401, 401))
            self.assertEqual(client.proven("unfreeze", {"user": "victim", "key": text(victim.id)})[0], 404)
            self.assertIn("unchanged", server.command("audit"))
            # The name of a device cannot pass for an administrator: the actor comes first.
            third = Device(server, "victim")
            name = f"x, 1 keys, by administrator {actor}"
            body = third.registration(server.command("code", "victim")) | {"device": name[:64]}
            self.assertEqual(server.post("/v1/keys", body)[0], 201)
            server.command("revoke", "victim", "device", name[:64])
            self.assertTrue(self.last(server, "revoke")[2].startswith("device:x"))

    def test_a_frozen_key_is_used_again(self):
        with AdministrationServer() as server:
            client, victim = server.signed_in("ada"), server.device("victim")
            for counter in (7, 7):
                proof = victim.proof()
                server.post("/v1/sessions", proof | {
                    "counter": counter, "signature": text(victim.sign(victim.signed + counter.to_bytes(8, "big")))})
            self.assertEqual(victim.sign_in()[0], 401)
            key = {"user": "victim", "key": text(victim.id)}
            self.assertEqual([row["key"] for row in client.call("keys", {"state": "frozen"})[1]["keys"]], [key["key"]])
            self.assertEqual(client.proven("unfreeze", key | {"user": "ada"})[0], 404)
            self.assertEqual(client.proven("unfreeze", key), (200, {"unfrozen": True}))
            self.assertEqual(victim.sign_in()[0], 201)

    def test_an_act_on_the_key_of_another_user_changes_nothing(self):
        with AdministrationServer() as server:
            client, victim = server.signed_in("ada"), server.device("victim")
            wrong = {"user": "somebody", "target": "key:" + text(victim.id)}
            self.assertEqual(client.call("revoke", wrong), (200, {"revokedKeys": 0}))
            session = client.call("user", {"user": "victim"})[1]["sessions"][0]["session"]
            self.assertEqual(client.call("end-sessions", {"user": "somebody", "session": session}),
                             (200, {"endedSessions": 0}))
            self.assertEqual(client.call("end-sessions", {"user": "victim", "session": session}),
                             (200, {"endedSessions": 1}))

    def test_bodies_of_another_form_are_refused(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            client.cookie, cookie = None, client.cookie
            for body in (b"", b"[]", b"null", b'{"user":1,"target":"user"}', b'{"user":"v","user":"w","target":"user"}',
                         b'{"user":"v","target":"user","more":1}', b'{"user":"v","target":"all"}', b"{" * 100,
                         b'{"user":"","target":"user"}', json.dumps({"user": "x" * 129, "target": "user"}).encode(),
                         b'{"user":"\\u0000","target":"user"}', b'{"user":"v","target":"key:AA"}', b"\xff"):
                client.cookie = cookie
                self.assertEqual(client.call("revoke", body)[0], 400, body)
            self.assertEqual(client.request("revoke", b" " * 16385)[0], 413)
            for name, body in (("audit", {"node": ""}), ("audit", {"node": "", "after": 0, "before": 0}),
                               ("audit", {"node": "", "after": -1}), ("keys", {"state": "some"}),
                               ("keys", {"state": "all", "after": {"user": "a"}}), ("users", {"prefix": ""}),
                               ("sessions", {"after": {"created": 1, "session": "%"}}), ("sign-out", {"everywhere": 1}),
                               ("sign-in", {"code": "%"}), ("session", {"x": 1})):
                self.assertEqual(client.call(name, body)[0], 400, (name, body))

    def test_failed_sign_ins_of_a_client_are_limited(self):
        with AdministrationServer() as server:
            client = PageClient(server)
            address = {"X-Forwarded-For": "192.0.2.7"}
            statuses = [client.call("sign-in", {"code": UNKNOWN}, address)[0] for _ in range(40)]
            self.assertEqual(set(statuses), {401, 429})
            self.assertLessEqual(statuses.count(401), 35)
            self.assertIsNotNone(client.request("sign-in", {"code": UNKNOWN}, address)[1]["Retry-After"])
            # Another client is not concerned, and one without a cookie is not counted.
            other = {"X-Forwarded-For": "192.0.2.8"}
            self.assertEqual({client.call("session", {}, other)[0] for _ in range(40)}, {401})
            self.assertEqual(client.call("sign-in", {"code": UNKNOWN}, other)[0], 401)


    def test_a_client_behind_the_proxy_is_limited_for_one_passkey(self):
        with AdministrationServer() as server:
            ada, bob = Passkey(server, "ada"), Passkey(server, "bob")
            for passkey in (ada, bob):
                server.command("administrator", passkey.user)
                passkey.origin = server.origin
                passkey.register()
            address, other = {"X-Forwarded-For": "192.0.2.7"}, {"X-Forwarded-For": "192.0.2.8"}
            wrong = changed(ada.chosen_body(), signature="")
            for _ in range(10):
                self.assertEqual(PageClient(server).call("passkey", wrong, address), (401, REFUSED))
            status, headers, _ = PageClient(server).request("passkey", wrong, address)
            self.assertEqual(status, 429)
            self.assertGreater(int(headers["Retry-After"]), 0)
            # The limit is one of the interface below /v1/ too, and holds for refusals of this client and passkey only.
            self.assertEqual(server.post("/v1/passkeys/sessions", wrong, address)[0], 429)
            self.assertEqual(PageClient(server).call("passkey", wrong, other), (401, REFUSED))
            self.assertEqual(PageClient(server).call("passkey", changed(bob.chosen_body(), signature=""), address)[0], 401)
            self.assertEqual(PageClient(server).call("passkey", ada.chosen_body(), address)[0], 201)


class ListTests(unittest.TestCase):
    def fill(self, server, count):
        with rows(server) as database:
            database.executemany("INSERT INTO users VALUES (?, ?)", [(f"user{i:05}", f"p{i:021}") for i in range(count)])
            database.executemany(
                "INSERT INTO keys (id, user, device, algorithm, public, form, tier, created, attested, model, chip, verification)"
                " VALUES (?, ?, 'd', -7, zeroblob(65), 0, 'user', ?, 'none', '', x'', '')",
                [(hashlib.sha256(b"%d" % i).digest(), f"user{i // 3:05}", i % 2) for i in range(3 * count)])
            database.executemany(
                "INSERT INTO sessions (token, key, created, used, expiry, browser) VALUES (?, ?, ?, 0, 9999999999, 0)",
                [(hashlib.sha256(b"t%d" % i).digest(), hashlib.sha256(b"%d" % i).digest(), i // 7) for i in range(count)])

    def paged(self, client, name, body, member, position, between=lambda: None):
        found, after = [], body.get("after")
        while True:
            request = body | ({} if after is None else {"after": after})
            status, reply = client.call(name, request)
            self.assertEqual(status, 200, reply)
            found += reply[member]
            if len(reply[member]) < 50:
                return found
            after = position(reply[member][-1])
            between()

    def test_pages_have_every_row_once_although_rows_come_and_go(self):
        with AdministrationServer() as server:
            client = server.signed_in("m-ada")
            self.fill(server, 120)

            def change():
                with rows(server) as database:
                    database.execute("INSERT OR IGNORE INTO users VALUES ('a-new', 'x')")
                    database.execute("DELETE FROM sessions WHERE created = 0")

            users = self.paged(client, "users", {"prefix": "", "after": ""}, "users", lambda row: row["user"], change)
            self.assertEqual([row["user"] for row in users], ["m-ada"] + [f"user{i:05}" for i in range(120)])
            self.assertEqual(users[1]["keys"], 3)
            self.assertEqual(users[0] | {"sessions": 2}, {"user": "m-ada", "keys": 1, "frozenKeys": 0, "sessions": 2,
                                                          "administrator": True})
            keys = self.paged(client, "keys", {"state": "all"}, "keys",
                              lambda row: {"user": row["user"], "created": row["created"], "key": row["key"]}, change)
            self.assertEqual(len({row["key"] for row in keys}), 361)
            order = [(row["user"], row["created"], base64.urlsafe_b64decode(row["key"] + "=")) for row in keys]
            self.assertEqual(order, sorted(order))
            self.assertNotIn("", {row["user"] for row in keys})
            sessions = self.paged(client, "sessions", {}, "sessions",
                                  lambda row: {"created": row["created"], "session": row["session"]})
            self.assertEqual(len({row["session"] for row in sessions}), len(sessions))
            self.assertEqual([row["created"] for row in sessions], sorted((row["created"] for row in sessions), reverse=True))
            prefixed = self.paged(client, "users", {"prefix": "user0001", "after": ""}, "users", lambda row: row["user"])
            self.assertEqual([row["user"] for row in prefixed], [f"user{i:05}" for i in range(10, 20)])
            self.assertEqual(client.call("users", {"prefix": "%", "after": ""})[1], {"users": []})
            self.assertEqual(client.call("users", {"prefix": "USER", "after": ""})[1], {"users": []})

    def test_the_rows_of_the_audit_log_are_those_that_the_hashes_cover(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada")
            for _ in range(60):
                server.command("code", "b\u00f6b")
            chains = client.call("chains")[1]["chains"]
            self.assertEqual(chains, [{"node": "", "rows": 67}])
            previous, number = bytes(32), 0
            while True:
                page = client.call("audit", {"node": "", "after": number})[1]["rows"]
                if not page:
                    break
                for row in page:
                    fields = [row["event"].encode(), row["user"].encode(),
                              base64.urlsafe_b64decode(row["key"] + "=" * (-len(row["key"]) % 4)), row["detail"].encode()]
                    message = b"latchkey audit 1\0" + previous + struct.pack(">qq", row["number"], row["time"])
                    previous = hashlib.sha256(message + b"".join(struct.pack(">H", len(f)) + f for f in fields)).digest()
                    self.assertEqual(row["hash"], text(previous))
                    number += 1
            self.assertEqual(number, 67)
            newest = client.call("audit", {"node": "", "before": 0})[1]["rows"]
            self.assertEqual([row["number"] for row in newest], list(range(67, 17, -1)))
            self.assertEqual(newest[0]["name"], "b\u00f6b")
            older = client.call("audit", {"node": "", "before": 18})[1]["rows"]
            self.assertEqual([row["number"] for row in older], list(range(17, 0, -1)))
            self.assertEqual(client.call("audit", {"node": "other", "after": 0})[1], {"rows": []})
            server.command("delete", "b\u00f6b")
            self.assertIsNone(client.call("audit", {"node": "", "before": 67})[1]["rows"][0]["name"])

    def test_a_user_is_shown_with_everything_and_one_of_whom_nothing_is_stored_is_not_there(self):
        with AdministrationServer() as server:
            client, victim = server.signed_in("ada"), server.device("victim")
            status, user = client.call("user", {"user": "victim"})
            self.assertEqual((status, user["administrator"], user["codeExpires"]), (200, False, None))
            self.assertEqual([key["key"] for key in user["keys"]], [text(victim.id)])
            self.assertEqual([event["event"] for event in user["events"]], ["login", "register", "code"])
            self.assertEqual(len(user["sessions"]), 1)
            self.assertEqual(client.call("user", {"user": "unknown-user"})[0], 404)
            server.command("code", "invited")
            self.assertIsNotNone(client.call("user", {"user": "invited"})[1]["codeExpires"])


class HeaderTests(unittest.TestCase):
    def test_every_file_of_the_page_has_a_strict_policy_and_no_inline_script(self):
        with AdministrationServer() as server:
            page = server.send("GET", "/admin")[1].decode()
            # The only style that the policy permits is in the page.
            style, = re.findall(r"(?s)<style>(.*?)</style>", page)
            digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
            self.assertGreater(len(style), 1000)
            page = page.replace(style, "")
            self.assertNotRegex(page, r"(?i)<style[^>]|\sstyle=|stylesheet|\son[a-z]+=|javascript:|https?://")
            self.assertNotRegex(style, r"(?i)@import|url\(|https?:")
            self.assertEqual(re.findall(r"<script[^>]*>[^<]+", page), [])
            paths = ["/admin"] + sorted(set(re.findall(r'(?:src|href)="(/[^"#]*)"', page)))
            # The scripts name the others.
            for path in paths:
                if path.endswith(".js"):
                    imported = re.findall(r'from "\.(/[a-z-]+\.js)"', server.send("GET", path)[1].decode())
                    paths += sorted({"/admin" + name for name in imported} - set(paths))
            self.assertEqual(len(paths), 12)
            for path in paths:
                headers = server.headers("GET", path)
                policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
                self.assertEqual(policy["default-src"], "'none'", path)
                self.assertEqual(policy["script-src"], "'self'")
                self.assertEqual(policy["style-src"], f"'sha256-{digest}'")
                self.assertEqual(policy["frame-ancestors"], "'none'")
                self.assertEqual(policy["require-trusted-types-for"], "'script'")
                self.assertNotIn("unsafe", headers["Content-Security-Policy"])
                for name, value in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                                    ("Cross-Origin-Opener-Policy", "same-origin"), ("Cache-Control", "no-store"),
                                    ("Cross-Origin-Resource-Policy", "same-origin"), ("X-Frame-Options", "DENY")):
                    self.assertEqual(headers.get_all(name), [value], (path, name))
                self.assertIn("camera=()", headers["Permissions-Policy"])
            for path in ("/admin/nothing", "/admin/api/nothing", "/admin/api/session"):
                self.assertEqual(server.headers("GET", path)["Content-Security-Policy"],
                                 "default-src 'none'; frame-ancestors 'none'")
            # The scripts make no markup of texts, and run no text.
            for path in paths:
                if path.endswith(".js"):
                    script = server.send("GET", path)[1].decode()
                    self.assertNotRegex(script, r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function")
                    self.assertNotRegex(script, r"localStorage|sessionStorage|indexedDB")

    def test_the_log_has_no_names_tokens_or_codes(self):
        with AdministrationServer() as server:
            client = server.signed_in("ada-lovelace")
            code = client.proven("enrolment-code", {"user": "grace-hopper"})[1]["code"]
            client.call("users", {"prefix": "grace", "after": ""})
            client.call("user", {"user": "grace-hopper"})
            server.stop()
            written = server.written()
            self.assertIn("/admin/api/enrolment-code", written)
            for secret in (client.cookie, client.device.token, code, "lovelace", "hopper", "grace"):
                self.assertNotIn(secret, written)


class CommandTests(unittest.TestCase):
    def test_the_command_says_what_to_do_next_and_removes(self):
        with AdministrationServer() as server:
            lines = server.command("administrator", "ada").splitlines()
            self.assertRegex(lines[0], "^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$")
            self.assertIn(server.origin + "/admin", lines[1])
            again = json.loads(server.command("administrator", "ada", "--json"))
            self.assertEqual((list(again), again["keys"]), (["code", "keys"], []))
            self.assertNotEqual(again["code"], lines[0])
            # A key that was there before has the role too, and is named.
            key = server.device("ada").id
            self.assertIn("Revoke the ones that are not expected:\n" + text(key), server.command("administrator", "ada"))
            self.assertEqual(server.command("administrator", "ada", "--remove"), "the user is no administrator any more")
            done = subprocess.run([PROGRAM, server.configuration, "administrator", "ada", "--remove"], capture_output=True,
                                  text=True)
            self.assertEqual((done.returncode, done.stderr), (1, "error: the user is no administrator\n"))
            with rows(server) as database:
                events = [row[0] for row in database.execute("SELECT detail FROM audit WHERE event = 'administrator'")]
            self.assertEqual(events, ["added", "removed"])

    def test_wrong_values_of_the_configuration_are_named(self):
        with AdministrationServer() as server:
            text_of = server.configuration.read_text()
            for name, value, words in (("administration", "yes", "administration is not on or off"),
                                       ("origins", "http://example.com", "origins is not a list of origins")):
                server.configuration.write_text(re.sub(f"(?m)^{name} = .*$", f"{name} = {value}", text_of))
                done = subprocess.run([PROGRAM, server.configuration, "audit"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
            self.assertGreater(free_port(), 0)
