# SPDX-License-Identifier: Apache-2.0
"""Files of a store that are put back, exchanged, cut or removed while latchkeyd does not run: docs/store-format.md."""

import json

from clients import DONE, NO_INTERACTION, NOT_FOUND, ROLLED_BACK, SECRET, ClientTest
from services import STORES

FOLDER, KEPT = f"{STORES}/1001", "/run/kept"
# Operation, audit event and statuses.
ACCEPT, ACCEPTED, ANCHOR_OLD, TOO_LARGE = 43, 11, 32, 46

# Runs statements in the database argv[1] and prints the rows of the last one.
STATEMENTS = """
import json, sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    for statement in sys.argv[2:]:
        rows = database.execute(statement).fetchall()
print(json.dumps([[value.hex() if isinstance(value, bytes) else value for value in row] for row in rows]))
"""


class FileTest(ClientTest):
    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()

    def restart(self):
        """Both services, and the same programs."""
        self.first, self.prompts = self.app(), self.agent()

    def shell(self, command):
        return self.machine.run("sh", "-c", command)

    def query(self, *statements, folder=FOLDER):
        """Runs statements in the database as the user of the service, which owns it."""
        done = self.machine.run("python3", "-c", STATEMENTS, f"{folder}/keychain.sqlite", *statements, user="latchkey")
        return json.loads(done.stdout)

    def read(self, account, **options):
        return self.first.do("app.read", account, None, False, **options)


class RollbackTests(FileTest):
    def keep(self):
        """Keeps the files of this moment, and lets the services write more."""
        self.stop_services()
        self.shell(f"rm -rf {KEPT}; cp -a {FOLDER} {KEPT}")
        self.restart()
        self.first.do("app.add", "late", SECRET)
        self.stop_services()

    def put_back(self, *files):
        for file in files:
            self.shell(f"cp -a {KEPT}/{file} {FOLDER}/")
        self.restart()

    def assertRefusedUntilAccepted(self, status):
        self.assertEqual(self.read("free"), status)
        self.assertEqual(self.first.do("app.add", "new", SECRET)[1][0], status)
        # A restart ends nothing, and neither does the passcode alone.
        self.stop_services()
        self.restart()
        self.assertEqual(self.read("presence"), status)
        with self.typing(self.prompts, b"a wrong passcode"):
            self.assertNotEqual(self.first.do("app.call", ACCEPT, {}, 20), DONE)
        self.assertEqual(self.read("free"), status)
        with self.typing(self.prompts):
            self.first.do("app.call", ACCEPT, {}, 20)
        self.assertEqual(self.read("free"), SECRET)
        with self.typing(self.prompts):
            self.assertEqual(self.first.do("app.read", "presence", None, True, None, 20), SECRET)
        self.assertIn(ACCEPTED, [event for _, event, _ in self.first.do("app.log")])

    def test_an_older_database_is_refused_until_it_is_accepted_with_the_passcode_abuse29(self):
        self.keep()
        self.put_back("keychain.sqlite")
        self.assertRefusedUntilAccepted(ROLLED_BACK)
        self.assertEqual(self.read("late"), NOT_FOUND)

    def test_an_older_anchor_is_refused_until_it_is_accepted_with_the_passcode_abuse29(self):
        self.keep()
        self.put_back("anchor")
        self.assertRefusedUntilAccepted(ANCHOR_OLD)
        self.assertEqual(self.read("late"), SECRET)

    def test_a_store_that_was_not_put_back_is_not_refused(self):
        self.keep()
        self.restart()
        self.assertEqual(self.read("late"), SECRET)


class ExchangeTests(FileTest):
    def setUp(self):
        super().setUp()
        self.first.do("app.add", "second", b"another secret")
        self.positions = [row[0] for row in self.query("SELECT position FROM item ORDER BY position")]
        self.assertEqual(len(self.positions), 3)

    def assertAbsent(self, *accounts):
        """Exactly these items are gone, and the store says so."""
        self.restart()
        for account, secret in (("free", SECRET), ("second", b"another secret")):
            self.assertEqual(self.read(account), NOT_FOUND if account in accounts else secret, account)
        # An item that is there would need a prompt.
        self.assertEqual(self.read("presence"), NOT_FOUND if "presence" in accounts else NO_INTERACTION)
        if "presence" not in accounts:
            with self.typing(self.prompts):
                self.assertEqual(self.first.do("app.read", "presence", None, True, None, 20), SECRET)

    def exchange(self, column, one, other):
        """Exchanges a column of two rows, by their positions in the list."""
        one, other = self.positions[one], self.positions[other]
        values = dict(self.query(f"SELECT position, hex({column}) FROM item"))
        self.query(f"UPDATE item SET {column} = x'{values[other]}' WHERE position = {one}",
                   f"UPDATE item SET {column} = x'{values[one]}' WHERE position = {other}", "SELECT 1")

    def test_exchanged_secrets_are_not_returned_abuse33(self):
        self.stop_services()
        self.exchange("secret", 1, 2)
        self.assertAbsent("free", "second")

    def test_exchanged_access_controls_do_not_open_a_protected_item_abuse33(self):
        self.stop_services()
        self.exchange("attributes", 0, 1)
        self.assertAbsent("presence", "free")
        report = self.latchkey("check", check=False)
        self.assertIn("quarantin", report.stdout + report.stderr)

    def test_a_changed_bit_of_a_ciphertext_is_an_absent_item_abuse33(self):
        self.stop_services()
        ((value,),) = self.query(f"SELECT hex(secret) FROM item WHERE position = {self.positions[1]}")
        changed = value[:-2] + f"{int(value[-2:], 16) ^ 1:02X}"
        self.query(f"UPDATE item SET secret = x'{changed}' WHERE position = {self.positions[1]}", "SELECT 1")
        self.assertAbsent("free")

    def test_a_row_of_another_user_is_absent_abuse33(self):
        bob = self.app("bob")
        bob.do("app.add", "of bob", SECRET)
        self.stop_services()
        columns = "id, class, key, grp, i0, i1, i2, version, attributes, secret"
        self.query(f"ATTACH '{STORES}/1002/keychain.sqlite' AS bob",
                   f"INSERT INTO item ({columns}) SELECT {columns} FROM bob.item", "SELECT 1")
        self.restart()
        self.assertEqual(self.read("of bob"), NOT_FOUND)
        self.assertEqual(self.read("free"), SECRET)
        self.assertNotIn("of bob", self.latchkey("list").stdout)
        self.assertNotEqual(self.latchkey("check", check=False).returncode, 0)

    def test_a_store_of_another_tier_is_refused_and_left_as_it_is_abuse33(self):
        self.stop_services()
        ((header,),) = self.query("SELECT hex(value) FROM record WHERE name = 'header'")
        # CBOR of [version 2, tier 2 file, user 1001, ...].
        self.assertEqual(header[2:6], "0202")
        for tier in ("03", "04"):
            self.query(f"UPDATE record SET value = x'{header[:4] + tier + header[6:]}' WHERE name = 'header'", "SELECT 1")
            before = self.shell(f"cat {FOLDER}/root.key {FOLDER}/anchor | sha256sum").stdout
            done = self.latchkey("get", "free", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn(SECRET.decode(), done.stdout)
            self.assertEqual(self.shell(f"cat {FOLDER}/root.key {FOLDER}/anchor | sha256sum").stdout, before)
            self.stop_services()
        self.query(f"UPDATE record SET value = x'{header}' WHERE name = 'header'", "SELECT 1")
        self.assertAbsent()


class CutTests(FileTest):
    def assertRefused(self, command, *files):
        """After a change of files, nothing is served and the files stay as they are."""
        self.stop_services()
        self.shell(f"rm -rf {KEPT}; cp -a {FOLDER} {KEPT}")
        self.shell(f"cd {FOLDER} && {command}")
        def listing():
            return self.shell(f"cd {FOLDER} && stat -c '%n %i %s' {' '.join(files)} 2>/dev/null; cat {' '.join(files)} "
                              "2>/dev/null | sha256sum").stdout
        before = listing()
        for command in (("get", "free"), ("set", "new")):
            done = self.latchkey(*command, input="x", check=False)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertNotEqual(done.stderr, "")
        self.assertEqual(listing(), before)
        self.stop_services()
        self.shell(f"rm -rf {FOLDER} && cp -a {KEPT} {FOLDER}")
        self.restart()
        self.assertEqual(self.read("free"), SECRET)

    def test_a_database_that_is_cut_empty_or_missing_is_refused_and_not_replaced_abuse39(self):
        for command in ("truncate -s 8192 keychain.sqlite", "truncate -s -2048 keychain.sqlite",
                        "truncate -s 0 keychain.sqlite", "rm keychain.sqlite"):
            with self.subTest(command):
                self.assertRefused(command, "keychain.sqlite")

    def test_a_missing_or_cut_key_is_refused_and_not_replaced_abuse39(self):
        for command in ("rm root.key", "truncate -s 20 root.key", "truncate -s 0 root.key"):
            with self.subTest(command):
                self.assertRefused(command, "root.key", "keychain.sqlite")

    def test_a_missing_or_cut_anchor_is_refused_and_not_replaced_abuse39(self):
        for command in ("rm anchor", "truncate -s 10 anchor", "truncate -s 0 anchor"):
            with self.subTest(command):
                self.assertRefused(command, "anchor")


class SecretTests(ClientTest):
    def test_any_secret_is_returned_as_it_was_stored_abuse34(self):
        app = self.app()
        secrets = (b"", b"\0", b"a\0b", b"line\nline\r\n", b"\xff\xfe\xc0\x80", bytes(range(256)) * 4, bytes(1 << 20))
        for number, secret in enumerate(secrets):
            self.assertEqual(app.do("app.add", f"s{number}", secret), DONE)
        self.stop_services()
        app = self.app()
        for number, secret in enumerate(secrets):
            self.assertEqual(app.do("app.read", f"s{number}"), secret)
        self.assertEqual(app.do("app.add", "large", bytes((1 << 20) + 1))[1][0], TOO_LARGE)
        self.assertEqual(app.do("app.read", "large"), NOT_FOUND)


del FileTest
