# SPDX-License-Identifier: Apache-2.0
"""Files of a store that are put back, cut or removed while neither service runs: docs/reference/store-format.md."""

import pytest

from clients import CURRENT_SET, DONE, NO_INTERACTION, NOT_FOUND, PASSCODE, ROLLED_BACK, SECRET, ClientTest
from machine import eventually
from sensors import WithSensor
from services import KEYCHAIN
from stores import FOLDER, KEPT, FileTest

# Operation, audit event and statuses.
ACCEPT, ACCEPTED, ANCHOR_OLD, TOO_LARGE = 43, 11, 32, 46
# The purpose of the prompt, the index of a content's step, and the step that asks for a word.
ACCEPTING, STEP, WORD = 7, 5, 2
ANY_FINGER = 2


class RollbackTest(FileTest):
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


class RollbackTests(RollbackTest):
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
        # Nor the passcode with another word than the one that the prompt asks for.
        self.first.begin("app.call", ACCEPT, {}, 20)
        self.assertEqual(self.prompts.do("agent.await_prompt")[1], ACCEPTING)
        self.prompts.do("agent.event", [5, PASSCODE])
        while self.prompts.do("agent.follow")[1][STEP] != WORD:
            pass
        self.prompts.do("agent.event", [10, b"yes"])
        self.assertNotEqual(self.first.end(), DONE)
        while self.prompts.do("agent.follow")[0] != 2:
            pass
        self.assertEqual(self.read("free"), status)
        with self.typing(self.prompts):
            self.first.do("app.call", ACCEPT, {}, 20)
        self.assertEqual(self.read("free"), SECRET)
        with self.typing(self.prompts):
            self.assertEqual(self.first.do("app.read", "presence", None, True, None, 20), SECRET)
        self.assertIn(ACCEPTED, [event for _, event, _ in self.first.do("app.log")])

    @pytest.mark.promise("abuse.29")
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


class BoundTests(WithSensor, RollbackTest):
    """With a sensor, items that are bound to the enrolled fingers are dead after a store was put back."""

    def accept_an_older_database(self):
        for account, constraints in (("set", CURRENT_SET), ("any", ANY_FINGER)):
            self.assertEqual(self.first.do("app.add", account, SECRET, constraints), DONE)
        self.keep()
        self.put_back("keychain.sqlite")
        for account in ("set", "any"):
            # If the store is served, the later item tells whether its files are the older ones.
            self.assertEqual(self.read(account), ROLLED_BACK, (self.read("late"), self.machine.journal(KEYCHAIN)))
        with self.typing(self.prompts):
            self.assertEqual(self.first.do("app.call", ACCEPT, {}, 20), DONE)

    def test_an_accepted_store_loses_bound_items_and_nothing_else_abuse29(self):
        self.accept_an_older_database()
        self.stop_services()
        self.restart()
        self.assertNotIn(self.read("set"), (SECRET, NO_INTERACTION))
        self.assertEqual((self.read("any"), self.read("free")), (NO_INTERACTION, SECRET))
        self.first.begin("app.read", "any", None, True, None, 20)
        self.prompts.do("agent.await_prompt")
        self.finger("touch")
        self.assertEqual(self.first.end(), SECRET)

    def test_the_sensor_is_used_again_soon_after_the_store_was_accepted_abuse29(self):
        self.accept_an_older_database()
        # Until then it counts as absent; the services try every ten seconds.
        eventually(lambda: "enrolled" in self.latchkey("status").stdout, 15)


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

    @pytest.mark.promise("abuse.39")
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
    @pytest.mark.promise("abuse.34")
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
