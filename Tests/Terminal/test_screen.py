# SPDX-License-Identifier: Apache-2.0
"""The prompt as shown on a terminal, while the window is resized, and how it leaves the terminal."""

import os
import re
import signal
import termios

import pytest

from store import PROGRAMS, ProtectedItemTest
from terminal import LOCAL

# docs/reference/protocol.md: lines of a reason that a prompt shows.
REASON_LINES = 6


def is_drawn(screen):
    return screen.last.startswith("╰")


class PromptScreenTests(ProtectedItemTest):
    def get(self, name="protected", variables=None, columns=100, rows=40, **options):
        variables = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} if variables is None else variables
        return self.start("get", name, variables=variables, columns=columns, rows=rows, **options)

    def drawn(self, **options):
        terminal = self.get(**options)
        terminal.shows(is_drawn)
        return terminal

    def finish(self, terminal):
        """Authenticates; the caller succeeds and no part of the prompt remains on the screen."""
        terminal.type("m")
        terminal.shows(lambda screen: not screen.is_alternate and screen.last == "value")
        screen = terminal.screen
        self.assertTrue(screen.is_cursor_visible)
        self.assertEqual(screen.unknown, [])
        self.assertEqual([line for line in screen.lines if line], ["value"])
        self.assertEqual(terminal.end(), 0)

    def test_the_block_fits_the_window_and_is_removed_completely(self):
        for columns in (20, 40, 80, 200):
            with self.subTest(columns=columns):
                terminal = self.drawn(columns=columns, rows=30)
                seen = " ".join(terminal.screen.lines)
                for words in ("latchkey” asks", "“read", "process", "Touch the sensor.", "3 tries left.", "Cancel"):
                    self.assertIn(words, seen)
                self.assertFalse(terminal.screen.has_wrapped)
                self.assertTrue(terminal.screen.is_alternate)
                terminal.type("x")
                terminal.shows(lambda screen: is_drawn(screen) and any("Not recognised." in line for line in screen.lines))
                terminal.shows("P Enter")
                self.finish(terminal)

    def test_the_block_is_redrawn_cleanly_after_a_resize(self):
        # With and without an alternate screen.
        for kind in ("xterm-256color", "linux"):
            terminal = self.drawn(variables={"TERM": kind, "LC_ALL": "C.UTF-8"}, columns=80, rows=30)
            for columns, rows in (40, 30), (20, 30), (200, 30), (80, 12), (81, 30):
                width = min(74, columns - 1)

                def is_right(screen):
                    # Checked together, because the block may be partly redrawn.
                    return ([len(line) for line in screen.lines if line.startswith("╭")] == [width]
                            and [len(line) for line in screen.lines if line.startswith("╰")] == [width]
                            and is_drawn(screen) and sum("Touch the sensor." in line for line in screen.lines) == 1)

                with self.subTest(kind=kind, columns=columns, rows=rows):
                    terminal.resize(columns, rows)
                    terminal.shows(is_right)
                    self.assertFalse(terminal.screen.has_wrapped)
            self.finish(terminal)

    def test_no_colour_suppresses_styles(self):
        for more, is_styled in ({}, True), ({"NO_COLOR": "1"}, False):
            terminal = self.drawn(variables={"TERM": "xterm", "LC_ALL": "C.UTF-8", **more})
            self.assertEqual(terminal.screen.styles > 0, is_styled)
            self.finish(terminal)

    def test_a_plain_prompt_writes_one_line_per_change(self):
        for variables in {"LATCHKEY_PROMPT": "plain", "TERM": "xterm"}, {"TERM": "dumb"}, {}:
            with self.subTest(variables=variables):
                terminal = self.get(variables=variables)
                terminal.expect("Touch the sensor. 3 tries left. Keys: Esc/Ctrl-C for Cancel, P for Enter Passcode.")
                terminal.type("x")
                terminal.expect("Not recognised. 2 tries left. Touch the sensor.", "P for Enter Passcode.")
                terminal.type("p")
                terminal.expect(
                    "Type your passcode, then press Enter. It is not shown while you type. 3 tries left.")
                terminal.type("9\r")
                terminal.expect("Checking the passcode.", "The passcode is wrong. 2 tries left.")
                terminal.type("1234\r")
                terminal.shows(lambda screen: screen.last == "value")
                self.assertEqual(
                    terminal.screen.lines[-3:], ["Checking the passcode.", "The Latchkey prompt is over.", "value"])
                self.assertEqual((terminal.screen.unknown, terminal.screen.styles), ([], 0))
                self.assertEqual(terminal.end(), 0)

    @pytest.mark.promise("abuse.8")
    def test_an_invalid_variable_of_the_caller_is_ignored_abuse8(self):
        # The caller's variables are only used if they are short and printable.
        for kind in "xterm\x1b[31m", "xterm" + "x" * 100:
            terminal = self.get(variables={"TERM": kind})
            terminal.expect("Touch the sensor. 3 tries left. Keys: Esc/Ctrl-C for Cancel, P for Enter Passcode.")
            terminal.type("m")
            terminal.expect("value")
            self.assertEqual(terminal.end(), 0)

    @pytest.mark.promise("abuse.19")
    def test_hostile_text_is_shown_without_control_characters_abuse19(self):
        # The name of an item is part of the reason.
        name = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202edrowssap\u200b" + "語🔑 " * 1000
        self.latchkey("set", name, "--protect", "presence", input="value")
        for columns in (20, 40, 80, 200):
            with self.subTest(columns=columns):
                terminal = self.drawn(name=name, columns=columns)
                screen = terminal.screen
                self.assertEqual((screen.unknown, screen.has_wrapped), ([], False))
                # Program and path are quoted as well, in lines before and after the reason.
                start = next(index for index, line in enumerate(screen.lines) if "\ufffd[2J" in line)
                reason = []
                for line in screen.lines[start:]:
                    if line == "│":
                        break
                    reason.append(line)
                self.assertIn(len(reason), range(1, REASON_LINES + 1), reason)
                self.finish(terminal)

    def test_the_prompt_writes_only_ascii_without_utf8(self):
        terminal = self.get(variables={"TERM": "xterm", "LC_ALL": "C"})
        terminal.shows(lambda screen: screen.last.startswith("+-"))
        self.assertTrue(terminal.screen.text.isascii())
        self.finish(terminal)

    def test_the_face_permission_is_requested_first_LA07(self):
        self.latchkey("sim", "sensor", "face")
        self.latchkey("sim", "enroll")
        terminal = self.get()
        terminal.shows("Y Allow   N Do Not Allow   Esc/Ctrl-C Cancel")
        terminal.shows("It uses the camera for “Latchkey shows")
        terminal.type("y")
        terminal.shows("Look at the sensor.")
        self.finish(terminal)

    # The end of a prompt

    def prompter(self, terminal):
        """The process that shows the prompt."""
        return int(re.search("Latchkey prompt, process ([0-9]+)", terminal.screen.text)[1])

    @pytest.mark.promise("terminal.restored")
    def test_a_terminated_prompt_restores_screen_and_modes(self):
        for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL:
            with self.subTest(signal=number):
                terminal = self.drawn()
                self.assertNotEqual(terminal.modes[LOCAL], terminal.first_modes[LOCAL])
                os.kill(self.prompter(terminal), number)
                terminal.shows("ended by the system")
                self.assertEqual(terminal.end(), 77)
                self.assertEqual(terminal.modes[:4], terminal.first_modes[:4])
                screen = terminal.screen
                self.assertTrue(screen.is_cursor_visible and not screen.is_alternate)
                self.assertNotIn("Touch the sensor", screen.text)

    def test_control_z_is_ignored_and_control_c_ends_with_130(self):
        terminal = self.drawn()
        terminal.type("\x1a\x1c\x13x")
        terminal.shows("Not recognised. 2 tries left.")
        with open(f"/proc/{terminal.process.pid}/stat") as file:
            self.assertNotIn(file.read().rsplit(")", 1)[1].split()[0], "Tt")
        terminal.type("\x03")
        terminal.shows("Authentication was cancelled")
        self.assertEqual(terminal.end(), 130)

    def test_a_stopped_caller_loses_its_prompt_LA32(self):
        terminal = self.drawn()
        terminal.kill(signal.SIGSTOP)
        terminal.shows(lambda screen: not screen.is_alternate and not screen.lines)
        terminal.kill(signal.SIGCONT)
        terminal.shows("ended by the system")
        self.assertEqual(terminal.end(), 77)

    def test_a_shell_that_takes_the_terminal_keeps_its_modes_LA32(self):
        terminal = self.drawn()
        # Sets other modes than the prompt's, as a line editor would.
        taken = terminal.modes
        taken[LOCAL] |= termios.ISIG
        terminal.modes = taken
        terminal.shows("ended by the system")
        self.assertEqual(terminal.end(), 77)
        self.assertEqual(terminal.modes[LOCAL], taken[LOCAL])

    def test_a_background_caller_takes_no_keys_from_a_line_editor_LA31(self):
        # If both read keys, parts of a passcode could reach the shell's history.
        terminal = self.start(
            "-c", 'set -m; "$0" get protected & wait', f"{PROGRAMS}/latchkey", program="/bin/sh", variables={"TERM": "xterm"},
            columns=100, edits_lines=True)
        terminal.shows("No prompt can be shown here")
        self.assertNotIn("Touch the sensor", terminal.screen.text)
        terminal.end()

    def test_a_hangup_of_the_terminal_ends_the_request(self):
        terminal = self.drawn()
        terminal.hang_up()
        # The hang-up ends the caller and with it the prompt, so that the next one can be shown.
        terminal.process.wait(20)
        self.finish(self.drawn())

    def test_arrow_keys_do_not_cancel(self):
        terminal = self.drawn()
        for key in "\x1b[A", "\x1bOP", "\x1b[1;5C":
            terminal.type(key)
        terminal.type("x")
        terminal.shows("Not recognised. 2 tries left.")
        self.finish(terminal)
