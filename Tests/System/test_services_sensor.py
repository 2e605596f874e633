# SPDX-License-Identifier: Apache-2.0
"""What a touch of a sensor releases, at a prompt on a terminal."""

import pytest

from machine import fact
from prompts import PASSCODE, PromptTest
from sensors import WithSensor
from terminals import Terminal


class TouchTests(WithSensor, PromptTest):
    def asked_for_a_finger(self):
        terminal = self.enterContext(Terminal(self.session, "latchkey", "get", "token"))
        terminal.expect("ouch")
        return terminal

    def test_a_touch_releases_an_item(self):
        terminal = self.asked_for_a_finger()
        self.finger("touch")
        self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertTrue(terminal.output.rstrip().endswith("the secret"), terminal.output)
        fact("a scripted sensor", "a touch released an item")

    def test_another_finger_releases_nothing_and_is_counted(self):
        terminal = self.asked_for_a_finger()
        for _ in range(3):
            self.finger("miss")
        terminal.expect("asscode")
        self.assertReleases(terminal, PASSCODE)

    @pytest.mark.promise("abuse.24")
    def test_a_virtual_sensor_releases_nothing_unless_an_administrator_allows_it_abuse24(self):
        self.allow_virtual_hardware("no")
        self.stop_services()
        terminal = self.asked_for_a_finger()
        self.finger("touch")
        self.assertNotEqual(terminal.end(), 0, terminal.output)
        self.assertNotIn("the secret", terminal.output)
