# SPDX-License-Identifier: Apache-2.0
"""Attacks on a move to the system's keychain: by hostile clients of both daemons, and by ends at any time. Written from
docs/use/moving.md and docs/reference/protocol.md."""

import json
import os
import random
import subprocess
import time

from clients import DONE, FOLDER as CLIENT, LOCK, PASSCODE, SET_PASSCODE, ClientTest
from machine import eventually, fact
from prompts import SEARCH
from services import AUTHORITY, CONFIGURATION, KEYCHAIN, SERVICES, SOCKETS
from terminals import Terminal

# Operations, statuses and reasons of docs/reference/protocol.md.
LIST, BEGIN, RECEIVE, MAP, MOVE = 14, 60, 61, 62, 63
LIMIT, NOT_PERMITTED, VOID = 3, 7, 79
IRREPLACEABLE = 15
WOULD_KEEP = 44
APPLICATION_PASSWORD = 1 << 31
MARKER = b"the marker 9931"
HOME = "/home/alice"
OWN = f"{HOME}/.local/share/latchkey"

# A program that writes to the daemon at argv[1] until that refuses, and prints how many writes were acknowledged.
WRITER = f"""
import sys
sys.path.insert(0, "{CLIENT}")
from attack_client import *
app, count = App("latchkey", None, sys.argv[1]), 0
while (reply := app.add(f"w{{count}}", b"written")) is not None and reply[0] != 0:
    count += 1
print(count)
"""
# Adds an item to each of argv[2] access groups of the daemon at argv[1].
GROUPS = f"""
import sys
sys.path.insert(0, "{CLIENT}")
from attack_client import *
names = [f"g{{number}}" for number in range(int(sys.argv[2]))]
for first in range(0, len(names), 32):
    app = App("latchkey", {{0: "latchkey", 2: names[first:first + 32]}}, sys.argv[1])
    for name in names[first:first + 32]:
        app.add("item", b"s", group=name)
    app.close()
"""


def item(account, secret=b"s", group="latchkey", constraints=0, **dates):
    values = {1: group, 2: account, 3: "attack", **{{"created": 5, "modified": 6}[name]: dates[name] for name in dates}}
    return {0: 1, 1: {key: value for key, value in values.items() if value is not None}, 2: [1, constraints], 3: secret}


class ReceivingTests(ClientTest):
    """A hostile program of alice that speaks to the system's keychain in place of the daemon of an own store."""

    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()
        self.second = self.app()

    def ticket(self, app=None):
        app = app or self.first
        with self.typing(self.prompts):
            reply = app.do("app.call", BEGIN, {}, 20)
        self.assertEqual(reply[0], 40, reply)
        return reply[1]

    def send(self, ticket, *items, last=True, app=None, asks=False):
        """The number of the failure, or the reply."""
        fields = {0: ticket, 1: list(items), 2: last, **({3: True} if asks else {})}
        kind, contents = (app or self.second).do("app.call", RECEIVE, fields, 30)
        return contents[0] if kind == 0 else [kind, contents]

    def names(self, app=None):
        kind, found = (app or self.first).do("app.call", LIST, {0: 1, 1: {}})
        self.assertEqual(kind, 5)
        return {each[1][2] for each in found} - {"presence", "free"}

    def assertAdds(self, ticket):
        self.assertEqual(self.send(ticket, item("valid", group="user:1001"))[0], 41)
        self.assertEqual(self.names(), {"valid"})

    def test_a_ticket_is_neither_guessed_nor_used_by_another_user_nor_used_twice(self):
        ticket = self.ticket()
        for _ in range(50):
            self.assertEqual(self.send(os.urandom(16), item("never")), VOID)
        bob = self.app(user="bob")
        self.assertEqual(self.send(ticket, item("never"), app=bob), VOID)
        self.assertEqual(self.send(ticket, item("never"), last=False, app=bob), VOID)
        self.assertEqual(self.first.do("app.call", MOVE, {0: ticket})[1][0], NOT_PERMITTED)
        # None of this has used it up.
        self.assertAdds(ticket)
        self.assertEqual(self.send(ticket, item("never", group="user:1001")), VOID)
        self.assertEqual((self.names(), self.names(bob)), ({"valid"}, set()))
        ticket, clients = self.ticket(), [self.second, self.app()]
        for number, client in enumerate(clients):
            client.begin("app.call", RECEIVE, {0: ticket, 1: [item(f"n{number}", group="user:1001")], 2: True}, 20)
        self.assertEqual(sorted(client.end()[0] for client in clients), [0, 41])
        self.assertEqual(len(self.names()), 2)

    def test_a_ticket_that_asked_first_is_valid_until_it_has_added_items_or_ended(self):
        twice = [item("twice", b"1", "no-program"), item("twice", b"2", "other-program")]
        asker = self.app()
        ticket = self.ticket(asker)
        for _ in range(3):
            self.assertEqual(self.send(ticket, *twice, asks=True)[0], WOULD_KEEP)
        bob = self.app(user="bob")
        self.assertEqual(self.send(ticket, *twice, asks=True, app=bob), VOID)
        self.assertEqual(self.names(), set())
        asker.do("app.close")
        eventually(lambda: self.send(ticket, *twice, asks=True) == VOID)
        ticket = self.ticket()
        self.assertEqual(self.send(ticket, *twice, asks=True)[0], WOULD_KEEP)
        self.assertEqual(self.send(ticket, *twice)[0], 41)
        self.assertEqual(self.send(ticket, *twice), VOID)
        self.assertEqual(self.names(), {"twice"})

    def test_a_ticket_that_is_void_adds_nothing(self):
        voids = {
            "a lock": lambda: self.first.do("app.call", LOCK),
            "the end of its connection": lambda: self.asker.do("app.close"),
            "an end of latchkey-authd": lambda: self.kill_service(AUTHORITY),
        }
        for name, end in voids.items():
            with self.subTest(name):
                self.asker = self.app()
                ticket = self.ticket(self.asker)
                end()
                eventually(lambda: self.send(ticket, item("never", group="user:1001")) == VOID)
                if name == "a lock":
                    with self.typing(self.prompts):
                        self.first.do("app.call", 24, {0: "", 3: True}, 20)
                    self.assertEqual(self.send(ticket, item("never", group="user:1001")), VOID)
        self.assertEqual(self.names(), set())

    def test_a_move_that_does_not_reach_its_last_page_adds_nothing(self):
        page = item("never", group="user:1001")
        ticket = self.ticket()
        self.assertEqual(self.send(ticket, page, last=False), DONE)
        self.first.do("app.call", LOCK)
        self.assertEqual(self.send(ticket, page), VOID)
        with self.typing(self.prompts):
            self.first.do("app.call", 24, {0: "", 3: True}, 20)
        ticket = self.ticket()
        self.assertEqual(self.send(ticket, page, last=False), DONE)
        self.second.do("app.close")
        self.second = self.app()
        self.assertEqual(self.send(ticket, page), VOID)
        ticket = self.ticket()
        self.assertEqual(self.send(ticket, page, last=False), DONE)
        self.send(ticket, item("bad", group=None), last=False)
        self.assertNotIn(41, [self.send(ticket)])
        self.assertEqual(self.names(), set())

    def test_a_move_that_has_begun_goes_on_without_the_connection_that_asked_for_its_ticket(self):
        asker = self.app()
        ticket = self.ticket(asker)
        self.assertEqual(self.send(ticket, item("early", group="user:1001"), last=False), DONE)
        asker.do("app.close")
        self.send(ticket, item("late", group="user:1001"))
        self.assertEqual(self.names(), {"early", "late"})

    def test_tickets_of_one_user_do_not_use_up_those_of_another(self):
        askers = [self.app() for _ in range(4)]
        for asker in askers:
            self.ticket(asker)
        kind, contents = self.second.do("app.call", BEGIN, {}, 20)
        self.assertEqual((kind, contents[0]), (0, LIMIT))
        bob, agent = self.app(user="bob"), self.agent(user="bob")
        with self.typing(agent, None, PASSCODE):
            self.assertEqual(bob.do("app.call", 20, {0: SET_PASSCODE}, 20), DONE)
        with self.typing(agent):
            self.assertEqual(bob.do("app.call", BEGIN, {}, 20)[0], 40)

    def test_too_many_groups_add_nothing_and_other_users_are_served_during_a_large_move(self):
        bob = self.app(user="bob")
        bob.do("app.add", "his", b"bob's")
        ticket = self.ticket()
        for begin in (0, 200):
            page = [item("x", group=f"g{begin + number}") for number in range(200)]
            reply = self.send(ticket, *page, last=begin > 0)
        self.assertEqual(reply, LIMIT)
        self.assertEqual(self.names(), set())
        ticket = self.ticket()
        for begin in range(0, 16_384, 256):
            page = [item(f"m{number}") for number in range(begin, begin + 256)]
            self.assertEqual(self.send(ticket, *page, last=False), DONE)
        begin = time.monotonic()
        self.second.begin("app.call", RECEIVE, {0: ticket, 1: [], 2: True}, 30)
        self.assertEqual(bob.do("app.read", "his"), b"bob's")
        waited = time.monotonic() - begin
        self.assertEqual(self.second.end()[1][0], 16_384)
        total = time.monotonic() - begin
        self.assertLess(waited, total / 2)
        fact("a move of 16384 items", f"added in {total:.2f} s; another user waited {waited:.2f} s")

    def test_no_name_becomes_a_group_of_others_no_date_is_refused_and_no_guarded_item_is_replaced(self):
        names = ["/usr/bin/latchkey", "unit:ssh.service", "user:0", "user:1002", "com.apple.token", ".", "..",
                 "../bin/latchkey", "bin/latchkey", "python3", "bash", "sh", "env", "su", "perl", "x" * 255, "none"]
        self.assertEqual(self.first.do("app.call", MAP, {0: names}), [42, ["user:1001"] * len(names)])
        self.assertEqual(self.first.do("app.call", MAP, {0: ["latchkey"]}), [42, ["/usr/bin/latchkey"]])
        self.send(self.ticket(), *(item(f"n{number}", group=name) for number, name in enumerate(names)))
        self.assertEqual(len(self.names()), len(names))
        # Dates of any value are stored, and those in the future count as now.
        dates = [-2**63, -1, 0, 2**62, 2**63 - 1]
        items = [item(f"d{number}", group="none", created=date, modified=date) for number, date in enumerate(dates)]
        self.assertEqual(self.send(self.ticket(), *items)[1][0], len(dates))
        found = self.first.do("app.call", LIST, {0: 1, 1: {}})[1]
        stored = {each[1][2]: each[1][6] for each in found}
        self.assertEqual([stored[f"d{number}"] for number in range(3)], dates[:3])
        for name in ("d3", "d4"):
            self.assertLess(abs(stored[name] / 1e6 - time.time()), 60)
        # An item that could not have been moved is never replaced.
        report = self.unreplaceable()
        self.assertEqual((report[0], report[4][0]), (0, 1))
        found = self.first.do("app.call", LIST, {0: 1, 1: {2: "guarded"}})[1]
        self.assertEqual([each[2] for each in found], [[1, APPLICATION_PASSWORD]])

    def unreplaceable(self):
        """The report on a newer item of the same name as one that has an application password."""
        how = {1: False, 2: {0: "", 3: True}, 3: b"password"}
        parameters = {0: 1, 1: {2: "guarded", 3: "attack"}, 2: [1, APPLICATION_PASSWORD], 3: b"kept", 4: 0, 5: how}
        self.assertEqual(self.first.do("app.call", 10, parameters), DONE)
        return self.send(self.ticket(), item("guarded", b"evil", "no-program", modified=int(time.time() * 1e6)))[1]

    def test_the_report_says_why_such_an_item_remains(self):
        # The one there is older, so "a newer one" would be false.
        self.assertEqual(self.unreplaceable()[4][1][0][5], IRREPLACEABLE)


class OwnStoreTests(ClientTest):
    """A session of alice with a store of her own, to whose daemon hostile programs of hers connect."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.session = cls.enterClassContext(cls._shared.session("alice"))

    def setUp(self):
        super().setUp()
        self.clear()
        self.addCleanup(self.clear)
        self.session.run("env", f"LATCHKEY_HOME={OWN}", "latchkey", "set", "--protect", "none", "plain",
                         input="a plain secret")
        self.end_own_daemon()
        self.new = True

    def clear(self):
        self.end_own_daemon()
        self.machine.run("rm", "-rf", OWN)

    def socket(self):
        """The socket of the daemon of the own store."""
        self.session.run("latchkey", "status")
        return self.machine.read(f"{OWN}/daemon.lock").splitlines()[1]

    def own_app(self, name="latchkey"):
        client = self.client()
        client.do("App", name, None, self.socket(), kept="app")
        return client

    def migrating(self, *words, secret=PASSCODE.decode()):
        """A terminal at which the system's keychain asks for its passcode, after it was set the first time."""
        terminal = self.enterContext(Terminal(self.session, "latchkey", "migrate"))
        for word in words:
            terminal.expect("Type move")
            terminal.type(word + "\n")
        if self.new:
            self.prove_account(terminal)
            terminal.expect("new passcode")
            terminal.type(secret + "\r")
            terminal.expect("again")
            terminal.type(secret + "\r")
            self.new = False
        terminal.expect("Type the passcode of the system's keychain")
        return terminal

    def complete(self, terminal):
        terminal.type(PASSCODE.decode() + "\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        return terminal.output

    def tier(self):
        return json.loads(self.session.run("latchkey", "status", "--json").stdout)["tier"]

    def listed(self):
        return {each["name"] for each in json.loads(self.session.run("latchkey", "list", "--json").stdout)}

    def exists(self, name):
        return self.machine.run("test", "-e", f"{OWN}/{name}", check=False).returncode == 0

    def back(self):
        """Uses the own store again."""
        eventually(lambda: not self.own_daemons())
        self.machine.run("mv", f"{OWN}/root.key.moved", f"{OWN}/root.key")

    # MARK: - Nothing is lost

    def test_no_acknowledged_write_is_lost_while_the_store_moves(self):
        writer = self.machine.start("nice", "python3", "-c", WRITER, self.socket(), user="alice",
                                    stdout=subprocess.PIPE, text=True)
        eventually(lambda: "w0" in self.listed())
        self.complete(self.migrating())
        count = int(writer.communicate(timeout=20)[0])
        self.assertGreater(count, 10)
        self.assertEqual({f"w{number}" for number in range(count)} - self.listed(), set())
        fact("writes during a move", f"{count} acknowledged, none lost")

    def test_items_have_every_attribute_after_a_move_whose_command_had_no_secret(self):
        every = {2: "acc", 3: "svc", 4: True, 7: "d", 8: "c", 9: 1234, 10: 5, 11: "l", 12: True, 14: b"\0g"}
        items = [(1, every, [1, 0], MARKER), (1, {2: "empty"}, [2, 0], b""), (1, {2: "none"}, [3, 0], None),
                 (1, {2: "here"}, [6, 0], b"\0\xff"),
                 (2, {2: "net", 15: "host", 16: "dom", 17: "http", 18: "dflt", 19: 443, 20: "/p"}, [1, 0], b"n"),
                 (4, {11: "cert", 37: 3, 38: 3, 39: b"s", 40: b"i", 41: b"\1", 42: b"k", 43: b"h"}, [1, 0], b"0\x82")]
        app = self.own_app("no-program")
        for number, attributes, rule, secret in items:
            parameters = {0: number, 1: attributes, 2: rule, 3: secret, 4: 0, 5: {1: False, 2: {0: "", 3: False}}}
            if secret is None:
                del parameters[3]
            self.assertEqual(app.do("app.call", 10, parameters), DONE)
        before = self.everything(app)
        self.assertEqual(len(before), len(items))
        terminal = self.migrating()
        self.machine.run("kill", "-STOP", self.own_daemons()[-1])
        terminal.type(PASSCODE.decode() + "\r")
        terminal.expect("prompt is over")
        pid = self.machine.run("pgrep", "-u", "alice", "-x", "latchkey").stdout.split()[-1]
        for text in (MARKER, PASSCODE):
            found, searched = self.machine.run("python3", "-c", SEARCH, pid, input=text).stdout.split()
            self.assertEqual((int(found), int(searched) > 1 << 20), (0, True))
        self.machine.run("kill", "-CONT", self.own_daemons()[-1])
        self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertEqual(self.everything(self.app()), before)

    def everything(self, app):
        found = []
        for number in (1, 2, 4):
            query = {0: {0: number, 1: {}, 3: True}, 1: 0, 2: 3, 3: {1: False, 2: {0: "", 3: False}}}
            for each in app.do("app.call", 11, query)[1]:
                values = {key: value for key, value in each[1].items() if key != 1}
                found.append(repr((each[0], values, each[2], each.get(3))))
        return sorted(found)

    def test_a_process_that_is_killed_at_any_time_leaves_one_whole_store(self):
        chance, names, moved = random.Random(4711), {"plain"}, 0
        terminal = self.migrating()
        terminal.type("\x1b")
        terminal.end()
        for number in range(3):
            self.session.run("latchkey", "set", "--protect", "none", f"i{number}", input="i")
            names.add(f"i{number}")
            terminal = self.migrating()
            pids = {"command": self.machine.run("pgrep", "-u", "alice", "-x", "latchkey").stdout.split()[-1],
                    "own": self.own_daemons()[-1], KEYCHAIN: self.process_of(KEYCHAIN),
                    AUTHORITY: self.process_of(AUTHORITY)}
            victim, delay = list(pids)[number + 1], chance.uniform(0.15, 0.4)
            killing = self.machine.start("sh", "-c", f"sleep {delay}; kill -KILL {pids[victim]}",
                                         stderr=subprocess.DEVNULL)
            terminal.type(PASSCODE.decode() + "\r")
            terminal.end()
            killing.wait()
            self.machine.run("systemctl", "reset-failed", *SERVICES, check=False)
            with self.subTest(victim=victim, delay=delay):
                eventually(lambda: self.session.run("latchkey", "status", check=False).returncode == 0, 10)
                tier = self.tier()
                self.assertEqual(names - self.listed(), set())
                files = self.exists("root.key"), self.exists("root.key.moved")
                self.assertEqual(files, (True, False) if tier == "user" else (False, True))
            if tier == "file":
                moved += 1
                self.back()
        fact("a process killed during a move", f"3 times, {moved} moves complete, each time one whole store")

    def test_a_full_own_store_stays_in_use(self):
        self.machine.run("sh", "-c", f"cp -a {OWN} {HOME}/keep && "
                         f"mount -t tmpfs -o size=1m,uid=alice,gid=alice,mode=0700 tmpfs {OWN} && "
                         f"cp -a {HOME}/keep/. {OWN}/ && rm -rf {HOME}/keep")
        try:
            terminal = self.migrating()
            self.machine.run("dd", "if=/dev/zero", f"of={OWN}/fill", "bs=1k", check=False)
            terminal.type(PASSCODE.decode() + "\r")
            self.assertNotEqual(terminal.end(), 0)
            self.assertIn("no space left", terminal.output)
            self.assertEqual((self.tier(), self.session.run("latchkey", "get", "plain").stdout),
                             ("user", "a plain secret"))
            self.machine.run("rm", f"{OWN}/fill")
            self.assertIn("present     1", self.complete(self.migrating()))
            self.assertEqual(self.tier(), "file")
        finally:
            self.end_own_daemon()
            self.machine.run("umount", OWN)

    def without_system(self):
        """A machine whose system keychain was removed, while the block runs."""
        test = self

        class Without:
            def __enter__(self):
                test.machine.run("systemctl", "stop", *SOCKETS, *SERVICES)
                test.machine.run("mv", CONFIGURATION, "/run/configuration")
                test.machine.run("mv", "/run/latchkey", "/run/aside")

            def __exit__(self, *_):
                test.end_own_daemon()
                test.machine.run("mv", "/run/configuration", CONFIGURATION)
                test.machine.run("mv", "/run/aside", "/run/latchkey")
                test.machine.run("systemctl", "start", *SOCKETS)
        return Without()

    def test_doctor_names_the_moved_key_when_the_system_has_no_keychain_any_more(self):
        self.complete(self.migrating())
        eventually(lambda: not self.own_daemons())
        with self.without_system():
            self.assertIn("root.key.moved", self.session.run("latchkey", "doctor", check=False).stdout)

    # MARK: - Reports

    def test_a_move_that_would_keep_an_older_item_or_a_second_one_of_a_name_asks_first(self):
        self.machine.run("mv", OWN, f"{HOME}/aside")
        self.session.run("latchkey", "set", "--protect", "none", "plain", input="newer")
        self.machine.run("mv", f"{HOME}/aside", OWN)
        for group in ("no-program", "other-program"):
            self.session.run("env", f"LATCHKEY_APP_ID={group}", "latchkey", "set", "--protect", "none", "item",
                             input=group)
        # What the system's keychain would keep is said after its passcode, and before anything is added.
        for word, code in (("no", 64), ("move", 0)):
            terminal = self.migrating()
            terminal.type(PASSCODE.decode() + "\r")
            terminal.expect("kept        2", "newer one", "same name", "Type move")
            self.assertEqual(self.tier(), "user")
            terminal.type(word + "\n")
            self.assertEqual(terminal.end(), code, terminal.output)
            if word == "no":
                self.assertEqual((self.tier(), self.exists("root.key.moved")), ("user", False))
                self.assertEqual(self.system_names(), set())
        self.assertIn("The store was moved", terminal.output)
        self.assertEqual(self.tier(), "file")
        self.assertEqual(self.session.run("latchkey", "get", "plain").stdout, "newer")
        self.assertEqual(self.system_names(), {"item"})

    def system_names(self):
        """The names that alice's programs without an identity can see in the system's keychain."""
        kind, found = self.app().do("app.call", LIST, {0: 1, 1: {}})
        self.assertEqual(kind, 5)
        return {each[1][2] for each in found}

    def test_a_store_beyond_the_limits_is_in_the_report_before_the_move(self):
        self.machine.run("python3", "-c", GROUPS, self.socket(), 257, user="alice")
        done = self.session.run("latchkey", "migrate", "--dry-run", check=False)
        self.assertIn("256", done.stdout + done.stderr)

    def test_a_locked_keychain_of_the_system_is_unlocked_first(self):
        self.complete(self.migrating())
        self.session.run("latchkey", "lock")
        self.back()
        terminal = self.enterContext(Terminal(self.session, "latchkey", "migrate"))
        terminal.expect("unlock this keychain", "Type your passcode")
        terminal.type(PASSCODE.decode() + "\r")
        terminal.expect("Type the passcode of the system's keychain")
        self.complete(terminal)

    # MARK: - Hostile clients of the own daemon

    def test_a_hostile_client_of_the_own_daemon_moves_nothing_and_readers_do_not_wait(self):
        first, second = self.own_app(), self.own_app()
        with self.assertRaisesRegex(RuntimeError, "PermissionError"):
            self.client("bob").do("App", "latchkey", None, self.socket())
        self.assertEqual(first.do("app.call", MOVE, {0: bytes(16)})[1][0], VOID)
        for operation, parameters in ((BEGIN, {}), (RECEIVE, {0: bytes(16), 1: [], 2: True}), (MAP, {0: ["a"]})):
            self.assertEqual(first.do("app.call", operation, parameters)[1][0], NOT_PERMITTED)
        self.machine.run("kill", "-STOP", self.process_of(KEYCHAIN))
        try:
            first.begin("app.call", MOVE, {0: bytes(16)}, 40)
            self.assertEqual(second.do("app.call", 2)[0], 3)
            query = {0: {0: 1, 1: {2: "plain"}}, 1: 1, 2: 1, 3: {1: False, 2: {0: "", 3: False}}}
            self.assertEqual(second.do("app.call", 11, query, 5), [5, [{0: 1, 3: b"a plain secret"}]])
        finally:
            self.machine.run("kill", "-CONT", self.process_of(KEYCHAIN))
        self.assertEqual(first.end()[1][0], VOID)
        self.assertEqual(second.do("app.add", "later", b"x"), DONE)
        self.assertEqual((self.tier(), self.exists("root.key")), ("user", True))
        self.report_of_control_characters()

    def report_of_control_characters(self):
        """Names of items and groups write no control character to the terminal, and no line of their own."""
        name = "evil\x1b[2J\r\nThe store was moved\x9b1m"
        app = self.own_app(name)
        how = {1: False, 2: {0: "", 3: True}, 3: b"password"}
        parameters = {0: 1, 1: {2: name, 3: name}, 2: [1, APPLICATION_PASSWORD], 3: b"x", 4: 0, 5: how}
        self.assertEqual(app.do("app.call", 10, parameters), DONE)
        report = self.session.run("latchkey", "migrate", "--dry-run").stdout
        self.assertIn("kept        1", report)
        self.assertFalse([character for character in report if character != "\n" and not character.isprintable()])
        self.assertNotIn("\nThe store was moved", report)
        self.assertEqual(len(json.loads(self.session.run("latchkey", "migrate", "--dry-run", "--json").stdout)
                             ["keptItems"]), 1)

    # MARK: - What remains

    def test_links_in_what_remains_are_neither_followed_nor_deleted_and_it_is_not_replaced(self):
        self.complete(self.migrating())
        eventually(lambda: not self.own_daemons())

        def alice(command):
            return self.machine.run("sh", "-c", f"cd {HOME} && {command}", user="alice").stdout

        self.addCleanup(self.machine.run, "rm", "-rf", f"{HOME}/precious", f"{HOME}/real")
        alice("mkdir -p precious && echo gold >precious/gold")
        for make, undo in ((f"mv {OWN}/anchor a && ln -s {HOME}/precious/gold {OWN}/anchor", f"mv a {OWN}/anchor"),
                           (f"ln -s {HOME}/precious {OWN}/folder", f"rm {OWN}/folder"),
                           (f"ln precious/gold {OWN}/hard", f"rm {OWN}/hard"),
                           (f"mv {OWN}/root.key.moved k && ln -s {HOME}/precious/gold {OWN}/root.key.moved",
                            f"mv k {OWN}/root.key.moved"),
                           (f"mv {OWN} real && ln -s {HOME}/real {OWN}", f"rm {OWN} && mv real {OWN}")):
            with self.subTest(make):
                alice(make)
                done = self.session.run("latchkey", "migrate", "--discard", input="discard\n", check=False)
                self.assertNotEqual(done.returncode, 0)
                alice(undo)
                self.assertEqual((alice("cat precious/gold"), self.exists("root.key.moved")), ("gold\n", True))
        # Nor is what remains replaced by a new store, when the system has no keychain any more.
        with self.without_system():
            done = self.session.run("latchkey", "set", "--protect", "none", "new", input="n", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("root.key.moved", done.stderr)
        self.session.run("latchkey", "migrate", "--discard", input="discard\n")
        self.assertEqual(alice(f"ls {HOME}/.local/share; cat precious/gold"), "gold\n")

    def test_the_own_audit_log_has_every_refusal_before_the_move(self):
        self.session.run("latchkey", "passcode", "set", input="the own passcode 0815\n")
        for answer in ("\x1b", "\x1b", "the own passcode 0815\r"):
            terminal = self.migrating()
            terminal.type(PASSCODE.decode() + "\r")
            terminal.expect("Type the passcode of your own store")
            terminal.type(answer)
            terminal.end()
        self.back()
        self.assertNotIn("refusalNotRecorded", self.session.run("latchkey", "log", "--daemon").stdout)
