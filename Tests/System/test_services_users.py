# SPDX-License-Identifier: Apache-2.0
"""Several users of one system: what each of them has, and what none of them can do to another one."""

import json
import subprocess

from machine import fact
from services import NOT_FOUND, REFUSED, STORES, ServiceTest

USERS = 20
ITEMS = 10

# Adds items, reads them again, and deletes all but one.
WORK = """
set -e
for n in $(seq $1); do echo "value $2 $n" | latchkey set --protect none "item $n"; done
for n in $(seq $1); do [ "$(latchkey get "item $n")" = "value $2 $n" ]; done
for n in $(seq 2 $1); do latchkey delete "item $n" >/dev/null; done
latchkey get 'item 1'
"""


class UserTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.remove_stores()

    def names(self, user):
        return [item["account"] for item in json.loads(self.latchkey("list", "--json", user=user).stdout)]

    def test_two_users_have_items_of_the_same_name(self):
        for user in ("alice", "bob"):
            self.latchkey("set", "--protect", "none", "token", user=user, input=f"of {user}")
        for user in ("alice", "bob"):
            self.assertEqual(self.latchkey("get", "token", user=user).stdout, f"of {user}")

    def test_a_user_cannot_read_list_or_delete_items_of_another_one(self):
        self.latchkey("set", "--protect", "none", "token", user="bob", input="of bob")
        self.assertFails(self.latchkey("get", "token", check=False), NOT_FOUND, "There is no item token.")
        self.assertFails(self.latchkey("delete", "token", check=False), NOT_FOUND, "There is no item token.")
        self.assertNotIn("token", self.latchkey("list").stdout)
        self.assertFails(self.latchkey("list", "--all", check=False), REFUSED, "only after their owner agreed")
        self.assertEqual(self.latchkey("get", "token", user="bob").stdout, "of bob")

    def test_root_has_a_keychain_of_its_own_as_every_user(self):
        self.latchkey("set", "--protect", "none", "token", input="of alice")
        self.assertFails(self.latchkey("get", "token", user=None, check=False), NOT_FOUND, "There is no item token.")

    def test_each_user_is_told_about_the_own_store(self):
        for user, number in (("alice", 1001), ("bob", 1002)):
            status = self.status(user)
            self.assertEqual((status["store"], status["tier"]), (f"{STORES}/{number}", "file"))

    def test_a_user_cannot_enter_the_folders_of_the_stores(self):
        for folder in (STORES, "/var/lib/latchkey-authd"):
            self.status()
            self.assertIn("Permission denied", self.machine.run("ls", folder, user="alice", check=False).stderr)

    def test_many_users_work_at_the_same_time(self):
        # A store is bound to the name of its account, so a user without one has none.
        accounts = "".join(f"u{user}:x:{user}:{user}::/nonexistent:/bin/sh\n"
                           for user in range(20_000, 20_000 + USERS))
        self.machine.write("/etc/passwd", self.machine.read("/etc/passwd") + accounts)
        running = [
            (user, subprocess.Popen(
                self.machine.command(["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "sh", "-c", WORK,
                                      "sh", ITEMS, user]),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            for user in range(20_000, 20_000 + USERS)]
        for user, process in running:
            with self.subTest(user):
                output, errors = process.communicate(timeout=60)
                self.assertEqual((process.returncode, output, errors), (0, f"value {user} 1\n", ""))
        folders = self.machine.run("ls", STORES).stdout.split()
        self.assertLessEqual({str(user) for user, _ in running}, set(folders))
        fact("users at once", f"{USERS}, each with {ITEMS} items")

    def unmapped(self, *argv):
        """Runs `latchkey` as the user that stands for those without an id in a namespace."""
        return self.machine.run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "latchkey", *argv,
                                check=False)

    def test_the_user_of_those_without_an_id_has_no_keychain(self):
        self.assertNotEqual(self.unmapped("list").returncode, 0)
        self.assertNotIn("65534", self.machine.run("ls", STORES).stdout)

    def test_the_user_of_those_without_an_id_is_told_why(self):
        self.assertFails(self.unmapped("list"), REFUSED, "user id 65534")
