# SPDX-License-Identifier: Apache-2.0
"""Commands that read from a terminal or write to one without a prompt, and the passcode in tier `user`."""

import os
import signal
import termios
import unittest

from store import PROGRAMS, StoreTest
from terminal import LOCAL

ASKED = "Secret for token: "
AGAIN = "The same again: "
PROMPT = "Type your passcode, then press Enter."


class CommandTests(StoreTest):
    settings = ""

    def prepare(self):
        pass

    def test_a_terminating_signal_restores_the_echo(self):
        terminal = self.start("set", "--protect", "none", "token")
        terminal.expect(ASKED)
        self.assertFalse(terminal.modes[LOCAL] & termios.ECHO)
        terminal.kill(signal.SIGTERM)
        self.assertEqual(terminal.end(), -signal.SIGTERM)
        self.assertEqual(terminal.modes[LOCAL], terminal.first_modes[LOCAL])

    def test_an_existing_item_is_refused_before_the_secret_is_typed(self):
        self.latchkey("set", "--protect", "none", "token", input="x")
        terminal = self.start("set", "--protect", "none", "token")
        said = terminal.rest()
        self.assertIn("token exists already", said)
        self.assertNotIn("Secret for", said)
        self.assertEqual(terminal.end(), 73)

    def test_a_background_command_that_prompts_can_be_ended(self):
        terminal = self.start(
            "-c",
            """set -m; "$0" set --protect none token & p=$!; wait $p; echo "stopped by $(kill -l $?)"
                kill %1; while kill -0 $p 2> /dev/null; do :; done; echo "it ended"
            """, f"{PROGRAMS}/latchkey", program="/bin/bash")
        terminal.expect("stopped by TTOU", "it ended")

    def test_a_typed_secret_that_is_too_long_is_refused(self):
        for count in (4097, 4096):
            with self.subTest(count=count):
                terminal = self.start("set", "--protect", "none", "token")
                terminal.expect(ASKED)
                terminal.type("x" * count + "\r")
                if count <= 4096:
                    terminal.expect(AGAIN)
                    terminal.type("x" * count + "\r")
                said = terminal.rest()
                got = self.store.run("get", "token")
                if count > 4096:
                    self.assertIn("4096 bytes", said)
                    self.assertEqual((terminal.end(), got.returncode), (64, 66))
                else:
                    self.assertEqual((terminal.end(), got.stdout), (0, "x" * count), said)

    def typed(self, first, second):
        """Types a secret twice; returns what is shown and the exit status."""
        terminal = self.start("set", "token")
        for asked, line in (ASKED, first), (AGAIN, second):
            terminal.expect(asked)
            terminal.type(line + "\r")
        return terminal.rest(), terminal.end()

    def test_a_typed_secret_is_asked_for_twice_and_its_protection_is_said(self):
        said, status = self.typed("one", "two")
        self.assertEqual((status, self.store.run("get", "token").returncode), (64, 66), said)
        self.assertIn("the two secrets differ", said)
        said, status = self.typed("one", "one")
        self.assertEqual((status, self.latchkey("get", "token")), (0, "one"), said)
        self.assertIn("without a protection: no passcode is set", said)
        self.latchkey("passcode", "set", input="1234\n")
        self.latchkey("delete", "token")
        said, status = self.typed("one", "one")
        self.assertEqual((status, self.store.run("get", "token").returncode), (0, 77), said)
        self.assertIn("a finger, a face or the passcode releases it", said)

    def test_control_c_ends_a_question_with_130_and_escape_with_77(self):
        for key, status in ("\x03", 130), ("\x1b", 77):
            terminal = self.start("set", "token")
            terminal.expect(ASKED)
            terminal.type(key)
            self.assertIn("Nothing was entered", terminal.rest())
            self.assertEqual(terminal.end(), status)
            self.assertEqual(terminal.modes[LOCAL], terminal.first_modes[LOCAL])

    def test_a_key_that_is_no_text_does_not_end_a_hidden_line(self):
        # An arrow, the Delete key and a control character; a tab is a part of the secret.
        said, status = self.typed("to\x1b[D\x1b[3~\x02p\t1", "top\t1")
        self.assertEqual((status, self.latchkey("get", "token")), (0, "top\t1"), said)

    def test_bytes_that_are_not_text_go_to_a_terminal_only_by_force(self):
        self.latchkey("set", "--protect", "none", "token", input="a\x1b[31mb")
        refused = self.start("get", "token")
        said = refused.rest()
        self.assertEqual(refused.end(), 64)
        self.assertNotIn("\x1b[31mb", said)
        forced = self.start("get", "token", "--force")
        self.assertIn("a\x1b[31mb", forced.rest())
        self.assertEqual(self.latchkey("get", "token"), "a\x1b[31mb")

    def test_a_command_says_what_it_has_deleted_or_made(self):
        self.latchkey("set", "--protect", "none", "token", input="x")
        for command, said in (
                (["delete", "token"], "token is deleted."), (["key", "create", "mine"], "The key mine is made."),
                (["key", "delete", "mine", "--yes"], "The key mine is deleted.")):
            terminal = self.start(*command)
            self.assertEqual((terminal.rest(), terminal.end()), (said + "\r\n", 0))

    @unittest.skipIf(os.geteuid() != 0, "only root gives a terminal to another user")
    def test_a_refusal_on_the_terminal_of_another_user_says_whose_it_is(self):
        self.latchkey("passcode", "set", input="1234\n")
        self.latchkey("set", "--protect", "presence", "token", input="x")
        terminal = self.start(
            "-c", 'chown 65534 "$(tty)"; exec "$0" get token', f"{PROGRAMS}/latchkey", program="/bin/sh")
        terminal.expect("No prompt can be shown here: /dev/pts/", " belongs to another user", "script -q /dev/null")
        self.assertEqual(terminal.end(), 77)

    def test_a_key_is_deleted_after_a_word_was_typed(self):
        self.latchkey("key", "create", "mine")
        terminal = self.start("key", "delete", "mine")
        terminal.expect("mine  p256, in the keychain", "Type delete to continue: ")
        terminal.type("no\n")
        terminal.rest()
        self.assertEqual(terminal.end(), 64)
        terminal = self.start("key", "delete", "mine")
        terminal.expect("Type delete to continue: ")
        terminal.type("\x04")
        terminal.rest()
        self.assertEqual(terminal.end(), 77)
        terminal = self.start("key", "delete", "mine")
        terminal.expect("Type delete to continue: ")
        terminal.type("delete\n")
        terminal.rest()
        self.assertEqual((terminal.end(), self.store.run("key", "public", "mine").returncode), (0, 66))

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
        # The present passcode comes first, and the minimum is said before the new one is typed.
        self.assertEqual(self.passcode(
            "change", ("change the passcode of this keychain.", ""), (PROMPT, "0000\r"),
            ("The passcode is wrong.", "\x1b")), 77)
        self.assertEqual(self.passcode(
            "change", (PROMPT, "1234\r"), ("at least 4 characters", "5678\r"), ("again", "5678\r")), 0)
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
            self.latchkey("set", "--protect", "none", name, input=f"secret of {name}")
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
