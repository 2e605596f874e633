# SPDX-License-Identifier: Apache-2.0
"""Rows that are exchanged, changed or put back while neither service runs: docs/reference/store-format.md."""

import pytest

from clients import DONE, NO_INTERACTION, NOT_FOUND, SECRET, STATUS
from machine import eventually
from services import STORES
from stores import FOLDER, KEPT, FileTest

UPDATE, DELETE, ROWS_CHANGED = 12, 13, 16
HOW = {1: False, 2: {0: "", 3: False}}
COLUMNS = "position, id, class, key, grp, i0, i1, i2, version, attributes, secret"


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

    @pytest.mark.promise("abuse.33")
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

    @pytest.mark.promise("abuse.33")
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
        # CBOR of [version 1, tier 2 file, user 1001, ...].
        self.assertEqual(header[2:6], "0102")
        for tier in ("03", "04"):
            changed = header[:4] + tier + header[6:]
            self.query(f"UPDATE record SET value = x'{changed}' WHERE name = 'header'", "SELECT 1")
            before = self.shell(f"cat {FOLDER}/root.key {FOLDER}/anchor | sha256sum").stdout
            done = self.latchkey("get", "free", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn(SECRET.decode(), done.stdout)
            self.assertEqual(self.shell(f"cat {FOLDER}/root.key {FOLDER}/anchor | sha256sum").stdout, before)
            self.stop_services()
        self.query(f"UPDATE record SET value = x'{header}' WHERE name = 'header'", "SELECT 1")
        self.assertAbsent()


class RowTests(FileTest):
    def put_row_back(self, change):
        """Restores the rows from before a change of the item "free", and returns the identifier of its row."""
        self.stop_services()
        self.shell(f"rm -rf {KEPT}; cp -a {FOLDER} {KEPT}; chmod 755 /run; chown -R latchkey {KEPT}")
        self.restart()
        self.assertEqual(change(), DONE)
        self.stop_services()
        self.query(f"ATTACH '{KEPT}/keychain.sqlite' AS old", "DELETE FROM item",
                   f"INSERT INTO item ({COLUMNS}) SELECT {COLUMNS} FROM old.item", "SELECT 1")
        self.restart()

    def assertReported(self):
        def seen():
            trouble = self.first.do("app.call", STATUS)[1].get(9)
            events = [event for _, event, _ in self.first.do("app.log")]
            return trouble and ROWS_CHANGED in events
        eventually(seen, 10)
        self.assertNotEqual(self.latchkey("check", check=False).returncode, 0)

    def test_an_older_row_of_an_item_is_reported_abuse29(self):
        parameters = {0: {0: 1, 1: {2: "free"}}, 1: {}, 3: b"new", 4: HOW}
        self.put_row_back(lambda: self.first.do("app.call", UPDATE, parameters))
        self.assertReported()

    def test_the_row_of_a_deleted_item_is_reported_abuse29(self):
        self.put_row_back(lambda: self.first.do("app.call", DELETE, {0: 1, 1: {2: "free"}}))
        self.assertReported()
