# SPDX-License-Identifier: Apache-2.0
"""Commands that read from a terminal or write to one without a prompt, and the passcode in tier `user`."""

import signal
import termios

from store import PROGRAMS, StoreTest
from terminal import LOCAL

ASKED = "Secret for token: "
PROMPT = "Type your passcode, then press Enter."


class CommandTests(StoreTest):
    settings = ""

    def prepare(self):
        pass

    def test_a_terminating_signal_restores_the_echo(self):
        terminal = self.start("set", "token")
        terminal.expect(ASKED)
        self.assertFalse(terminal.modes[LOCAL] & termios.ECHO)
        terminal.kill(signal.SIGTERM)
        self.assertEqual(terminal.end(), -signal.SIGTERM)
        self.assertEqual(terminal.modes[LOCAL], terminal.first_modes[LOCAL])

    def test_an_existing_item_is_refused_before_the_secret_is_typed(self):
        self.latchkey("set", "token", input="x")
        terminal = self.start("set", "token")
        said = terminal.rest()
        self.assertIn("token exists already", said)
        self.assertNotIn("Secret for", said)
        self.assertEqual(terminal.end(), 73)

    def test_a_background_command_that_prompts_can_be_ended(self):
        terminal = self.start(
            "-c",
            f"""set -m; {PROGRAMS}/latchkey set token & p=$!; wait $p; echo "stopped by $(kill -l $?)"
                kill %1; while kill -0 $p 2> /dev/null; do :; done; echo "it ended"
            """, program="/bin/bash")
        terminal.expect("stopped by TTOU", "it ended")

    def test_a_typed_secret_that_is_too_long_is_refused(self):
        for count in (4097, 4096):
            with self.subTest(count=count):
                terminal = self.start("set", "token")
                terminal.expect(ASKED)
                terminal.type("x" * count + "\r")
                said = terminal.rest()
                got = self.store.run("get", "token")
                if count > 4096:
                    self.assertIn("4096 bytes", said)
                    self.assertEqual((terminal.end(), got.returncode), (64, 66))
                else:
                    self.assertEqual((terminal.end(), got.stdout), (0, "x" * count), said)

    def passcode(self, verb, *lines):
        """Runs `latchkey passcode` and types each line when its question was shown; returns the exit status."""
        terminal = self.start("passcode", verb)
        for asked, typed in lines:
            terminal.expect(asked)
            terminal.type(typed)
        terminal.rest()
        return terminal.end()

    def test_a_passcode_is_set_changed_checked_and_removed(self):
        self.assertIn("at least 4 characters", self.store.run("passcode", "set", input="123\n").stderr)
        self.latchkey("passcode", "set", input="1234\n")
        self.assertEqual(self.store.run("passcode", "set", input="1234\n").returncode, 77)
        # No prompt can be shown.
        self.assertEqual(self.store.run("passcode", "remove").returncode, 77)
        self.assertEqual(self.passcode(
            "change", ("Use at least 6 digits or 8 characters", ""), ("New passcode: ", "5678\r"),
            ("The same again: ", "5678\r"), ("change the passcode of this keychain.", ""), (PROMPT, "0000\r"),
            ("The passcode is wrong.", "\x1b")), 77)
        self.assertEqual(self.passcode(
            "change", ("New passcode: ", "5678\r"), ("The same again: ", "5678\r"), (PROMPT, "1234\r")), 0)
        self.assertEqual(self.passcode("check", (PROMPT, "5678\r")), 0)
        self.assertEqual(self.passcode("remove", ("remove the passcode of this keychain", ""), (PROMPT, "5678\r")), 0)
        self.assertIn('"passcode":false', self.latchkey("status", "--json"))

    def test_wrong_passcodes_delay_entry_and_the_prompt_counts_down_LA30(self):
        self.latchkey("passcode", "set", input="1234\n")
        self.assertEqual(self.passcode(
            "check", (PROMPT, "0000\r"), ("The passcode is wrong.", "0001\r"), ("The passcode is wrong.", "0002\r")), 77)
        # While entry is delayed, a passcode is rejected without being checked and does not count.
        self.assertEqual(self.passcode("check", ("Try again in ", "9999\r"), (PROMPT, "1234\r")), 0)

    def test_the_progress_of_a_check_is_shown_and_erased(self):
        for name in "one", "two":
            self.latchkey("set", name, input=f"secret of {name}")
        terminal = self.start("check")
        shown = terminal.rest()
        self.assertEqual(terminal.end(), 0)
        self.assertIn("of 5", shown)
        self.assertIn("\r\x1b[KNo problem found", shown)

    def test_doctor_shows_colours_unless_no_color_is_set(self):
        for variables, is_coloured in ({}, True), ({"NO_COLOR": "1"}, False):
            shown = self.start("doctor", variables=variables).rest()
            self.assertIn("SDK", shown)
            self.assertEqual("\x1b[32mok\x1b[0m" in shown, is_coloured, shown)
