# SPDX-License-Identifier: Apache-2.0
"""A user's own store moves to the system's keychain, and every interruption leaves one of them whole."""

import json

from machine import eventually, fact
from prompts import PASSCODE
from services import AUTHORITY, KEYCHAIN, STORES, ServiceTest
from terminals import Terminal

OWN_PASSCODE = "the own passcode 0815"
FOLDER = "/home/alice/.local/share/latchkey"
# A store that exists is used; LATCHKEY_HOME makes one where there is a system keychain already.
OWN = {"LATCHKEY_HOME": FOLDER, "HOME": "/home/alice"}


class MigrationTests(ServiceTest):
    """A session of alice, who has a store of her own beside the system's keychain."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.remove_own)
        self.remove_stores()
        self.end_own_daemon()
        self.machine.run("rm", "-rf", FOLDER)
        self.session = self.enterContext(self.machine.session("alice"))
        self.own("set", "--protect", "none", "plain", input="a plain secret")
        self.end_own_daemon()

    def remove_own(self):
        self.end_own_daemon()
        self.machine.run("rm", "-rf", FOLDER)

    def own(self, *argv, **options):
        """Runs `latchkey` with alice's own store, whatever the machine has."""
        return self.session.run("env", *(f"{name}={value}" for name, value in OWN.items()), "latchkey", *argv,
                                **options)

    def status_of_session(self):
        return json.loads(self.session.run("latchkey", "status", "--json").stdout)

    def exists(self, name):
        return self.machine.run("test", "-e", f"{FOLDER}/{name}", check=False).returncode == 0

    def new_passcode(self, terminal, passcode):
        self.prove_account(terminal)
        terminal.expect("new passcode")
        terminal.type(passcode + "\r")
        terminal.expect("again")
        terminal.type(passcode + "\r")

    def set_own_passcode(self):
        # In tier `user` the command reads a new passcode itself.
        self.own("passcode", "set", input=f"{OWN_PASSCODE}\n")

    def migrating(self, first=True):
        """A terminal at which the system's keychain asks for its passcode, after it was set the first time."""
        terminal = self.enterContext(Terminal(self.session, "latchkey", "migrate"))
        if first:
            self.new_passcode(terminal, PASSCODE)
        terminal.expect("Type the passcode of the system's keychain")
        return terminal

    def assertMoved(self):
        self.assertEqual(self.status_of_session()["tier"], "file")
        self.assertEqual((self.exists("root.key"), self.exists("root.key.moved")), (False, True))

    def assertOwn(self):
        self.assertEqual(self.status_of_session()["tier"], "user")
        self.assertEqual(self.session.run("latchkey", "get", "plain").stdout, "a plain secret")

    # MARK: - The whole way

    def test_a_store_is_moved_and_its_items_are_read_from_the_systems_keychain(self):
        self.set_own_passcode()
        self.own("set", "token", "--protect", "presence", input="a protected secret")
        self.own("set", "--protect", "none", "bound", "--device-only", input="bound to the device")
        self.end_own_daemon()
        self.assertOwn()
        terminal = self.migrating()
        terminal.type(PASSCODE + "\r")
        terminal.expect("Type the passcode of your own store")
        terminal.type(OWN_PASSCODE + "\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        for words in ("The store was moved", "moved       2", "re-wrapped  1", "/usr/bin/latchkey"):
            self.assertIn(words, terminal.output)
        self.assertMoved()
        eventually(lambda: not self.own_daemons())
        self.assertEqual(self.session.run("latchkey", "get", "plain").stdout, "a plain secret")
        self.assertEqual(self.session.run("latchkey", "get", "bound").stdout, "bound to the device")
        with Terminal(self.session, "latchkey", "get", "token") as reading:
            reading.expect("Type your passcode")
            reading.type(PASSCODE + "\r")
            self.assertEqual(reading.end(), 0, reading.output)
            self.assertTrue(reading.output.rstrip().endswith("a protected secret"), reading.output)
        self.assertEqual(self.session.run("latchkey", "check").returncode, 0)
        fact("a moved store", "3 items, one of them under the passcode")

    def test_a_second_run_changes_nothing(self):
        terminal = self.migrating()
        terminal.type(PASSCODE + "\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        before = self.session.run("latchkey", "list", "--json").stdout
        done = self.session.run("latchkey", "migrate")
        self.assertIn("There is no store to move.", done.stdout)
        self.assertEqual(self.session.run("latchkey", "list", "--json").stdout, before)
        self.assertMoved()

    def test_a_report_changes_nothing(self):
        report = json.loads(self.session.run("latchkey", "migrate", "--dry-run", "--json").stdout)
        self.assertEqual((report["moved"], report["kept"], report["lost"], report["done"]), (1, 0, 0, False))
        self.assertEqual(report["groups"], [{"from": "latchkey", "to": "/usr/bin/latchkey", "items": 1}])
        self.assertOwn()

    def test_status_and_doctor_name_the_other_store(self):
        self.assertIn("move this store there with: latchkey migrate", self.session.run("latchkey", "status").stdout)
        self.assertIn("run: latchkey migrate\n", self.session.run("latchkey", "doctor", check=False).stdout)
        terminal = self.migrating()
        terminal.type(PASSCODE + "\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertIn("delete it with: latchkey migrate --discard", self.session.run("latchkey", "status").stdout)
        self.assertNotIn("run: latchkey migrate", self.session.run("latchkey", "doctor", check=False).stdout)

    def test_what_remains_is_deleted_after_the_move_only(self):
        refused = self.session.run("latchkey", "migrate", "--discard", input="discard\n", check=False)
        self.assertIn("is in use", refused.stderr)
        self.assertOwn()
        terminal = self.migrating()
        terminal.type(PASSCODE + "\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        eventually(lambda: not self.own_daemons())
        self.session.run("latchkey", "migrate", "--discard", input="discard\n")
        self.assertEqual(self.machine.run("test", "-e", FOLDER, check=False).returncode, 1)
        self.assertEqual(self.session.run("latchkey", "get", "plain").stdout, "a plain secret")

    def test_groups_become_those_of_declarations_and_programs(self):
        declaration = "/usr/share/latchkey/apps.d/migrate.conf"
        self.machine.write(declaration, "name = Notes\nprogram = /usr/bin/no-notes\ngroup = team.notes\n")
        self.addCleanup(self.machine.run, "rm", declaration)
        groups = {"Notes": "Notes", "team.notes": "team.notes", "latchkey": "/usr/bin/latchkey", "python3": "user:1001",
                  "unit:ssh.service": "user:1001", "/usr/bin/latchkey": "user:1001", "no-program": "user:1001"}
        for group in groups:
            self.session.run("env", f"LATCHKEY_APP_ID={group}", "latchkey", "set", "--protect", "none", "item",
                             input="secret")
        report = json.loads(self.session.run("latchkey", "migrate", "--dry-run", "--json").stdout)
        self.assertEqual({group["from"]: group["to"] for group in report["groups"]}, groups)
        self.assertEqual(report["moved"], 1 + len(groups))
        # Three groups become one, so two of their items would have the same name.
        terminal = self.migrating()
        terminal.type(PASSCODE + "\r")
        terminal.expect("kept        3", "Type move")
        terminal.type("move\n")
        self.assertEqual(terminal.end(), 0, terminal.output)

    # MARK: - Refusals

    def test_a_wrong_passcode_moves_nothing(self):
        terminal = self.migrating()
        terminal.type("a wrong passcode\r")
        terminal.expect("The passcode is wrong")
        terminal.type("\x1b")
        self.assertNotEqual(terminal.end(), 0, terminal.output)
        self.assertOwn()

    def test_a_store_that_was_chosen_is_not_moved(self):
        done = self.own("migrate", check=False)
        self.assertIn("LATCHKEY_HOME is set", done.stderr)
        self.assertOwn()

    # MARK: - Interruptions

    def complete(self):
        """Moves after an interruption, and returns what the command printed."""
        terminal = self.migrating(first=False)
        terminal.type(PASSCODE + "\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertMoved()
        self.assertEqual(self.session.run("latchkey", "get", "plain").stdout, "a plain secret")
        return terminal.output

    def test_the_command_is_killed_at_the_prompt(self):
        terminal = self.migrating()
        self.machine.run("pkill", "-KILL", "-u", "alice", "-x", "latchkey")
        terminal.end()
        self.assertOwn()
        self.complete()

    def test_a_service_is_killed_at_the_prompt(self):
        for number, unit in enumerate((KEYCHAIN, AUTHORITY)):
            with self.subTest(unit):
                terminal = self.migrating(first=number == 0)
                self.kill_service(unit)
                self.assertNotEqual(terminal.end(), 0, terminal.output)
                self.assertOwn()
        self.complete()

    def test_the_own_daemon_is_killed_at_its_prompt(self):
        self.set_own_passcode()
        self.end_own_daemon()
        terminal = self.migrating()
        terminal.type(PASSCODE + "\r")
        terminal.expect("Type the passcode of your own store")
        self.end_own_daemon()
        self.assertNotEqual(terminal.end(), 0, terminal.output)
        self.assertOwn()

    def stopped_move(self):
        """A terminal whose move waits for latchkeyd of the system, which is stopped."""
        self.set_own_passcode()
        self.end_own_daemon()
        terminal = self.migrating()
        terminal.type(PASSCODE + "\r")
        terminal.expect("Type the passcode of your own store")
        self.machine.run("kill", "-STOP", self.process_of(KEYCHAIN))
        terminal.type(OWN_PASSCODE + "\r")
        # Nothing is reported as long as the service is stopped.
        self.assertNotIn("was moved", terminal.drain(1))
        return terminal

    def test_the_own_daemon_is_killed_while_it_moves(self):
        terminal = self.stopped_move()
        self.end_own_daemon()
        self.assertNotEqual(terminal.end(), 0, terminal.output)
        self.machine.run("kill", "-CONT", self.process_of(KEYCHAIN))
        self.assertOwn()

    def test_the_service_is_killed_while_items_are_moved(self):
        terminal = self.stopped_move()
        self.kill_service(KEYCHAIN)
        self.assertNotEqual(terminal.end(), 0, terminal.output)
        self.assertOwn()

    def test_the_command_is_killed_while_items_are_moved(self):
        terminal = self.stopped_move()
        self.machine.run("pkill", "-KILL", "-u", "alice", "-x", "latchkey")
        terminal.end()
        self.machine.run("kill", "-CONT", self.process_of(KEYCHAIN))
        # The daemons complete the move without the command, or end it; both leave one whole store.
        eventually(lambda: self.exists("root.key.moved") or self.own_daemons(), seconds=10)
        self.assertEqual(self.session.run("latchkey", "get", "plain").stdout, "a plain secret")

    def test_an_end_between_the_commit_and_the_rename_leaves_both_stores_whole(self):
        # A folder in the place of the new name makes the rename fail, which is the last step.
        self.machine.run("mkdir", f"{FOLDER}/root.key.moved")
        terminal = self.migrating()
        terminal.type(PASSCODE + "\r")
        self.assertNotEqual(terminal.end(), 0, terminal.output)
        self.assertIn("The system's keychain has the items", terminal.output)
        self.end_own_daemon()
        self.assertOwn()
        self.session.run("latchkey", "set", "--protect", "none", "later", input="a later secret")
        self.machine.run("rmdir", f"{FOLDER}/root.key.moved")
        output = self.complete()
        self.assertIn("present     1", output)
        self.assertIn("moved       1", output)
        self.assertEqual(self.session.run("latchkey", "get", "later").stdout, "a later secret")

    def test_a_full_disk_of_the_system_moves_nothing(self):
        self.stop_services()
        folder = f"{STORES}/1001"
        self.machine.run("install", "-d", "-o", "latchkey", "-g", "latchkey", "-m", "0700", folder)
        self.machine.run("mount", "-t", "tmpfs", "-o", "size=4m,uid=latchkey,gid=latchkey,mode=0700", "tmpfs", folder)
        try:
            terminal = self.migrating()
            self.machine.run("dd", "if=/dev/zero", f"of={folder}/fill", "bs=64k", check=False)
            terminal.type(PASSCODE + "\r")
            self.assertNotEqual(terminal.end(), 0, terminal.output)
            self.assertOwn()
            self.machine.run("rm", f"{folder}/fill")
            self.complete()
        finally:
            self.stop_services()
            self.machine.run("umount", folder)
