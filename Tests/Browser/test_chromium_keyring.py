# SPDX-License-Identifier: Apache-2.0
"""Chromium of Debian with Latchkey as its keyring: it stores the key of its profile at the first start, and reads it later."""

import contextlib
import http.server
import json
import os
import pathlib
import re
import sqlite3
import threading

from test_keyring import KeyringTest

# What Chromium gives its item, so that it finds it again.
PAIRS = ("xdg:schema", "chrome_libsecret_os_crypt_password_v2", "application", "chromium")
# The beginning of what Chromium encrypts under a key of a keyring; without one it is v10, under a key that everybody knows.
ENCRYPTED = b"v11"
COOKIE = "visit=the value of the cookie"


class Site(http.server.BaseHTTPRequestHandler):
    """A page that sets a cookie."""

    def do_GET(self):
        if self.path != "/favicon.ico":
            self.server.cookies.append(self.headers["Cookie"])
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Set-Cookie", f"{COOKIE}; Max-Age=86400")
        self.end_headers()
        self.wfile.write(b"<p>a page</p>")

    def log_message(self, *_):
        pass


class ChromiumTests(KeyringTest):
    def prepare(self):
        super().prepare()
        self.site = self.enterContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site))
        self.site.cookies = []
        threading.Thread(target=self.site.serve_forever).start()
        self.addCleanup(self.site.shutdown)

    def visit(self):
        """Starts Chromium with the profile of the test, which loads the page and ends."""
        options = ["--headless=new", "--disable-gpu", "--no-first-run", f"--user-data-dir={self.store.file('profile')}"]
        if os.getuid() == 0:
            options.append("--no-sandbox")
        page = self.output("chromium", *options, "--password-store=gnome-libsecret", "--dump-dom",
                           f"http://127.0.0.1:{self.site.server_port}/")
        self.assertIn("a page", page)

    def events(self):
        """What the audit log has of items: the event and the program."""
        lines = map(json.loads, self.latchkey("log", "--json").splitlines())
        return [(line["event"], line["caller"]) for line in lines if line["item"]]

    def items(self):
        """The paths of Chromium's items, as another program finds them: locked, without a label."""
        return re.findall(r"^\[(/.*)\]$", self.output("secret-tool", "search", "--all", *PAIRS), re.MULTILINE)

    def test_it_stores_its_key_at_the_first_start_and_reads_it_at_the_next_one(self):
        self.visit()
        self.assertEqual(self.events(), [("added", "chromium")])
        items = self.items()
        self.assertEqual(len(items), 1)

        self.visit()
        self.assertEqual(self.events(), [("added", "chromium"), ("used", "chromium")])
        self.assertEqual(self.items(), items)
        # The profile has the cookie under this key, and the second start could decrypt it.
        self.assertEqual(self.site.cookies, [None, COOKIE])
        (place,) = pathlib.Path(self.store.file("profile")).glob("**/Cookies")
        with contextlib.closing(sqlite3.connect(place)) as cookies:
            (cookie,) = cookies.execute("SELECT value, substr(encrypted_value, 1, 3) FROM cookies").fetchall()
        self.assertEqual(cookie, ("", ENCRYPTED))

    def test_without_the_key_it_cannot_read_what_it_encrypted(self):
        """The other test would pass if nothing were encrypted under the key."""
        self.visit()
        self.latchkey("sim", "lock")
        self.visit()
        self.assertEqual(self.site.cookies, [None, None])
