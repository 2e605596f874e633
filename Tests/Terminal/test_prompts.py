# SPDX-License-Identifier: Apache-2.0
"""The prompt in sentences on the caller's terminal, shown by a process of its own."""

import os
import signal
import termios

from store import ProtectedItemTest, Store
from terminal import LOCAL

TOUCH = "Touch the sensor"


class PromptTests(ProtectedItemTest):
    def get(self):
        return self.start("get", "protected")

    def test_a_finger_releases_the_secret(self):
        terminal = self.get()
        terminal.expect('"latchkey" asks for your fingerprint to "read protected".')
        # The kernel identifies the caller.
        terminal.expect(f'It is process {terminal.process.pid}, "/', TOUCH)
        terminal.type("m")
        terminal.expect("value")
        self.assertEqual(terminal.end(), 0)

    def test_a_reason_is_one_line_of_plain_characters_abuse19(self):
        hostile = ("log in\u201d.\u3164\u2800\u115f The system asks: \"type it\u00bb\u201c\u300d\u202e\u200b\x1b[2J\n"
                   "Latchkey: allowed")
        terminal = self.start("evaluate", "--reason", hostile, program="latchkey-test-client",
                              variables={"LATCHKEY_PROMPT": "plain", "LANG": "C.UTF-8"})
        terminal.expect("log in", "Keys: ")
        shown = next(line for line in terminal.output.split("\n") if "log in" in line)
        for letter in "\u3164\u2800\u115f\u202e\u200b\x1b":
            self.assertNotIn(letter, terminal.output)
        # The quotation marks around the reason are the prompt's.
        reason = shown[shown.index("log in"):].rstrip()[:-2]
        self.assertFalse(set("\u201d\u201c\u00bb\u300d\"") & set(reason), reason)
        self.assertFalse(any(line.startswith("Latchkey: allowed") for line in terminal.output.split("\n")))

    def test_a_passcode_is_not_echoed(self):
        terminal = self.get()
        for _ in range(3):
            terminal.expect(TOUCH)
            terminal.type("x")
        terminal.expect("Type your passcode")
        terminal.type("12\x7f234\r")
        rest = terminal.rest()
        self.assertIn("value", rest)
        self.assertNotIn("1234", rest)
        self.assertEqual(terminal.end(), 0)

    def test_escape_cancels_and_reaches_the_caller(self):
        terminal = self.get()
        terminal.expect(TOUCH)
        terminal.type("\x1b")
        self.assertIn("Authentication was cancelled", terminal.rest())
        self.assertEqual(terminal.end(), 77)

    def test_a_killed_prompt_restores_the_terminal_and_ends_the_request(self):
        terminal = self.get()
        terminal.expect("Latchkey prompt, process ")
        number = int(terminal.expect(TOUCH).split(",")[0].split(".")[0])
        self.assertFalse(terminal.modes[LOCAL] & termios.ECHO, "the prompt disables echo")
        os.kill(number, signal.SIGKILL)
        terminal.expect("ended by the system")
        self.assertEqual(terminal.end(), 77)
        self.assertEqual(terminal.modes[:4], terminal.first_modes[:4])

    def test_a_caller_without_terminal_is_refused_at_once_LA31(self):
        done = self.store.run("get", "protected")
        self.assertEqual((done.returncode, done.stdout), (77, ""))
        self.assertIn("No prompt can be shown here", done.stderr)

    def test_a_killed_caller_ends_its_prompt(self):
        terminal = self.get()
        terminal.expect(TOUCH)
        terminal.kill()
        terminal.end()
        # The next prompt is shown, which is only possible once the other one has ended.
        other = self.get()
        other.expect(TOUCH)
        other.type("m")
        other.expect("value")
        self.assertEqual(other.end(), 0)

    def test_the_lock_survives_a_kill_and_is_released_by_a_prompt_KC14(self):
        self.latchkey("set", "--protect", "none", "plain", input="plain value")
        self.assertEqual(self.latchkey("lock"), "The keychain is locked.\n")
        refused = self.store.run("get", "plain")
        self.assertEqual((refused.returncode, refused.stdout), (77, ""))
        self.assertIn("hint: Unlock it with: latchkey unlock", refused.stderr)
        self.store.crash()
        self.assertIn('"keychainLocked":true', self.latchkey("status", "--json"))
        terminal = self.start("unlock")
        terminal.expect("wants to", "unlock this keychain.", TOUCH)
        terminal.type("m")
        self.assertIn("The keychain is unlocked", terminal.rest())
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.latchkey("get", "plain"), "plain value")

    def test_a_keychain_without_passcode_cannot_be_locked(self):
        other = self.enterContext(Store(self.settings))
        refused = other.run("lock")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("latchkey passcode set", refused.stderr)

    def test_a_command_that_waits_for_another_prompt_says_so(self):
        first = self.get()
        first.expect(TOUCH)
        second = self.get()
        second.expect(f"Waiting: latchkey, process {first.process.pid}, is asking first.")
        first.type("m")
        self.assertEqual(first.end(), 0)
        second.expect(TOUCH)
        second.type("m")
        second.expect("value")
        self.assertEqual(second.end(), 0)

    def test_a_person_who_always_answers_leaves_no_prompt_waiting(self):
        shown = self.get()
        shown.expect(TOUCH)
        self.latchkey("sim", "answer", "always")
        shown.expect("value")
        self.assertEqual(shown.end(), 0)
        later = self.get()
        later.expect("value")
        self.assertEqual(later.end(), 0)
        self.assertEqual(self.start("passcode", "check").end(), 0)

    def test_a_person_who_never_answers_cancels_the_shown_prompt_and_later_ones(self):
        shown = self.get()
        shown.expect(TOUCH)
        self.latchkey("sim", "answer", "never")
        self.assertEqual(shown.end(), 77)
        self.assertEqual(self.get().end(), 77)
        self.assertEqual(self.start("passcode", "check").end(), 77)

    def test_a_scripted_touch_from_another_terminal_answers_the_prompt(self):
        terminal = self.get()
        terminal.expect(TOUCH)
        # This key is processed after the prompt has reported that it is visible, so the sensor is armed from here on.
        terminal.type("x")
        terminal.expect("Not recognised. 2 tries left")
        self.assertEqual(self.latchkey("sim", "touch", "--other", "--json"), '{"delivered":true}\n')
        terminal.expect("Not recognised. One try left")
        self.assertEqual(self.latchkey("sim", "touch"), "A prompt used it.\n")
        terminal.expect("value")
        self.assertEqual(terminal.end(), 0)
