# SPDX-License-Identifier: Apache-2.0
"""Locks and switches of the session at the machine, which are the same in the tiers of the system and in tier `user`."""

from clients import NO_INTERACTION, SECRET, SYSTEM_CANCEL
from machine import eventually


class WithSession:
    """The reader and the keychain of a person who sits at the machine. A part of a test with `WithFprintd`."""

    def refused(self):
        """The status of an evaluation that asks for a finger only."""
        self.evaluate()
        return self.first.end()[1][0]

    def reader_is_free(self):
        done = self.machine.run(
            "busctl", "call", "net.reactivated.Fprint", "/net/reactivated/Fprint/Device/0",
            "net.reactivated.Fprint.Device", "Claim", "s", "bob", check=False)
        return done.returncode == 0

    def assertTouchable(self):
        self.assertEqual(self.read_with_a_touch("any"), SECRET)
        self.await_end()

    def is_locked(self):
        return self.read("free") == NO_INTERACTION


class LocksOfEveryTier:
    """The tests that a tier with sessions passes. A part of a test with `WithSession`."""

    def test_a_locked_screen_ends_the_prompt_and_locks_until_it_is_unlocked(self):
        self.first.begin("app.read", "any", None, True, None, 20)
        self.asked()
        self.seat.set_locked(True)
        self.assertEqual(self.first.end(), SYSTEM_CANCEL)
        eventually(self.is_locked)
        eventually(self.reader_is_free)
        self.seat.set_locked(False)
        eventually(lambda: self.read("free") == SECRET)
        self.assertTouchable()

    def test_the_requests_lock_and_unlock_of_logind_count(self):
        self.machine.run("loginctl", "lock-session", self.seat.id)
        eventually(self.is_locked)
        self.machine.run("loginctl", "unlock-session", self.seat.id)
        eventually(lambda: self.read("free") == SECRET)

    def test_a_switch_of_the_user_during_a_prompt_releases_the_sensor_abuse22(self):
        self.evaluate()
        self.asked()
        eventually(lambda: not self.reader_is_free())
        with self.machine.seat("bob"):
            self.assertEqual(self.first.end()[1][0], SYSTEM_CANCEL)
            eventually(self.reader_is_free)
