# SPDX-License-Identifier: Apache-2.0
"""The whole chain with its real parts: a finger on a reader of libfprint, fprintd, latchkey-authd, a TPM, latchkeyd, an
app, and the window of the program that shows prompts."""

import subprocess

from desktops import WithDesktop
from machine import RELEASE, fact
from prints import WithFingerImages
from test_services_tier_tpm import TierTest

APP, VAULT = RELEASE / "latchkey-test-client", "/usr/bin/vault"
NAME, SECRET, REASON = "safe", "what is in the safe", "open the safe in the cellar"
OWN, STRANGER, NEXT = 1, 2, 3


class ChainTest(WithFingerImages, WithDesktop, TierTest):
    """alice sits at the machine, and an app has a secret and a key for the finger that is enrolled now."""

    def setUp(self):
        if not APP.exists():
            self.skipTest("no app: run `make build PART='services testing'` first")
        super().setUp()
        self.machine.copy(APP, VAULT)
        self.addCleanup(self.machine.run, "rm", "-f", VAULT)
        self.window = self.desktop(self.seat)
        filling = self.vault("fill", NAME)
        self.assertEqual(filling.communicate(SECRET + "\n", timeout=30)[0], "kept 0, key made\n")

    def vault(self, *argv):
        """Starts the app in the session at the machine, without a terminal."""
        process = self.seat.start(VAULT, *argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def asked(self, verb):
        """An app for which the window asks; it names the program that the kernel names, and the reason."""
        process = self.vault(verb, NAME, REASON)
        self.window.do("desktop.reads", "“vault”", REASON)
        return process

    def ends(self, process):
        return process.communicate(timeout=30)[0].strip()


class ChainTests(ChainTest):
    def test_the_enrolled_finger_opens_the_secret_and_no_other_finger_does(self):
        opening = self.asked("open")
        self.picture(self.window, "chain-asking")
        self.lay(STRANGER)
        self.window.do("desktop.reads", "“vault”", "Not recognised")
        self.picture(self.window, "chain-stranger")
        self.assertIsNone(opening.poll())
        self.lay(OWN)
        self.assertEqual(self.ends(opening), f"opened 0 {SECRET}")
        self.window.do("desktop.is_gone")
        fact("the whole chain", "a picture of a finger: libfprint, fprintd, authd, swtpm, latchkeyd, an app; GTK window")

    def test_the_enrolled_finger_releases_one_signature_of_the_TPM(self):
        for _ in range(2):
            signing = self.asked("stamp")
            self.lay(STRANGER)
            self.window.do("desktop.reads", "Not recognised")
            self.lay(OWN)
            self.assertEqual(self.ends(signing), "signed")
            self.window.do("desktop.is_gone")

    def test_without_the_finger_nothing_is_released(self):
        for verb, refusal in (("open", "opened -128 nothing"), ("stamp", "refused")):
            refused = self.asked(verb)
            self.lay(STRANGER)
            self.window.do("desktop.reads", "Not recognised")
            self.window.do("desktop.presses", "Cancel")
            self.assertIn(refusal, self.ends(refused))
            self.window.do("desktop.is_gone")

    def test_secret_and_key_end_when_the_finger_is_replaced_under_its_name(self):
        # Nor are they back with the finger.
        for finger in (NEXT, OWN):
            self.enroll(finger)
            self.assertEqual(self.ends(self.vault("open", NAME, REASON)), "opened -25300 nothing")
            self.assertIn("LocalAuthentication Code=-1", self.ends(self.vault("stamp", NAME, REASON)))


del ChainTest, TierTest
