# SPDX-License-Identifier: Apache-2.0
"""A hostile latchkeyd at the socket of latchkey-authd, with a caller and an agent of alice, and hostile agents."""

import struct
import time

from attack_client import encode, frame
from clients import PASSCODE, SECRET, SYSTEM_CANCEL, ClientTest
from machine import PASSWORDS, eventually
from sensors import WithSensor

ALICE, BOB = 1001, 1002
# Events of prompts (docs/reference/protocol.md), and purposes.
CANCEL, RECOVERY, FIRST_PASSCODE = [3], 2, 8
# Replies to an evaluation.
REFUSED, GRANTED = 1, 3


class HostileTest(WithSensor, ClientTest):
    def setUp(self):
        super().setUp()
        self.machine.run("systemctl", "stop", "latchkeyd.socket")
        self.stop_services()
        self.service, self.caller, self.prompts = self.client("latchkey"), self.client(), self.agent()
        self.pid = self.caller.do("process")
        self.connect(False)
        account = [5, PASSWORDS["alice"].encode()]
        self.evaluate(account, [11, b"1234"], [12, b"1234"], plan=[], purpose=FIRST_PASSCODE, step=3)
        self.call("s.change", 5)
        self.connect(True)

    def attempt(self, client, *arguments, **options):
        """The result of a call, or the text of its failure."""
        try:
            return client.do(*arguments, **options)
        except RuntimeError as error:
            return str(error)

    def call(self, *arguments, **options):
        return self.attempt(self.service, *arguments, **options)

    def connect(self, passcode):
        """A new connection for alice, who has a passcode as far as this latchkeyd says."""
        self.service.do("drop", "s")
        eventually(lambda: "Ended" not in str(self.call("Service", kept="s")), 5)
        return self.call("s.attach", ALICE, passcode)

    def evaluate(self, *events, wait=3, pid=None, **options):
        """Evaluates, answers the prompt with events, then cancels it; the reply, and the prompt or None."""
        self.service.begin("s.evaluate", self.pid if pid is None else pid, wait, **options)
        prompt = last = None
        try:
            prompt = self.prompts.do("agent.await_prompt", 1)
            for event in events:
                self.prompts.do("agent.event", event)
                last = self.prompts.do("agent.follow", 15)
                if last[0] == 2:
                    break
            if not last or last[0] != 2:
                self.prompts.do("agent.event", CANCEL)
                self.prompts.do("agent.follow", 3)
        except RuntimeError:
            # No prompt is shown, or it ends by itself.
            pass
        return self.service.end(), prompt

    def wrong_passcodes(self):
        """The count in the last state (docs/reference/services.md): the failures in the counters of the authority."""
        self.call("s.identify", self.pid)
        return self.call("s.states")[ALICE][1][2][1]


class CountTests(HostileTest):
    def test_a_right_passcode_that_opens_nothing_grants_nothing_and_is_not_counted(self):
        self.service.do("set_opens", "s", "false")
        reply, _ = self.evaluate([5, b"1234"])
        self.assertNotEqual(reply[0], GRANTED, reply)
        # The try is counted before it is verified, and taken back after the reply.
        eventually(lambda: self.wrong_passcodes() == 0, 2)

    def test_a_wrong_passcode_that_is_said_to_open_everything_grants_nothing(self):
        self.service.do("set_opens", "s", "true")
        reply, _ = self.evaluate([5, b"abcd"])
        self.assertEqual(reply[0], REFUSED, reply)
        before = self.wrong_passcodes()
        self.assertEqual(before, 1)
        for kind in (1, 2, 3, 4):
            self.call("s.change", kind)
        self.connect(False)
        self.connect(True)
        self.assertGreaterEqual(self.wrong_passcodes(), before, "locks, unlocks and attaches reset no count")

    def test_an_opening_that_is_never_answered_ends(self):
        self.service.do("set_opens", "s", "none")
        begin = time.monotonic()
        reply, _ = self.evaluate([5, b"1234"], wait=20)
        self.assertEqual(reply and reply[0], REFUSED, reply)
        self.assertLess(time.monotonic() - begin, 15)


class NameTests(HostileTest):
    def test_the_authority_names_the_caller_itself(self):
        bob = self.client("bob").do("process")
        kind, label = self.call("s.identify", bob, uid=ALICE)
        # Nothing is said of it, or that it is a program of alice without a name.
        self.assertTrue(kind == REFUSED or label[3] == ["user:1001"], label)
        for options in ({"start": 77}, {"pid": 999_999, "start": 7}, {"pid": 1}, {"pid": bob}):
            _, prompt = self.evaluate(**options)
            if prompt is not None:
                self.assertEqual(prompt[2], "A program that could not be determined", options)
                self.assertNotIn("/", prompt[3], options)

    def test_users_who_are_not_attached_or_have_no_identity_are_refused(self):
        bob = self.client("bob").do("process")
        self.assertIn("not attached", str(self.evaluate(uid=BOB, pid=bob)[0]))
        for uid in (65534, 0xFFFFFFFF):
            self.assertNotEqual(self.call("s.attach", uid), [0, {}], uid)
            self.connect(True)

    def test_no_recovery_code_is_shown_outside_its_step(self):
        for step, code in ((0, b"CODE"), (2, b"CODE"), (3, b"CODE"), (1, None), (1, b"")):
            self.assertIsNone(self.evaluate(plan=[], purpose=RECOVERY, step=step, code=code)[1], (step, code))


class FloodTests(HostileTest):
    def test_evaluations_without_end_of_alice_do_not_delay_the_prompt_of_bob(self):
        bob, prompts = self.client("bob"), self.agent("bob")
        self.assertEqual(self.call("s.attach", BOB)[0], REFUSED, "bob on alice's connection")
        self.service.do("Service", BOB, kept="b")
        self.call("b.attach", BOB)
        self.service.do("flood", "s", self.call("s.evaluation", self.pid, plan=[], purpose=FIRST_PASSCODE, step=3), 10_000)
        begin = time.monotonic()
        self.service.begin("b.evaluate", bob.do("process"), 10, uid=BOB, plan=[], purpose=FIRST_PASSCODE, step=3)
        prompts.do("agent.await_prompt", 5)
        self.assertLess(time.monotonic() - begin, 1)
        prompts.do("agent.event", CANCEL)
        self.service.end()

    def test_attaches_without_end_are_limited(self):
        self.assertNotIn("ended", self.service.do("attaches", "s", 10_000))

    def test_a_malformed_frame_ends_the_connection(self):
        for data in (
                struct.pack(">BI", 1, 0xFFFFFFFF), b"\2\0\0\0\0", frame(b""), frame(b"\x81" * 1000), frame(b"\x9f\xff"),
                frame(b"\xc0\0"), frame(b"\xa2\0\0\0\0"), frame(b"\x9b" + b"\xff" * 8),
                frame(encode([0, 1, [1, [1, 1, 1]]]) + b"\0"), frame(b"\x83\x18\0\1\x82\1\x83\1\1\1"),
                # A reply without a call, a call of the other side, and half a frame.
                frame(encode([3, 77, [0, {}]])), frame(encode([2, 1, [1, {}]])), struct.pack(">BI", 1, 100) + b"x"):
            with self.subTest(data=data[:20]):
                self.connect(False)
                self.call("s.raw", data)
                self.assertIs(self.call("s.ends", 12), True)

    def test_a_second_connection_is_refused_and_the_first_goes_on(self):
        other = self.client("latchkey")
        self.assertIn("Ended", str(self.attempt(other, "Service", kept="s")))
        self.assertEqual(self.call("s.identify", self.pid)[0], 2)

    def test_the_account_of_latchkeyd_reads_nothing_of_the_authority(self):
        script = ("cat /var/lib/latchkey-authd/1001/*; for pid in $(pidof latchkey-authd); do head -c 1 /proc/$pid/mem; "
                  "cat /proc/$pid/environ; ls /proc/$pid/fd; strace -p $pid; kill -9 $pid; done")
        done = self.machine.run("sh", "-c", script, user="latchkey", check=False)
        for line in (done.stdout + done.stderr).splitlines():
            self.assertRegex(line, "ermi|denied|not perm|^$")
        self.assertEqual(self.call("s.identify", self.pid)[0], 2)


class AgentTests(ClientTest):
    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()

    def test_no_event_but_the_passcode_opens_the_item(self):
        """A touch in tier file, a confirmation, a new passcode, a recovery code, a code that is written down, an answer to
        another prompt, too many bytes, an unknown event."""
        for event, number in (([6, True], None), ([7], None), ([11, PASSCODE], None), ([10, PASSCODE], None), ([9], None),
                              ([5, PASSCODE], 12_345), ([5, b"1" * 1025], None), ([77], None)):
            with self.subTest(event=event):
                self.first.begin("app.read", "presence", None, True, None, 10)
                self.prompts.do("agent.await_prompt", 3)
                self.prompts.do("agent.event", event, number)
                try:
                    self.prompts.do("agent.event", CANCEL)
                except RuntimeError:
                    # The event has ended the connection.
                    pass
                self.assertNotEqual(self.first.end(), SECRET)
                self.prompts.stop()
                self.prompts = eventually(self.registered)

    def registered(self):
        """A new agent, as soon as the end of the one before was noticed."""
        client = self.client()
        try:
            client.do("Agent", kept="agent")
            return client if client.do("agent.registered") == [1, {}] else None
        except RuntimeError:
            return None

    def test_the_agent_of_another_user_answers_nothing(self):
        bob = self.agent("bob")
        self.first.begin("app.read", "presence", None, True, None, 10)
        self.prompts.do("agent.await_prompt", 3)
        for number in range(60):
            bob.do("agent.event", CANCEL, number)
        with self.assertRaisesRegex(RuntimeError, "deadline"):
            bob.do("agent.get", 1)
        self.prompts.do("drop", "agent")
        self.assertEqual(self.first.end(), SYSTEM_CANCEL)

    def test_an_agent_that_makes_a_request_or_registers_twice_is_closed(self):
        self.prompts.stop()
        for value in ([0, 1, [2, {}]], [0, {}]):
            agent = eventually(self.registered)
            agent.do("agent.put", value)
            self.assertTrue(agent.do("agent.ends", 3), value)


del HostileTest
