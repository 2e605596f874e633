# SPDX-License-Identifier: Apache-2.0
"""Abuse of a sensor through both services: early touches, misses, changed fingers, and prompts that end."""

import pytest

from clients import (
    CANCELLED, CURRENT_SET, DONE, EVALUATE, LOCK, NO_INTERACTION, SECRET, SYSTEM_CANCEL, UNLOCK,
    ClientTest)
from fingers import LOCKED_OUT, OWNER, TOUCHED, TYPED, ChangedFingers, WithFingers
from machine import eventually, fact
from sensors import WithSensor
from services import STORES

EXPORT, FOLDER = 25, f"{STORES}/1001"


class FingerTest(WithFingers, WithSensor, ClientTest):
    pass


class TouchTests(FingerTest):
    @pytest.mark.promise("abuse.23")
    def test_a_touch_before_the_prompt_is_visible_is_discarded_abuse23(self):
        self.first.begin("app.read", "any", None, True, None, 20)
        number = self.prompts.do("agent.get")[1][0]
        self.finger("touch")
        with self.assertRaisesRegex(RuntimeError, "no reply within the deadline"):
            self.prompts.do("agent.get", 0.5)
        self.prompts.do("agent.event", [3], number)
        self.assertEqual(self.first.end(), CANCELLED)
        self.await_end()
        self.assertEqual(self.read_with_a_touch("any"), SECRET)

    @pytest.mark.promise("abuse.21")
    def test_the_end_of_the_agent_releases_the_sensor_abuse21(self):
        self.first.begin("app.read", "any", None, True, None, 20)
        self.asked()
        self.prompts.stop()
        self.assertEqual(self.first.end(), SYSTEM_CANCEL)
        # A touch of that prompt opens nothing later.
        self.finger("touch")
        self.assertEqual(self.read("any"), NO_INTERACTION)
        self.prompts = self.agent()
        self.assertEqual(self.read_with_a_touch("any"), SECRET)

    def test_without_interaction_a_touch_is_not_asked_for_abuse25(self):
        self.finger("touch")
        self.assertEqual(self.read("any"), NO_INTERACTION)
        with self.assertRaisesRegex(RuntimeError, "no reply within the deadline"):
            self.prompts.do("agent.get", 0.5)

    def lock_and_unlock_by_touch(self):
        self.assertEqual(self.first.do("app.call", LOCK), DONE)
        self.first.begin("app.call", UNLOCK, {0: "", 3: True}, 20)
        self.asked()
        self.finger("touch")
        self.assertEqual(self.first.end(), DONE)
        self.await_end()

    def test_an_unlock_by_touch_is_not_reused_after_its_time_abuse12(self):
        self.lock_and_unlock_by_touch()
        self.evaluate(reuse=10)
        self.assertEqual(self.first.end(), TOUCHED)

        def prompted():
            # Without interaction, only the reuse of the unlock succeeds.
            self.evaluate(reuse=10, interactive=False)
            return self.first.end() != TOUCHED
        self.assertTrue(eventually(prompted, 30))

    def test_an_unlock_by_touch_that_is_reused_exports_nothing(self):
        self.lock_and_unlock_by_touch()
        self.evaluate(reuse=60)
        self.assertEqual(self.first.end(), TOUCHED)
        self.first.begin("app.call", EXPORT, {}, 20)
        self.asked()
        self.finger("touch")
        self.prompts.do("agent.event", [3])
        reply = self.first.end()
        self.assertEqual((reply[0], reply[1][0]), (0, CANCELLED))


class MissTests(FingerTest):
    def miss(self, count):
        """Misses that end their evaluation or leave one prompt, which is then cancelled."""
        self.evaluate()
        self.asked()
        for _ in range(count):
            self.finger("miss")
            self.prompts.do("agent.follow")
        self.prompts.do("agent.event", [3])
        reply = self.first.end()
        self.assertEqual(reply[0], 0)

    def assertLockedOut(self):
        self.evaluate()
        self.assertEqual(self.first.end()[1][0], LOCKED_OUT)

    @pytest.mark.promise("abuse.27")
    def test_five_misses_lock_the_sensor_also_after_kills_and_a_restart_of_the_machine_abuse27(self):
        self.miss(2)
        self.miss(2)
        self.touchable()
        self.miss(2)
        self.miss(2)
        self.miss(1)
        self.assertLockedOut()
        for _ in range(2):
            self.kill_both()
            self.restart()
            self.assertLockedOut()
        self.restart_the_machine()
        self.evaluate()
        self.assertNotEqual(self.first.end(), TOUCHED)
        handle = self.context(self.first)
        with self.typing(self.prompts):
            reply = self.first.do("app.call", EVALUATE, {0: handle, 1: OWNER, 2: {0: "a test", 3: True}}, 20)
        self.assertEqual(reply, TYPED)
        self.touched()
        fact("five misses", "lock the sensor until the passcode, also after kill -9 and a restart of the machine")

    def touchable(self):
        """A touch is accepted, and forgets earlier misses."""
        self.assertEqual(self.read("any", self.touched()), SECRET)

    def restart_the_machine(self):
        self.first.stop()
        self.prompts.stop()
        self.machine.restart()
        self.install_sensor()
        self.restart()


class ChangeTests(ChangedFingers, FingerTest):
    @pytest.mark.promise("abuse.30")
    def test_after_a_replaced_finger_bound_items_are_gone_and_others_stay_abuse30(self):
        self.finger("replace")
        # Until the process of the sensors has told that of the user, which tells latchkeyd, a read without a prompt only fails
        # for want of one.
        answers = []

        def gone():
            answers.append(self.read("set"))
            return answers[-1] != NO_INTERACTION
        self.assertTrue(eventually(gone))
        self.assertNotIn(SECRET, answers)
        self.assertEqual(self.read_with_a_touch("any"), SECRET)
        self.await_end()
        self.assertEqual(self.read_with_a_touch("presence"), SECRET)
        self.await_end()
        self.assertEqual(self.read("free"), SECRET)
        self.assertEqual(self.first.do("app.add", "new", SECRET, CURRENT_SET), DONE)
        self.assertEqual(self.read("new", self.touched()), SECRET)

    def test_fingers_that_change_while_the_new_set_cannot_be_written_open_nothing_bound(self):
        self.assertEqual(self.read("set", self.touched()), SECRET)
        self.stop_services()
        # The store of alice on a small file system of its own, which is then full.
        self.machine.run("sh", "-c", f"mv {FOLDER} /run/moved && mkdir {FOLDER} && "
                         "mount -t tmpfs -o size=600k,mode=700,uid=$(id -u latchkey),gid=$(id -g latchkey) "
                         f"small {FOLDER} && cp -a /run/moved/. {FOLDER}/ && rm -r /run/moved")
        self.addCleanup(self.machine.run, "umount", FOLDER)
        self.addCleanup(self.stop_services)
        self.restart()
        self.assertEqual(self.read("set", self.touched()), SECRET)
        self.machine.run("sh", "-c", f"dd if=/dev/zero of={FOLDER}/filling bs=1k 2>/dev/null; true")
        self.finger("replace")
        self.assertNotEqual(self.read_with_the_new_finger(), SECRET)
        self.machine.run("rm", f"{FOLDER}/filling")
        self.assertNotEqual(self.read_with_the_new_finger(), SECRET)
        self.assertEqual(self.read("free"), SECRET)

    def read_with_the_new_finger(self):
        """What a read of the bound item returns to a person who touches the sensor, if there is a prompt."""
        self.first.begin("app.read", "set", None, True, None, 20)
        try:
            self.prompts.do("agent.await_prompt", 2)
            self.finger("touch")
            self.prompts.do("agent.event", [3])
        except RuntimeError as error:
            self.assertIn("no reply within the deadline", str(error))
        return self.first.end()


del ChangedFingers, FingerTest
