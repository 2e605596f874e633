# SPDX-License-Identifier: Apache-2.0
"""Hostile use of the protocol at the public sockets of both services."""

import os
import random
import struct
import time

import pytest

from attack_client import encode, frame
from clients import (
    CANCELLED, CONTEXT, COPY, DONE, EVALUATE, LOG, NOT_FOUND, PASSCODE_ONLY, SECRET, STATUS, ClientTest)
from machine import fact
from services import AUTHORITY, KEYCHAIN

MINE, OTHER = "/usr/bin/notes", "/usr/bin/mail"
HELLO, EVALUATE_RULE, ADD, UPDATE, SIMULATE, PASSWORD_FLAG = 1, 7, 10, 12, 30, 1 << 31
OR, AND = 1 << 14, 1 << 15
MALFORMED, LIMIT, REFUSED = 1, 3, 5
HOW = {1: False, 2: {0: "", 3: False}}


class ProtocolTest(ClientTest):
    def request(self, number, operation, parameters=None):
        return frame(encode([0, number, [operation, parameters or {}]]))

    def pids(self):
        """The processes of each service."""
        return [set(self.processes(unit)) for unit in (KEYCHAIN, AUTHORITY)]

    def assertRunOn(self, before):
        """Asserts that the processes run on; those of further users may have been started."""
        for earlier, now in zip(before, self.pids()):
            self.assertLessEqual(earlier, now)


class HelloTests(ProtocolTest):
    def test_a_second_hello_ends_the_connection(self):
        app = self.app()
        app.do("app.add", "token", SECRET)
        reply = app.do("app.call", HELLO, {0: MINE})
        self.assertTrue(reply is None or reply[1][0] == MALFORMED, reply)
        self.assertEqual(app.do("app.read", "token"), "ended")

    def test_a_hello_during_a_prompt_ends_the_connection_and_the_prompt(self):
        app, prompts = self.person()
        app.do("app.send", COPY, app.do("app.reading", "presence"))
        prompts.do("agent.await_prompt")
        app.do("app.send", HELLO, {0: MINE})
        self.assertTrue(app.do("app.ends", 5))
        self.assertEqual(prompts.do("agent.follow")[0], 2)

    def test_no_request_is_served_before_hello(self):
        app = self.client()
        for operation, parameters in ((STATUS, {}), (COPY, {0: {0: 1, 1: {}}, 1: 0, 2: 1, 3: HOW}), (25, {}),
                                      (CONTEXT, {}), (SIMULATE, [18, True]), (20, {0: 3}),
                                      (LOG, {0: 0, 1: 9, 2: False})):
            app.do("App", None, kept="app")
            reply = app.do("app.call", operation, parameters)
            self.assertTrue(reply is None or reply[:1] == [0] and reply[1][0] == MALFORMED, (operation, reply))
            self.assertTrue(app.do("app.ends", 5), operation)


class FrameTests(ProtocolTest):
    def test_malformed_frames_end_their_connection_only(self):
        app, quiet = self.client(), self.app()
        before = self.pids()
        for payload in (b"", b"\x81" * 100_000, b"\x83\0\1\x82\2" + b"\x81" * 9 + b"\xa0", b"\x9f\xff", b"\xc0\0",
                        b"\xf6", b"\xa2\0\0\0\0", b"\x9b" + b"\xff" * 8, b"\x83\x18\0\1\x82\2\xa0", b"\x5f\x41a\xff",
                        encode([0, 1, [STATUS, {}]]) + b"\0", encode([0, 1, [STATUS, {5: 1}]]),
                        encode([1, 1, [1, {}]]), encode([0, 1, [STATUS]])):
            app.do("App", kept="app")
            app.do("app.raw", frame(payload))
            # Either the request of a valid frame is refused, and the next one answered, or the connection ends.
            reply = app.do("app.call", STATUS)
            self.assertTrue(reply is None or reply[0] in (0, 3), (payload[:16], reply))
        large = [struct.pack(">BI", 1, size) for size in ((2 << 20) + 1, 0xFFFFFFFF)]
        for head in (*large, b"\3\0\0\0\1\0", b"\0" * 5):
            app.do("App", kept="app")
            app.do("app.raw", head)
            self.assertTrue(app.do("app.ends", 5), head)
        self.assertEqual(quiet.do("app.read", "missing"), NOT_FOUND)
        self.assertRunOn(before)

    def test_mutated_frames_crash_nothing_and_return_nothing_of_others(self):
        victim = self.app("bob")
        victim.do("app.add", "token", SECRET)
        before, app, source = self.pids(), self.client(), random.Random(4711)
        valid = [self.request(7, STATUS), self.request(7, ADD, {0: 1, 1: {2: "m"}, 2: [4, 0], 3: b"x", 4: 0, 5: HOW}),
                 self.request(7, COPY, {0: {0: 1, 1: {2: "token"}}, 1: 1, 2: 1, 3: HOW}),
                 self.request(7, LOG, {0: 0, 1: 9, 2: True}), self.request(7, 14, {0: 1, 1: {}}),
                 self.request(7, 8, {}), frame(encode([3, [1, [3, [5, b"1234"]]]]))]
        frames = []
        for _ in range(2000):
            data = bytearray(source.choice(valid))
            for _ in range(source.randint(1, 4)):
                place = source.randrange(len(data))
                data[place] = source.choice((source.randrange(256), data[place] ^ 1 << source.randrange(8)))
            frames.append(bytes(data))
        for path in ("/run/latchkey/public/keychain.sock", "/run/latchkey/agents.sock"):
            self.assertNotIn(SECRET, app.do("answers", path, frames))
        self.assertRunOn(before)
        self.assertEqual(victim.do("app.read", "token"), SECRET)
        fact("mutated frames", f"{2 * len(frames)} at both public sockets, neither service ended")

    def test_a_frame_that_is_sent_byte_by_byte_is_given_up(self):
        app = self.app()
        app.do("app.raw", struct.pack(">BI", 1, 1000))
        self.assertLess(app.do("app.trickle"), 13)


class LimitTests(ProtocolTest):
    def test_numbers_of_requests_and_contexts_are_limited(self):
        app, prompts = self.person()
        revision = app.do("app.call", 8)[1][6]
        # Each of these waits for a change of the environment.
        for _ in range(64):
            app.do("app.send", 8, {0: revision})
        self.assertEqual(app.do("app.call", STATUS)[1][0], LIMIT)
        app.do("App", kept="app")
        replies = [app.do("app.call", CONTEXT) for _ in range(1025)]
        self.assertEqual([reply[0] for reply in replies], [4] * 1024 + [0])

    def test_a_second_request_of_a_number_is_refused(self):
        app = self.app()
        revision = app.do("app.call", 8)[1][6]
        app.do("app.raw", self.request(900, 8, {0: revision}) * 2)
        self.assertEqual(app.do("app.answer", 900, 3)[0], 0)

    def test_an_access_control_of_or_and_and_only_is_refused(self):
        app = self.app()
        for bits in (OR, AND, OR | AND):
            self.assertEqual(app.do("app.add", f"bare {bits}", SECRET, bits)[0], 0)
            handle = self.context(app)
            self.assertEqual(app.do("app.call", EVALUATE_RULE, {0: handle, 1: [1, bits], 2: {0: "x", 3: True}})[0], 0)
            app.do("app.add", "token", SECRET)
            change = {0: {0: 1, 1: {2: "token"}}, 1: {}, 2: [1, bits], 4: HOW}
            self.assertEqual(app.do("app.call", UPDATE, change)[0], 0)

    def test_no_message_sets_or_tries_a_passcode(self):
        app, prompts = self.person()
        for wish in ({0: 1, 1: b"135790"}, {0: 2, 1: b"135790"}, {0: 2}, {0: 4, 1: b"1357"},
                     {0: b"wrong", 1: b"135790"}, {0: 2, 1: b"135790", 2: b"a passcode 4711"}):
            other = self.app()
            reply = other.do("app.call", 20, wish)
            self.assertTrue(reply is None or reply[0] == 0, (wish, reply))
        with self.typing(prompts):
            self.assertEqual(app.do("app.read", "presence", None, True, None, 20), SECRET)

    def test_refusals_are_gathered_in_the_audit_log(self):
        app, prompts = self.person()
        for _ in range(30):
            app.begin("app.read", "presence", None, True, None, 20)
            prompts.do("agent.await_prompt")
            prompts.do("agent.event", [3])
            self.assertEqual(app.end(), CANCELLED)
            prompts.do("agent.follow")
        self.stop_services()
        entries = [entry for entry in self.app().do("app.log") if entry[1] == REFUSED]
        self.assertIn(len(entries), (1, 2, 3), entries)


class FloodTests(ProtocolTest):
    def test_prompts_of_one_program_delay_another_one_by_a_few(self):
        _, prompts = self.person()
        flood = self.app(program=self.program(MINE))
        other = self.app(program=self.program(OTHER))
        for app in (flood, other):
            app.do("app.add", "own", SECRET, PASSCODE_ONLY)
        for number in range(12):
            flood.do("App", kept=f"app{number}")
            for _ in range(60):
                flood.do(f"app{number}.send", COPY, flood.do("app.reading", "own"))
        prompts.do("agent.await_prompt")
        other.begin("app.read", "own", None, True, None, 30)
        # Later requests are served as well, so the other one waits by now.
        self.assertEqual(self.app().do("app.call", STATUS)[0], 3)
        shown = []
        while "mail" not in shown:
            prompts.do("agent.event", [3])
            shown.append(prompts.do("agent.await_prompt")[2])
        prompts.do("agent.event", [3])
        self.assertEqual(other.end(), CANCELLED)
        self.assertLess(len(shown), 8)
        fact("720 prompts of a program", f"another program's was shown after {len(shown)}")

    def test_wrong_passwords_of_one_program_do_not_delay_another_one(self):
        flood = self.app(program=self.program(MINE))
        other = self.app(program=self.program(OTHER))
        how = {**HOW, 3: b"right one"}
        item = {0: 1, 1: {2: "own"}, 2: [1, PASSWORD_FLAG], 3: SECRET, 4: 0, 5: how}
        self.assertEqual(flood.do("app.call", ADD, item, 20), DONE)
        reading = {0: {0: 1, 1: {2: "own"}}, 1: 1, 2: 1, 3: {**HOW, 3: b"a wrong one"}}
        for _ in range(60):
            flood.do("app.send", COPY, reading)
        begin = time.monotonic()
        self.assertEqual(other.do("app.add", "quick", b"x", 0, 1, None, 20), DONE)
        seconds = time.monotonic() - begin
        self.assertLess(seconds, 5)
        fact("60 wrong passwords of a program", f"another program's add took {seconds * 1000:.0f} ms")

    def processor(self):
        """The seconds of processor time that latchkeyd has used."""
        stats = [self.machine.read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split() for pid in self.processes(KEYCHAIN)]
        return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")

    def test_unread_answers_and_a_refused_frame_cost_no_processor_time(self):
        other = self.app()
        for number in range(20):
            self.assertEqual(other.do("app.add", f"large {number}", bytes(100_000)), DONE)
        hostile = self.client()
        before = self.processor()
        # The service keeps the connection for 10 s to send its replies (docs/reference/protocol.md).
        hostile.begin("refused_while_unread", 3, 14)
        begin, slowest = time.monotonic(), 0
        while time.monotonic() - begin < 13:
            asked = time.monotonic()
            self.assertEqual(other.do("app.call", STATUS)[0], 3)
            slowest = max(slowest, time.monotonic() - asked)
            other.do("pause", 0.1)
        refused, ended = hostile.end()
        used = self.processor() - before
        self.assertIsNotNone(refused)
        self.assertTrue(ended)
        self.assertLess(used, 1)
        self.assertLess(slowest, 5)
        fact("unread answers and a refused frame", f"{used:.2f} s of processor time in 14 s, bytes refused after "
             f"{refused:.1f} s, the slowest reply to another program {slowest * 1000:.0f} ms")

    @pytest.mark.promise("abuse.19")
    def test_texts_of_a_program_are_one_line_of_plain_characters_abuse19(self):
        app, prompts = self.person()
        reason = "pay\u202e 100\u2066\n\x1b[2J\x1b[31m<b>now</b>\u200b\u201d \u2028" + "x" * 10_000
        app.do("app.send", EVALUATE, {0: self.context(app), 1: 2, 2: {0: reason, 1: reason, 2: reason, 3: True}})
        prompt = prompts.do("agent.await_prompt")
        for text, limit in ((prompt[6], 240), (prompt[7], 48), (prompt[8], 48)):
            # An ellipsis shows that the text was clipped.
            self.assertLessEqual(len(text.removesuffix("…")), limit)
            shown = [each for each in text if each < " " or each in "\u202e\u2066\u200b\u2028\u201d\""]
            self.assertEqual(shown, [], text)


del ProtocolTest
