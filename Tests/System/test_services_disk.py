# SPDX-License-Identifier: Apache-2.0
"""A disk that is full, read-only or broken, and ends at each write: what was acknowledged remains."""

import pytest

from clients import DISK_FULL, DONE, NOT_FOUND, SECRET, ClientTest
from machine import eventually, fact
from services import KEYCHAIN, STORES, filled
from traces import WithTraces

FOLDER = f"{STORES}/1001"
UPDATE, READ_ONLY, UNREADABLE = 12, 26, 21
CALLS = ("pwrite64", "fdatasync")
ADD, DELETE = 10, 13
NEW = {0: 1, 1: {2: "new", 3: "attack"}, 2: [1, 0], 3: SECRET, 4: 0, 5: {1: False, 2: {0: "", 3: False}}}


class DiskTest(ClientTest):
    def setUp(self):
        super().setUp()
        self.first = self.app()

    def shell(self, command):
        return self.machine.run("sh", "-c", command)

    def update(self, secret, app=None):
        """Replaces the secret of the item "token"; the reply, or None if the service ended."""
        query = {0: 1, 1: {2: "token"}}
        how = {1: False, 2: {0: "", 3: False}}
        return (app or self.first).do("app.call", UPDATE, {0: query, 1: {}, 3: secret, 4: how}, 20)


class SmallDiskTests(DiskTest):
    """The store of alice on a file system of its own."""

    def setUp(self):
        super().setUp()
        self.first.do("app.add", "token", SECRET)
        self.stop_services()
        self.shell(f"mv {FOLDER} /run/moved && mkdir {FOLDER} && "
                   "mount -t tmpfs -o size=600k,mode=700,uid=$(id -u latchkey),gid=$(id -g latchkey) "
                   f"small {FOLDER} && cp -a /run/moved/. {FOLDER}/ && rm -r /run/moved")
        self.addCleanup(self.machine.run, "umount", FOLDER)
        self.addCleanup(self.stop_services)
        self.first = self.app()

    def fill(self):
        self.shell(f"dd if=/dev/zero of={FOLDER}/filling bs=1k 2>/dev/null; true")

    def assertServes(self, secret=SECRET):
        """The store opens and holds what was acknowledged, also after a restart."""
        self.assertEqual(self.first.do("app.read", "token"), secret)
        self.stop_services()
        self.first = self.app()
        self.assertEqual(self.first.do("app.read", "token"), secret)

    @pytest.mark.promise("abuse.36")
    def test_a_full_disk_is_reported_and_the_store_still_opens_abuse36(self):
        self.fill()
        refused = 0
        for number in range(40):
            # Pages that the log of the database has already can still be written.
            reply = self.first.do("app.add", f"filling {number}", bytes(20_000))
            if reply != DONE:
                refused += 1
                self.assertEqual(reply[1][0], DISK_FULL, reply)
        self.assertGreater(refused, 35)
        self.assertServes()
        self.fill()
        self.assertEqual(self.first.do("app.add", "more", bytes(20_000))[1][0], DISK_FULL)
        self.shell(f"rm {FOLDER}/filling")
        self.assertEqual(self.first.do("app.add", "more", bytes(20_000)), DONE)
        self.assertServes()

    def test_a_full_disk_of_one_user_leaves_the_others_alone_abuse36(self):
        self.fill()
        bob = self.app("bob")
        for number in range(5):
            self.assertEqual(bob.do("app.add", f"of bob {number}", bytes(20_000)), DONE)

    def make_read_only(self):
        self.stop_services()
        self.machine.run("mount", "-o", "remount,ro", FOLDER)
        self.first = self.app()

    def test_a_read_only_disk_is_reported_and_the_store_still_opens_abuse36(self):
        self.make_read_only()
        self.assertEqual(self.first.do("app.read", "token"), SECRET)
        self.assertEqual(self.update(b"changed")[1][0], READ_ONLY)

    def test_a_read_only_disk_refuses_each_write_and_loses_nothing_abuse36(self):
        self.make_read_only()
        for reply in (self.first.do("app.add", "more", SECRET), self.update(b"changed")):
            self.assertIn(reply[1][0], (READ_ONLY, UNREADABLE))
        self.stop_services()
        self.machine.run("mount", "-o", "remount,rw", FOLDER)
        self.first = self.app()
        self.assertServes()
        self.assertEqual(self.update(b"changed"), DONE)
        self.assertServes(b"changed")


class ReadOnlyFolderTests(DiskTest):
    """The file system of all stores cannot be written any more, as after an error of the disk."""

    def test_a_store_that_cannot_be_created_says_what_helps_a_service_abuse36(self):
        self.stop_services()
        self.shell(f"mount -t tmpfs -o mode=755,uid=$(id -u latchkey),gid=$(id -g latchkey) small {STORES}")
        self.addCleanup(self.machine.run, "umount", STORES)
        self.addCleanup(self.stop_services)
        self.machine.run("systemctl", "start", KEYCHAIN)
        # Before, systemd prepares the folder, which it could not do any more.
        program = f"/proc/{self.machine.main_pid(KEYCHAIN)}/exe"
        eventually(lambda: self.machine.run("readlink", program).stdout.strip() == "/usr/libexec/latchkeyd")
        self.machine.run("mount", "-o", "remount,ro", STORES)
        status, message, hint = (self.app().do("app.add", "token", SECRET)[1].get(field) for field in range(3))
        message, hint = filled(*message), filled(*hint)
        self.assertEqual(status, READ_ONLY, message)
        self.assertIn(FOLDER, message)
        self.assertEqual(hint, "Ask an administrator to make the folder and its file system writable.")


class TracedTests(WithTraces, DiskTest):
    """The system calls of a service fail, or end it, one after the other."""

    def setUp(self):
        super().setUp()
        self.first.do("app.add", "token", SECRET)

    def updates(self, fault, restart):
        """Updates the item while the first, second, ... call of each kind fails, until none is left.

        Yields the call, the reply, the value before, the new one, and the one that is there after a restart.
        """
        current = self.first.do("app.read", "token")
        for call in CALLS:
            for number in range(1, 40):
                restart()
                self.first = self.app()
                tracer = self.injecting(call, f"{fault}:when={number}")
                new = f"{fault} {call} {number}".encode()
                reply = self.update(new)
                tracer.kill()
                tracer.wait()
                restart()
                self.first = self.app()
                seen = self.first.do("app.read", "token")
                yield f"{call} {number}", reply, current, new, seen
                current = seen
                if reply == DONE:
                    break
            self.assertEqual(reply, DONE, f"no number of {call} was enough")

    @pytest.mark.promise("abuse.35")
    def test_an_item_is_old_or_new_wherever_latchkeyd_is_killed_abuse35(self):
        kills = []
        for call, reply, before, new, seen in self.updates("signal=SIGKILL", self.stop_services):
            self.assertIn(reply, (DONE, None), call)
            self.assertIn(seen, (new,) if reply == DONE else (before, new), call)
            kills += [call] if reply is None else []
        # The header of the log and its pages, and a synchronisation of each.
        self.assertGreater(len(kills), 4, kills)
        fact("an item is updated", f"old or new after each of {len(kills)} kills, one at each call that writes")

    def test_an_item_is_there_or_not_wherever_latchkeyd_is_killed_abuse35(self):
        operations = {"add": lambda: self.first.do("app.call", ADD, NEW, 20),
                      "delete": lambda: self.first.do("app.call", DELETE, {0: 1, 1: {2: "new"}}, 20)}
        for name, inverse, after in (("add", "delete", SECRET), ("delete", "add", NOT_FOUND)):
            kills = 0
            for call in CALLS:
                for number in range(1, 40):
                    self.stop_services()
                    self.first = self.app()
                    before = self.first.do("app.read", "new")
                    if before == after:
                        self.assertEqual(operations[inverse](), DONE)
                        before = self.first.do("app.read", "new")
                    tracer = self.injecting(call, f"signal=SIGKILL:when={number}")
                    reply = operations[name]()
                    tracer.kill()
                    tracer.wait()
                    self.assertIn(reply, (DONE, None), f"{name} {call} {number}")
                    self.stop_services()
                    self.first = self.app()
                    seen = self.first.do("app.read", "new")
                    self.assertIn(seen, (after,) if reply == DONE else (before, after), f"{name} {call} {number}")
                    self.assertEqual(self.first.do("app.read", "token"), SECRET)
                    if reply == DONE:
                        break
                    kills += 1
                self.assertEqual(reply, DONE, f"no number of {call} was enough")
            self.assertGreater(kills, 2)
            fact(f"killed during {name}", f"the item is there or not after each of {kills} kills")

    @pytest.mark.promise("abuse.36")
    def test_an_error_of_a_write_is_reported_and_loses_nothing_abuse36(self):
        for error, status in (("EIO", UNREADABLE), ("ENOSPC", DISK_FULL)):
            failed = []
            for call, reply, before, new, seen in self.updates(f"error={error}", self.stop_services):
                self.assertIn(seen, (new,) if reply == DONE else (before, new), call)
                if reply != DONE:
                    failed.append((call, reply[1][0]))
            # A file system reports a full disk when it writes, not when it synchronises.
            self.assertEqual({seen for call, seen in failed if error == "EIO" or "write" in call}, {status}, failed)
            fact(f"{error} at each write", f"status {status}, nothing lost after {len(failed)} failed calls")


del DiskTest
