# SPDX-License-Identifier: Apache-2.0
"""Tier tpm with a TPM that is as slow as a published firmware TPM, behind a resource manager."""

import pytest
from chip_log import felt, names
from machine import fact
from prompts import PASSCODE
from relay import WithSlowChip
from sensors import WithSensor
from services import RECORDS, SOCKETS
from terminals import Terminal
from test_services_tier_tpm import OTHER, TierTest


class SlowTest(WithSlowChip, TierTest):
    def assertNothingLeft(self):
        """Asserts that the services leave nothing in the TPM when they end."""
        self.stop_services()
        self.machine.run("systemctl", "stop", *SOCKETS)
        self.addCleanup(self.machine.run, "systemctl", "start", *SOCKETS)
        # The relay ends its connection with the last one of the services.
        self.assertEqual(self.left(), [0, 0, 0])


class SensorTest(WithSensor, SlowTest):
    def allow_virtual_hardware(self, answer):
        """The configuration of the tier says it."""


class FeltTests(SensorTest):
    def test_a_signature_costs_what_the_model_says_and_leaves_nothing(self):
        seat = self.enterContext(self.machine.seat("alice"))
        for turn in self.felt(seat):
            fact(f"a signature by {turn.use}, {turn.turn}, with a slow TPM",
                 f"{turn.milliseconds:.0f} ms felt; {turn.bill[0]} commands of {turn.bill[1]} ms")
            with self.subTest(f"{turn.use}, {turn.turn}"):
                # Who answers at once waits for what is prepared, too.
                if turn.turn != "at once":
                    self.assertEqual(turn.bill, felt()[turn.use], names(turn.codes))
                self.assertGreater(turn.milliseconds, turn.bill[1])
        self.assertNothingLeft()


@pytest.mark.long
class PatienceTests(SlowTest):
    """No time limit of Latchkey's ends what only takes long."""

    def test_the_passcode_is_verified_changed_and_recovered(self):
        terminal = self.asking()
        terminal.type("a wrong one\r")
        terminal.expect("is wrong", "2 tries left")
        self.assertReleases(terminal)
        self.change_passcode()
        self.stop_services()
        self.assertReleases(self.asking(), OTHER)
        self.recover(passcode=PASSCODE)
        self.assertReleases(self.asking())
        self.assertNothingLeft()

    def test_the_files_of_authd_are_restored_with_the_code(self):
        self.latchkey("key", "create", "plain", "--enclave")
        self.stop_services()
        self.machine.run("rm", "-r", f"{RECORDS}/1001")
        self.assertNotEqual(self.latchkey("key", "sign", "plain", input=b"a text", check=False).returncode, 0)
        self.recover()
        self.latchkey("key", "sign", "plain", input=b"a text")
        self.assertReleases(self.asking(), OTHER)


class PromptTests(SensorTest):
    def asking_to_sign(self, name, words):
        terminal = self.enterContext(
            Terminal(self.session, "latchkey", "key", "sign", name, "/etc/hostname", "--hex"))
        terminal.expect(words)
        return terminal

    def test_a_program_that_asks_while_another_one_signs_gets_its_signature(self):
        for name, rule in (("finger", "biometry"), ("passcode", "passcode")):
            self.latchkey("key", "create", name, "--enclave", "--protect", rule)
        first = self.asking_to_sign("finger", "Touch the sensor")
        self.finger("touch")
        second = self.asking_to_sign("passcode", "Type your passcode")
        second.type(PASSCODE + "\r")
        for terminal in (first, second):
            self.assertEqual(terminal.end(), 0, terminal.output)

    @pytest.mark.long
    def test_a_person_may_take_almost_a_minute(self):
        """An approval is valid for 60 seconds from a nonce, which is renewed meanwhile."""
        self.latchkey("key", "create", "finger", "--enclave", "--protect", "biometry")
        terminal = self.asking_to_sign("finger", "Touch the sensor")
        terminal.drain(55)
        self.finger("touch")
        self.assertEqual(terminal.end(), 0, terminal.output)
