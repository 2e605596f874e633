# SPDX-License-Identifier: Apache-2.0
"""What the model of a terminal shows after text and control sequences were written to it."""

import unittest

from terminal_model import Screen


class TerminalModelTests(unittest.TestCase):
    def shown(self, text, columns=6, rows=3):
        screen = Screen(columns, rows)
        screen.write(text)
        return screen

    def test_lines(self):
        for text, lines in [
            ("ab\r\ncd", ["ab", "cd"]), ("ab\ncd", ["ab", "  cd"]), ("abc\rx", ["xbc"]), ("a\r\n\r\nb", ["a", "", "b"]),
            ("1\r\n2\r\n3\r\n4", ["2", "3", "4"]), ("語a", ["語a"]), ("e\u0301x", ["ex"]),
            ("abcd\r\x1b[K", []), ("ab\r\ncd\x1b[H\x1b[J", []), ("ab\r\ncd\x1b[Ax", ["abx", "cd"]),
            ("ab\r\ncd\r\nef\x1b[2A\rx", ["xb", "cd", "ef"]), ("\x1b[31mred\x1b[0m", ["red"]),
            ("ab\x1b[?1049hxy", ["xy"]), ("ab\x1b[?1049hxy\x1b[?1049l", ["ab"]),
        ]:
            with self.subTest(text=text):
                screen = self.shown(text)
                self.assertEqual((screen.lines, screen.unknown, screen.has_wrapped), (lines, [], False))

    def test_what_a_prompt_may_not_write_is_noticed(self):
        for text, unknown in [
            ("\x1b[2J", ["[2J"]), ("\x1b]", ["]"]), ("\x07", ["control 7"]), ("\x9b", ["control 155"]),
            ("\x1b[?1049l", ["[?1049l"]), ("\x1b[?1049h\x1b[?1049h", ["[?1049h"]),
        ]:
            with self.subTest(text=text):
                self.assertEqual(self.shown(text).unknown, unknown)

    def test_a_line_that_exceeds_the_last_column_has_wrapped(self):
        self.assertFalse(self.shown("123456").has_wrapped)
        screen = self.shown("1234語語")
        self.assertEqual((screen.has_wrapped, screen.lines), (True, ["1234語", "語"]))

    def test_styles_and_the_cursor_are_noted(self):
        self.assertEqual(self.shown("\x1b[1mx\x1b[0m").styles, 2)
        self.assertFalse(self.shown("\x1b[?25l").is_cursor_visible)
        self.assertTrue(self.shown("\x1b[?25l\x1b[?25h").is_cursor_visible)

    def test_a_narrower_window_clips_lines_and_a_lower_one_removes_those_at_the_top(self):
        screen = self.shown("abcdef\r\n2\r\n3")
        screen.resize(3, 2)
        self.assertEqual(screen.lines, ["2", "3"])
        screen.resize(6, 3)
        self.assertEqual(screen.lines, ["2", "3"])
        screen = self.shown("abcdef\x1b[?1049hx")
        screen.resize(3, 3)
        screen.write("\x1b[?1049l")
        self.assertEqual(screen.lines, ["abc"])
