# SPDX-License-Identifier: Apache-2.0
"""The page of the administration with a server that is down, slow or busy, and a browser whose clock is wrong."""
import contextlib
import sqlite3
import unittest

from page import Page
from page_relay import Relay

from administration import AdministrationServer, PageClient
from server import text

SILENT = "The server does not answer."
# The page waits for 20 seconds; the tests do not.
IMPATIENT = "const timeout = AbortSignal.timeout; AbortSignal.timeout = time => timeout.call(AbortSignal, time / 10);"
CLOCK = """
    const right = Date;
    globalThis.Date = class extends right {
        constructor(...parts) { super(...parts.length === 0 ? [right.now() + OFFSET] : parts); }
        static now() { return right.now() + OFFSET; }
    };"""

# Waits for new rows of the audit log (5 s) and after too many requests (7 s, as the relay says) are short, and are counted.
FAST = """
    const later = globalThis.setTimeout;
    globalThis.waits = { 5000: 0, 7000: 0 };
    globalThis.setTimeout = (work, time, ...rest) => time in waits
        ? later(() => { waits[time] += 1; work(); }, 50) : later(work, time, ...rest);"""
FOLLOWING, BUSY = 5000, 7000


class ServerTests(unittest.TestCase):
    def failing(self, page, words):
        """Asks for a list that cannot be loaded, and returns when the page has said why."""
        page.run("location.hash = '#/keys'")
        page.wait("#problem", words)
        page.wait(".empty", "The list could not be loaded.")
        self.assertIsNotNone(page.find("#account", "Signed in as ada"), "the session is not over")
        page.view("audit", "Audit log")

    def test_a_server_that_is_slow_busy_or_without_database_is_explained_and_the_page_goes_on(self):
        with Relay() as relay, Page(relay.server) as page:
            page.protocol("Page.addScriptToEvaluateOnNewDocument", source=IMPATIENT)
            page.sign_in(relay.server.administrator("ada"))
            page.view("audit", "Audit log")
            for fault, words in (("drop", SILENT), ("hold", SILENT), (503, "The server cannot use its database now."),
                                 (429, "There were too many requests. Try again in 7 s."), (400, "did not understand"),
                                 (500, "The server replied with status 500.")):
                relay.faults = {"/admin/api/keys": fault}
                self.failing(page, words)
            relay.faults = {}
            page.view("keys", "Devices and keys")
            page.wait("tbody", "ada")
            self.assertIsNone(page.find("#problem"))

    def test_a_database_that_another_program_holds_is_explained(self):
        with AdministrationServer() as server, Page(server) as page:
            page.sign_in(server.administrator("ada"))
            # The session was not used for so long that its use is written down.
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database:
                with database:
                    database.execute("UPDATE sessions SET used = used - 400")
                database.execute("BEGIN EXCLUSIVE")
                page.run("location.hash = '#/keys'")
                page.wait("#problem", "The server cannot use its database now.")
            page.view("sessions", "Sessions")
            page.wait("tbody", "ada")

    def test_too_many_refused_codes_of_the_same_client_say_how_long_to_wait_and_end_no_session(self):
        with Relay() as relay, Page(relay.server) as page:
            page.sign_in(relay.server.administrator("ada"))
            stranger, address = PageClient(relay.server), {"X-Forwarded-For": "192.0.2.7"}

            def refused():
                # One more is counted after two seconds.
                while stranger.call("sign-in", {"code": text(bytes(32))}, address)[0] != 429:
                    pass
                page.open("#code=" + text(bytes(32)))
                return page.wait("#problem") and page.find("#problem", "There were too many requests. Try again in")
            page.until(refused, "the words")
            page.open()
            page.wait("#account", "Signed in as ada")
            page.view("keys", "Devices and keys")
            page.wait("tbody", "ada")
            self.assertIsNone(page.find("#problem"))

    def test_a_server_that_is_down_is_explained_at_the_sign_in_and_within_a_session(self):
        with AdministrationServer() as server, Page(server) as page:
            page.authenticator()
            page.open()
            page.wait("h1", "Sign in")
            page.sign_in(server.administrator("ada"))
            with Page(server) as stranger:
                stranger.authenticator()
                stranger.open()
                stranger.wait("h1", "Sign in")
                server.stop()
                stranger.click("button", "Sign in with a passkey")
                stranger.wait("#problem", SILENT)
                self.assertIsNone(stranger.find("button:disabled"))
            page.click("nav a", "Sessions")
            page.wait("#problem", SILENT)
            page.click("button", "Sign out")
            page.wait("#problem", SILENT)
            # Nothing says that the session is over, because the page cannot know it.
            self.assertIsNotNone(page.find("#account", "Signed in as ada"))

    def test_a_code_leaves_the_address_whatever_the_server_replies(self):
        with Relay() as relay, Page(relay.server) as page:
            page.protocol("Page.addScriptToEvaluateOnNewDocument", source=IMPATIENT)
            device = relay.server.administrator("ada")
            for fault, heading in ((503, "Sign in as ada?"), (429, "Sign in as ada?"), (500, "Sign in as ada?"), ("drop", "Sign in"),
                                   ("hold", "Sign in")):
                relay.faults = {"/admin/api/session": fault}
                # Leaves the page, because another fragment alone loads nothing.
                page.go("about:blank")
                page.open("#code=" + relay.server.browser_code(device))
                if fault == "hold":
                    self.assertTrue(relay.held.wait(20))
                    self.assertIsNone(page.find("h1"), "the reply is still awaited")
                page.until(lambda: page.url() == relay.server.origin + "/admin", f"the address without a code, {fault}")
                page.wait("h1", heading)
                self.assertNotIn("code=", page.run("return location.href"))
                if heading == "Sign in":
                    page.wait("#problem", SILENT)
            relay.faults = {}


    def test_a_tab_whose_user_changes_shows_nothing_of_the_user_before_although_the_server_fails(self):
        with Relay() as relay, Page(relay.server) as page:
            bob = relay.server.administrator("bob")
            page.sign_in(relay.server.administrator("ada"))
            page.click("button", "Sign out everywhere…")
            page.wait("dialog h2", "Sign out everywhere?")
            first, second = page.tabs()
            second()
            page.open("#code=" + relay.server.browser_code(bob))
            page.wait("h1", "Sign in as bob?")
            relay.faults = {"/admin/api/session": 503}
            page.click("main button", "Sign in")
            for show in (second, first):
                show()
                page.wait("#problem", "The server cannot use its database now.")
                page.wait("h1", "Sign in")
                for selector in ("#account", "#navigation", "dialog"):
                    self.assertIsNone(page.find(selector), selector)
                self.assertNotIn("ada", page.text())


class FollowingTests(unittest.TestCase):
    """The audit log, whose new rows the page asks for by itself."""

    def follow(self, relay, page):
        page.protocol("Page.addScriptToEvaluateOnNewDocument", source=FAST)
        page.sign_in(relay.server.administrator("ada"))
        page.view("audit", "Audit log")
        page.wait(".notice.good", "The chain is unbroken")

    def wait_for(self, page, count, time):
        """Lets the page wait some more times."""
        wanted = page.run("return waits[arguments[0]]", time) + count
        page.until(lambda: page.run("return waits[arguments[0]]", time) >= wanted, f"{count} waits of {time} ms")

    def test_a_hidden_page_asks_for_nothing(self):
        with Relay() as relay, Page(relay.server) as page:
            self.follow(relay, page)
            page.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
            # The last request began before the page was hidden.
            self.wait_for(page, 2, FOLLOWING)
            relay.server.command("code", "new-user")
            before = len(relay.paths)
            self.wait_for(page, 4, FOLLOWING)
            self.assertEqual(relay.paths[before:], [])
            page.run("delete document.hidden")
            page.wait("tbody", "new-user")

    def test_a_busy_server_is_asked_for_no_rows_after_another_view_is_shown(self):
        with Relay() as relay, Page(relay.server) as page:
            self.follow(relay, page)
            relay.faults = {"/admin/api/audit": 429}
            relay.server.command("code", "new-user")
            self.wait_for(page, 2, BUSY)
            page.view("keys", "Devices and keys")
            # The wait that had begun, and the request before it.
            wait = "const done = arguments[0]; setTimeout(done, 7000)"
            for _ in range(3):
                page.run_async(wait)
            before = len(relay.paths)
            for _ in range(3):
                page.run_async(wait)
            self.assertEqual(relay.paths[before:], [])


class ClockTests(unittest.TestCase):
    def test_a_session_ends_by_the_time_of_the_server(self):
        for hours in (9, -9):
            with AdministrationServer(session_seconds=16) as server, Page(server) as page:
                page.protocol("Page.addScriptToEvaluateOnNewDocument", source=CLOCK.replace("OFFSET", str(hours * 3600_000)))
                page.sign_in(server.administrator("ada"))
                # Signed in, although the clock of the browser says that the session ended hours ago.
                self.assertIsNotNone(page.find("#account", "Signed in as ada"))
                page.wait("#idle", "Your session ends soon, because it was opened hours ago.")
                page.wait("#status", "Your session has ended")
                page.wait("h1", "Sign in")
                self.assertNotIn("ada", page.text())

    def test_a_session_ends_when_it_is_idle_although_no_reply_has_the_time(self):
        with Relay(session_idle_seconds=8) as relay, Page(relay.server) as page:
            relay.dropped = {"date"}
            page.sign_in(relay.server.administrator("ada"))
            page.wait("#idle", "You will be signed out soon, because you did nothing for a while.")
            self.assertIsNotNone(page.find("#account", "Signed in as ada"))
            page.wait("#status", "Your session has ended")
