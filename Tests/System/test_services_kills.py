# SPDX-License-Identifier: Apache-2.0
"""Either service is killed at each step of an evaluation: nothing is granted twice, counted less, lost, or unrecorded."""

import subprocess

from clients import LOG, PASSCODE, SECRET, SYSTEM_CANCEL, ClientTest
from fingers import WithFingers
from machine import Failure, eventually, fact
from sensors import WithSensor
from services import AUTHORITY, KEYCHAIN, STORES
from traces import WithTraces

# The event of docs/reference/store-format.md.
REFUSED_EVENT = 5
# How a service sends a message, writes a try or an entry of the audit log, and makes it durable; and how it takes and
# returns the memory in which a passcode is stretched.
CALLS = ("sendto", "pwrite64", "fdatasync", "munmap")


class KilledEvaluationTests(WithTraces, ClientTest):
    """Alice reads an item that asks for a person, and types the right passcode."""

    def setUp(self):
        super().setUp()
        self.person()

    def restart(self):
        self.stop_services()
        self.first, self.prompts = self.app(), self.agent()

    def refusals(self):
        """How many refusals the audit log counts; a service that stops writes those that it has gathered."""
        entries, last = [], 0
        while page := self.first.do("app.call", LOG, {0: last, 1: 1024, 2: True})[1]:
            self.assertNotIn(2, page, "the chain is broken")
            if not page[0]:
                return sum(entry[6] for entry in entries if entry[2] == REFUSED_EVENT)
            entries, last = entries + page[0], page[0][-1][0]

    def tries(self):
        """The tries that a new prompt offers, and the seconds for which it delays them."""
        self.first.begin("app.read", "presence", None, True, None, 20)
        content = self.prompts.do("agent.await_prompt")[15]
        self.prompts.do("agent.event", [3])
        self.first.end()
        while self.prompts.do("agent.follow")[0] != 2:
            pass
        return content[2], content[6]

    def lost(self):
        """The lines of latchkeyd's log which say that it lost the other service."""
        text = self.machine.run("cat", f"{STORES}/daemon.log", check=False).stdout
        return sum("authorityLost" in line for line in text.splitlines())

    def evaluate(self):
        """Reads the item while a person types; the result is that of the app, or None if its service ended."""
        self.first.begin("app.read", "presence", None, True, None, 20)
        self.prompts.begin("auto", "agent", PASSCODE, None, 15)
        reply = self.first.end()
        try:
            self.prompts.end()
        except RuntimeError:
            # Its connection ended with latchkey-authd.
            self.prompts.stop()
        return reply

    def was_killed(self, unit, pid, reply, tracer):
        """Whether the service was ended; if not, another thread made the call this time. A tracer ends with what it
        traces, which may be a thread that has ended by itself."""
        try:
            tracer.wait(1)
        except subprocess.TimeoutExpired:
            tracer.kill()
            tracer.wait()
        try:
            # systemd notices the end of a service later than the app.
            eventually(lambda: pid not in self.processes(unit), 1 if reply == SECRET else 5)
        except Failure:
            self.assertEqual(reply, SECRET)
            return False
        return True

    def kills(self, unit):
        """Ends a service at each call of an evaluation that is not disturbed; yields the call and the reply."""
        self.restart()
        with self.counting(CALLS, unit) as counted:
            self.assertEqual(self.evaluate(), SECRET)
        for (thread, call), count in sorted(counted.items()):
            for number in range(1, count + 1):
                self.restart()
                self.recorded, self.noted = self.refusals(), self.lost()
                pid = self.process_of(unit)
                tracer = self.injecting(call, f"signal=SIGKILL:when={number}", unit, thread if thread >= 0 else None)
                reply = self.evaluate()
                if self.was_killed(unit, pid, reply, tracer):
                    yield f"{call} {number} of thread {thread}", reply

    def check(self, unit, answers):
        self.restart()
        most, _ = self.tries()
        count, seen = 0, {}
        for step, reply in self.kills(unit):
            with self.subTest(step):
                count += 1
                seen.setdefault(str(reply), []).append(step)
                self.assertIn(reply, (SECRET, *answers))
                if unit == AUTHORITY:
                    # latchkeyd goes on; it says so once, and serves what needs no person.
                    self.assertEqual(self.first.do("app.read", "free"), SECRET)
                    eventually(lambda: self.lost() > self.noted)
                self.restart()
                self.assertEqual(self.refusals() - self.recorded, 0 if reply == SECRET or unit == KEYCHAIN else 1)
                left, delay = self.tries()
                # A try is counted before it is verified, so a kill may leave it counted, and never gives one more.
                self.assertIn((left, delay), ((most, 0), (most - 1, 0)))
                self.assertEqual(self.evaluate(), SECRET)
                self.assertEqual(self.first.do("app.read", "free"), SECRET)
        self.assertGreater(count, 5, seen)
        for answer in answers:
            self.assertIn(str(answer), seen)
        fact(f"{unit.removesuffix('.service')} killed during an evaluation",
             f"at {count} calls: " + ", ".join(f"{answer} after {len(steps)}" for answer, steps in seen.items()))

    def test_an_evaluation_ends_and_is_recorded_wherever_latchkey_authd_is_killed(self):
        self.check(AUTHORITY, (SYSTEM_CANCEL,))

    def test_an_evaluation_ends_wherever_latchkeyd_is_killed(self):
        self.check(KEYCHAIN, ("ended",))


class RestartedKeychainTests(WithSensor, WithFingers, ClientTest):
    def test_a_finger_counts_after_latchkeyd_alone_was_killed(self):
        """The agent and latchkey-authd, which holds the reader, go on."""
        for kills in range(3):
            for account in ("any", "set", "any"):
                self.assertEqual(self.read_with_a_touch(account), SECRET, f"{account} after {kills} kills")
                self.await_end()
            self.kill_service(KEYCHAIN)
            self.first = self.app()
