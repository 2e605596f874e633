# SPDX-License-Identifier: Apache-2.0
"""Changes of the passcode while services are killed, and on a full disk: the old or the new one opens, never none or both."""

import os
import random
import threading

from attack_client import failure
from clients import DISK_FULL, DONE, PASSCODE_ONLY, SECRET, ClientTest
from services import RECORDS, SOCKETS

REMOVE, SET, CHANGE = 3, 4, 5
ROUNDS = 40 if os.environ.get("LATCHKEY_TESTS") == "all" else 10
DUPLICATE = 43
# The place of the passcode in a status.
HAS_PASSCODE = 6


class ChangeTest(ClientTest):
    def setUp(self):
        super().setUp()
        self.connect()

    def connect(self):
        self.first, self.prompts = self.app(), self.agent()

    def change(self, number, current, new=None, during=lambda: None):
        """The reply to a change of the passcode, for which the person types these; or the text of a failure."""
        self.prompts.begin("auto", "agent", current, new, 8)
        self.first.begin("app.call", 20, {0: number}, 15)
        during()
        try:
            reply = self.first.end()
        except RuntimeError as error:
            reply = str(error)
        self.finish()
        return reply

    def finish(self):
        try:
            self.prompts.end()
        except RuntimeError:
            # No prompt was shown, or it ended with a service.
            pass

    def opens(self, passcode):
        self.prompts.begin("auto", "agent", passcode, None, 8)
        seen = self.first.do("app.read", "guarded", None, True, None, 15)
        self.finish()
        return seen == SECRET

    def has_passcode(self):
        return self.first.do("app.call", 2)[1][HAS_PASSCODE]


class KillTests(ChangeTest):
    def test_the_old_or_the_new_passcode_opens_wherever_a_service_is_killed(self):
        source, current = random.Random(), None
        for index in range(ROUNDS):
            number = SET if current is None else CHANGE if source.random() < 0.7 else REMOVE
            new = None if number == REMOVE else b"pc%04d" % index
            names = source.choice((["latchkeyd"], ["latchkey-authd"], ["latchkeyd", "latchkey-authd"]))
            delay = source.uniform(0, {REMOVE: 0.32, SET: 0.42, CHANGE: 0.62}[number])
            what = f"round {index}: {number} of {current}, {names} after {delay:.3f} s"

            def kill():
                threading.Event().wait(delay)
                self.machine.run("sh", "-c", f"kill -9 $(pidof {' '.join(names)})", check=False)

            reply = self.change(number, current, new, kill)
            self.first.stop()
            self.prompts.stop()
            self.stop_services()
            self.connect()
            if self.has_passcode():
                if current is None:
                    # It remains where a removal of the passcode was interrupted.
                    added = self.first.do("app.add", "guarded", SECRET, PASSCODE_ONLY)
                    self.assertTrue(added == DONE or failure(added) == DUPLICATE, (what, added))
                right = [code for code in (current, new) if code and self.opens(code)]
                self.assertEqual(len(right), 1, (what, reply, right))
                if reply == DONE:
                    self.assertEqual(right[0], new, what)
                current = right[0]
            else:
                self.assertNotEqual(number, CHANGE, (what, reply))
                self.assertFalse(number == SET and reply == DONE, (what, reply))
                current = None


class FullDiskTests(ChangeTest):
    def setUp(self):
        super().setUp()
        self.stop_services()
        self.machine.run("systemctl", "stop", *SOCKETS)
        self.machine.run("sh", "-c", f"rm -rf {RECORDS}/1* && mount -t tmpfs -o size=400k,mode=700 small {RECORDS}")
        self.addCleanup(self.machine.run, "umount", RECORDS)
        self.addCleanup(self.stop_services)
        self.machine.run("systemctl", "start", *SOCKETS)
        self.connect()
        self.assertEqual(self.change(SET, None, b"good1"), DONE)
        self.assertEqual(self.first.do("app.add", "guarded", SECRET, PASSCODE_ONLY), DONE)
        self.machine.run("dd", "if=/dev/zero", f"of={RECORDS}/fill", "bs=1k", check=False)

    def test_a_wrong_passcode_is_counted_in_place_and_the_right_one_opens(self):
        self.assertFalse(self.opens(b"wrong"))
        self.assertTrue(self.opens(b"good1"))

    def test_a_change_is_refused_and_the_passcode_stays(self):
        self.assertEqual(failure(self.change(CHANGE, b"good1", b"good2")), DISK_FULL)
        self.assertTrue(self.opens(b"good1"))
        self.assertFalse(self.opens(b"good2"))

    def test_a_removal_that_is_acknowledged_took_place(self):
        reply = self.change(REMOVE, b"good1")
        remains = self.has_passcode()
        self.machine.run("rm", f"{RECORDS}/fill")
        if failure(reply) != DISK_FULL:
            self.assertEqual((reply, remains), (DONE, False))
            self.assertEqual(self.change(SET, None, b"good3"), DONE)


del ChangeTest
