# SPDX-License-Identifier: Apache-2.0
"""`latchkey admin remove-user`, and a user number that another account has now."""

import json

from clients import DONE, PASSCODE, SECRET, SET_PASSCODE, ClientTest
from services import NOT_FOUND, RECORDS, REFUSED, SERVICES, SOCKETS, STORES, own_log

NUMBER = "1100"


class RemovalTests(ClientTest):
    """The account carol has a passcode, an item that asks for a person, and one that does not."""

    def setUp(self):
        super().setUp()
        self.account("carol")
        self.addCleanup(self.remove_account)
        app, agent = self.app("carol"), self.agent("carol")
        with self.typing(agent, None, PASSCODE):
            self.assertEqual(app.do("app.call", 20, {0: SET_PASSCODE}, 20), DONE)
        for name, constraints in (("presence", 1), ("free", 0)):
            self.assertEqual(app.do("app.add", name, SECRET, constraints), DONE)
        self.clients = app, agent
        self.latchkey("set", "--protect", "none", "token", user="carol", input="of carol")
        self.latchkey("set", "--protect", "none", "token", input="of alice")

    def account(self, name):
        """Gives the number to a new account, in place of the one that has it."""
        if name != "carol":
            self.remove_account()
        self.machine.run("useradd", "--no-create-home", "--uid", NUMBER, "--user-group", name)
        self.name = name

    def remove_account(self):
        """Removes the account while its programs run."""
        self.machine.run("userdel", "--force", self.name)
        self.machine.run("groupdel", self.name, check=False)

    def rename(self, name, new):
        self.machine.run("usermod", "--login", new, name)
        self.machine.run("groupmod", "--new-name", new, name)
        self.name = new

    def stop_everything(self):
        """Runs the command that a refusal prints."""
        command = self.remove().stderr.split("hint: Run: ")[1]
        self.machine.run("sh", "-c", command)

    def start_sockets(self):
        self.machine.run("systemctl", "reset-failed", *SERVICES, *SOCKETS, check=False)
        self.machine.run("systemctl", "start", *SOCKETS)

    def remove(self, user=NUMBER, by=None):
        return self.machine.run("latchkey", "admin", "remove-user", "--yes", user, user=by, check=False)

    def folders(self):
        return [self.machine.run("test", "-d", f"{place}/{NUMBER}", check=False).returncode == 0
                for place in (STORES, RECORDS)]

    def test_a_removal_is_refused_while_a_service_runs(self):
        for running in ("latchkeyd", "latchkey-authd"):
            done = self.remove()
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"error: {running} is running.", done.stderr)
            self.assertEqual(self.folders(), [True, True])
            self.machine.run("systemctl", "stop", running)
        self.assertEqual(self.latchkey("get", "token", user="carol").stdout, "of carol")

    def test_only_root_removes_a_user(self):
        self.stop_everything()
        self.assertFails(self.remove(by="carol"), REFUSED, "Only root can remove the keychain of a user.")
        self.assertEqual(self.folders(), [True, True])
        self.start_sockets()

    def test_a_later_account_with_the_same_number_gets_nothing_until_the_keychain_is_removed(self):
        # The connections of the earlier account remain, and so its store is open.
        self.account("dave")
        for attempt in ("while the store is open", "after a start of both services"):
            with self.subTest(attempt):
                done = self.latchkey("get", "token", user="dave", check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(f"The keychain of user {NUMBER} belongs to the earlier account carol, and the account is "
                              "now dave.", done.stderr)
                self.assertIn(f"latchkey admin remove-user {NUMBER}", done.stderr)
                self.stop_services()
        self.assertEqual(self.folders(), [True, True])

        done = self.remove("dave")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"The keychain of user {NUMBER} was removed.", done.stdout)
        self.assertEqual(self.folders(), [False, False])
        lines = own_log(self.machine, RECORDS).splitlines()
        removed = [line for line in lines if "userRemoved" in line and f"user {NUMBER}" in line]
        self.assertEqual(len(removed), 1, lines[-3:])

        self.assertEqual(json.loads(self.latchkey("list", "--json", user="dave").stdout), [])
        self.assertFails(self.latchkey("get", "token", user="dave", check=False), NOT_FOUND, "There is no item token.")
        self.assertFalse(self.status("dave")["passcode"])
        self.latchkey("set", "--protect", "none", "token", user="dave", input="of dave")
        self.assertEqual(self.latchkey("get", "token", user="dave").stdout, "of dave")
        # The other users keep what they have.
        self.assertEqual(self.latchkey("get", "token").stdout, "of alice")

    def test_an_account_that_was_renamed_has_its_keychain_under_its_earlier_name(self):
        for client in self.clients:
            client.stop()
        self.stop_services()
        self.rename("carol", "caroline")
        done = self.latchkey("get", "token", user="caroline", check=False)
        self.assertIn("belongs to the earlier account carol, and the account is now caroline.", done.stderr)
        self.rename("caroline", "carol")
        self.assertEqual(self.latchkey("get", "token", user="carol").stdout, "of carol")
