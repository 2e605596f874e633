# SPDX-License-Identifier: Apache-2.0
"""org.freedesktop.secrets in tier `file`: programs on a session bus of alice, and the prompt that names who asks."""

import os
import subprocess

import pytest

from clients import FOLDER, SECRET, ClientTest
from fingers import WithFingers
from machine import CHECKOUT, fact
from sensors import WithSensor
from services import REFUSED

READER = "/usr/local/bin/reader"
CLIENT = f"{FOLDER}/secret_client.py"
BUS = "unix:path=/home/alice/secrets-bus"
UNLOCK, READ_SECRET, PROTECT_SECRET = 1, 15, 19
# Places in a prompt, and an event, of docs/reference/protocol.md.
PURPOSE, CALLER, REASON, CONTENT, STEP, CHOSEN = 1, 2, 6, 15, 5, 10
# An operation and a status of docs/reference/protocol.md.
USE_SECRETS, NOT_PERMITTED, NO_INTERACTION = 70, 7, 47
SEARCH, READ, PROTECT = 2, 3, 15
# Attributes of an item.
LABEL, IDENTIFIER = 11, 45
ALICE, BOB = 1001, 1002
# Steps of a prompt.
ANSWER_ASKED, ONCE_ASKED = 7, 8
# dbus-daemon of Debian 12 names a process by its number only.
IS_PINNED = os.environ.get("LATCHKEY_DEBIAN") != "bookworm"


class SecretServiceTest(WithFingers, WithSensor, ClientTest):
    RULES = ()

    def setUp(self):
        super().setUp()
        self.machine.copy(CHECKOUT / "Tests/System/secret_client.py", CLIENT)
        # A program with a path of its own, which is no interpreter by its name.
        self.machine.run("sh", "-c", f"cp $(readlink -f /usr/bin/python3) {READER}")
        self.addCleanup(self.machine.run, "rm", "-f", READER)
        self.addCleanup(self.machine.run, "rm", "-rf", "/home/alice/.local", "/home/alice/.config/systemd")
        bus = self.machine.start("dbus-daemon", "--session", "--nofork", f"--address={BUS}", "--print-address=1",
                                 user="alice", stdout=subprocess.PIPE)
        self.addCleanup(bus.wait)
        self.addCleanup(bus.kill)
        self.addCleanup(bus.stdout.close)
        self.assertIn(b"secrets-bus", bus.stdout.readline())
        self.latchkey("secrets", "enable", env={"DBUS_SESSION_BUS_ADDRESS": BUS, "HOME": "/home/alice"})

    def secret(self, *argv, program="/usr/bin/python3"):
        return self.machine.run(program, CLIENT, *argv, user="alice", env={"DBUS_SESSION_BUS_ADDRESS": BUS}).stdout.strip()

    def begin_read(self, name):
        reader = self.machine.start(READER, CLIENT, "read", name, user="alice", env={"DBUS_SESSION_BUS_ADDRESS": BUS},
                                    stdout=subprocess.PIPE)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        self.addCleanup(reader.stdout.close)
        return reader

    def result(self, reader):
        output, _ = reader.communicate(timeout=30)
        return output.decode().strip()


class WhoReadsTests(SecretServiceTest):
    @pytest.mark.promise("secrets.asker")
    def test_another_program_reads_after_a_prompt_that_names_it(self):
        self.secret("store", "mail", SECRET.decode())
        self.assertEqual(self.secret("read", "mail"), SECRET.decode())
        reader = self.begin_read("mail")
        prompt = self.prompts.do("agent.await_prompt")
        self.assertEqual((prompt[PURPOSE], prompt[CALLER], prompt[REASON]), (READ_SECRET, "reader", "mail"))
        # A prompt offers to store an answer only where it is stored.
        self.assertEqual(prompt[CONTENT][STEP], ANSWER_ASKED if IS_PINNED else ONCE_ASKED)
        self.prompts.do("agent.event", [CHOSEN, b"always" if IS_PINNED else b"once"])
        self.assertEqual(self.result(reader), SECRET.decode())
        self.await_end()
        again = self.begin_read("mail")
        if not IS_PINNED:
            self.prompts.do("agent.await_prompt")
            self.prompts.do("agent.event", [CHOSEN, b"once"])
        self.assertEqual(self.result(again), SECRET.decode())
        fact("a secret of another program", f"read after a prompt that names {prompt[CALLER]}, then "
             + ("without one" if IS_PINNED else "after another one"))

    def test_a_refused_program_gets_nothing_and_no_second_prompt(self):
        self.secret("store", "mail", SECRET.decode())
        reader = self.begin_read("mail")
        self.asked()
        self.prompts.do("agent.event", [3])
        self.assertEqual(self.result(reader), "")
        self.await_end()
        self.assertEqual(self.result(self.begin_read("mail")), "")
        with self.assertRaisesRegex(RuntimeError, "no reply within the deadline"):
            self.prompts.do("agent.get", 0.5)

    @pytest.mark.promise("secrets.apart")
    def test_no_program_but_the_provider_names_others_and_none_has_the_group(self):
        self.secret("store", "mail", SECRET.decode())
        items = self.latchkey("list", "--json").stdout
        self.assertNotIn("mail", items)
        others = self.prompts.do("process")
        for process, expected in ((others, [0, NOT_PERMITTED]), (self.first.do("process"), [5, None])):
            start = int(self.machine.read(f"/proc/{process}/stat").rsplit(")", 1)[1].split()[19])
            reply = self.first.do(
                "app.call", USE_SECRETS, {0: [process, start, ALICE], 1: True, 2: [2, {1: []}], 3: {0: "", 3: True}})
            self.assertEqual([reply[0], reply[1][0] if reply[0] == 0 else None], expected, "a program names itself only")

    def test_what_concerns_other_programs_is_asked_for(self):
        for argv in (("protect", "none"), ("answers",)):
            command = self.machine.start("latchkey", "secrets", *argv, user="alice", env={"DBUS_SESSION_BUS_ADDRESS": BUS},
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.asked()
            self.prompts.do("agent.event", [3])
            output, _ = command.communicate(timeout=30)
            self.assertEqual(command.returncode, REFUSED, output)
            self.await_end()


class RuleTests(SecretServiceTest):
    def protect(self, rule):
        """Begins to change the rule of the item, up to the prompt for it."""
        command = self.machine.start("latchkey", "secrets", "protect", rule, "--item", "mail", user="alice",
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(command.wait)
        self.addCleanup(command.kill)
        self.addCleanup(command.stdout.close)
        # The items of all programs are listed after a prompt of its own.
        self.asked()
        self.finger("touch")
        self.await_end()
        prompt = self.prompts.do("agent.await_prompt")
        self.assertEqual((prompt[PURPOSE], prompt[CALLER], prompt[REASON]), (PROTECT_SECRET, "latchkey", "mail"))
        return command, prompt

    def end(self, command, status, *events):
        for event in events:
            self.prompts.do("agent.event", event)
        output, _ = command.communicate(timeout=30)
        self.assertEqual(command.returncode, status, output)
        self.await_end()
        return output.decode()

    def read_as_the_owner(self):
        reader = self.machine.start("/usr/bin/python3", CLIENT, "read", "mail", user="alice",
                                    env={"DBUS_SESSION_BUS_ADDRESS": BUS}, stdout=subprocess.PIPE)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        self.addCleanup(reader.stdout.close)
        return reader

    @pytest.mark.promise("secrets.rule")
    def test_the_rule_of_an_item_is_changed_after_a_prompt_and_weakened_by_its_proof_alone(self):
        self.secret("store", "mail", SECRET.decode())
        self.assertEqual(self.secret("read", "mail"), SECRET.decode())
        command, prompt = self.protect("presence")
        self.assertEqual(prompt[CONTENT][STEP], ONCE_ASKED)
        self.assertIn("mail demands: presence.", self.end(command, 0, [CHOSEN, b"once"]))
        reader = self.read_as_the_owner()
        self.asked()
        self.finger("touch")
        self.assertEqual(self.result(reader), SECRET.decode())
        self.await_end()
        # An answer without the proof counts for nothing, and the prompt is cancelled then.
        command, prompt = self.protect("none")
        self.assertNotEqual(prompt[CONTENT][STEP], ONCE_ASKED)
        self.end(command, REFUSED, [CHOSEN, b"once"], [3])
        reader = self.read_as_the_owner()
        self.asked()
        self.prompts.do("agent.event", [3])
        self.assertEqual(self.result(reader), "", "the rule is what it was")
        self.await_end()

    @pytest.mark.promise("secrets.rule")
    def test_no_program_changes_a_rule_without_a_prompt(self):
        self.secret("store", "mail", SECRET.decode())
        direct = self.app(program="/usr/bin/python3")
        process = direct.do("process")
        start = int(self.machine.read(f"/proc/{process}/stat").rsplit(")", 1)[1].split()[19])
        call = {0: [process, start, ALICE], 1: True, 3: {0: "", 3: False}}
        found = direct.do("app.call", USE_SECRETS, {**call, 2: [SEARCH, {1: ["service", "mail"]}]})[1][0][1]
        reply = direct.do("app.call", USE_SECRETS, {**call, 2: [PROTECT, [found[IDENTIFIER], [1, 1]]]})
        self.assertEqual((reply[0], reply[1][0]), (0, NO_INTERACTION))
        self.assertEqual(self.secret("read", "mail"), SECRET.decode())


class UntilLogoutTests(SecretServiceTest):
    def grant(self):
        self.secret("store", "mail", SECRET.decode())
        reader = self.begin_read("mail")
        self.asked()
        # Ignored where the prompt does not offer it.
        self.prompts.do("agent.event", [CHOSEN, b"session"])
        if not IS_PINNED:
            self.prompts.do("agent.event", [CHOSEN, b"once"])
        self.assertEqual(self.result(reader), SECRET.decode())
        self.await_end()

    def is_refused(self):
        """The person is asked for the item again, and cancels."""
        reader = self.begin_read("mail")
        self.asked()
        self.prompts.do("agent.event", [3])
        self.assertEqual(self.result(reader), "")
        self.await_end()

    def use(self, app, process, user, action):
        start = int(self.machine.read(f"/proc/{process}/stat").rsplit(")", 1)[1].split()[19])
        return app.do("app.call", USE_SECRETS, {0: [process, start, user], 1: True, 2: action, 3: {0: "", 3: False}})

    @pytest.mark.promise("secrets.session")
    def test_an_answer_until_logout_ends_with_a_lock(self):
        self.grant()
        if IS_PINNED:
            self.assertEqual(self.result(self.begin_read("mail")), SECRET.decode(), "without a prompt")
        self.latchkey("lock")
        unlocking = self.machine.start("latchkey", "unlock", user="alice", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.asked()
        self.finger("touch")
        output, _ = unlocking.communicate(timeout=30)
        self.assertEqual(unlocking.returncode, 0, output)
        self.await_end()
        self.is_refused()

    @pytest.mark.promise("secrets.session")
    def test_an_answer_until_logout_is_that_of_the_provider_and_of_its_user(self):
        self.grant()
        # The same program, over a connection of its own.
        direct = self.app(program=READER)
        process = direct.do("process")
        found = self.use(direct, process, ALICE, [SEARCH, {1: ["service", "mail"]}])[1][0][1]
        self.assertNotIn(LABEL, found)
        reply = self.use(direct, process, ALICE, [READ, [found[IDENTIFIER]]])
        self.assertEqual((reply[0], reply[1][0]), (0, NO_INTERACTION))
        bob = self.app("bob")
        for user in ALICE, BOB:
            reply = self.use(bob, process, user, [READ, [found[IDENTIFIER]]])
            self.assertEqual((reply[0], reply[1][0]), (0, NOT_PERMITTED), reply)
        reply = self.use(bob, bob.do("process"), BOB, [READ, [found[IDENTIFIER]]])
        self.assertEqual(reply, [5, []], "an item of another user is none")


class UnlockTests(SecretServiceTest):
    @pytest.mark.promise("secrets.storm")
    def test_a_program_that_is_refused_an_unlock_shows_no_second_prompt(self):
        self.latchkey("lock")
        program = self.machine.start(READER, CLIENT, "unlock", "50", user="alice", env={"DBUS_SESSION_BUS_ADDRESS": BUS},
                                     stdout=subprocess.PIPE)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.addCleanup(program.stdout.close)
        prompt = self.prompts.do("agent.await_prompt")
        self.assertEqual((prompt[PURPOSE], prompt[CALLER]), (UNLOCK, "reader"))
        self.prompts.do("agent.event", [3])
        self.await_end()
        self.assertEqual(self.result(program), "50", "each is dismissed")
        with self.assertRaisesRegex(RuntimeError, "no reply within the deadline"):
            self.prompts.do("agent.get", 0.5)
