# SPDX-License-Identifier: Apache-2.0
"""The prompt that asks whether a program may read an item of another one, on a terminal: the process that shows it, with a
daemon in this process."""

import os
import socket
import termios
import unittest

from deterministic_cbor import decode, encode
from store import PROGRAMS
from terminal import LOCAL, PATIENCE, Terminal
from terminal_model import Screen

# docs/reference/protocol.md: the version of frames, messages and events, and the content of step 7.
WIRE_VERSION = 1
SHOW, UPDATE, DISMISS, EVENT = 0, 1, 2, 3
VISIBLE, CANCEL, INTERRUPT = [0], [3], [13]
CONTENT = [2, 0, 0, False, 0, 7, 0, b"", 0, [""]]
READ_SECRET = 15
CHAIN = "bash ← claude ← gnome-terminal"
BLOCK = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
PLAIN = {"LATCHKEY_PROMPT": "plain", "TERM": "xterm", "LC_ALL": "C.UTF-8"}


class Question:
    """A terminal with the prompt."""

    def __init__(self, variables, label, chain, columns, rows):
        self.connection, other = socket.socketpair()
        self.connection.settimeout(PATIENCE)
        with other:
            # The prompt has its connection to the daemon as descriptor 3.
            self.terminal = Terminal(
                ["/bin/bash", "-c", f"exec {PROGRAMS}/latchkey-prompt 3<&{other.fileno()}"],
                {"PATH": "/usr/bin:/bin", **variables},
                screen=Screen(columns, rows), passed=[other.fileno()])
        self.send([SHOW, [1, READ_SECRET, "gh", "/usr/bin/gh", "", os.getpid(), label, "Cancel", "", "", 0, 3, 0,
                          os.geteuid(), chain, CONTENT]])
        assert self.event() == VISIBLE

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.terminal.__exit__()
        self.connection.close()

    def send(self, message):
        payload = encode(message)
        self.connection.sendall(bytes([WIRE_VERSION]) + len(payload).to_bytes(4, "big") + payload)

    def receive(self, count):
        data = b""
        while len(data) < count:
            piece = self.connection.recv(count - len(data))
            assert piece, "the prompt has closed the connection"
            data += piece
        return data

    def event(self):
        kind, event = decode(self.receive(int.from_bytes(self.receive(5)[1:], "big")))
        assert kind == EVENT
        return event

    def dismiss(self):
        """Ends the prompt; returns every event that it has sent since the last one."""
        self.send([DISMISS, {}])
        events = []
        while header := self.connection.recv(5, socket.MSG_WAITALL):
            events.append(decode(self.receive(int.from_bytes(header[1:], "big")))[1])
        assert self.terminal.end() == 0
        return events


class AnswerTests(unittest.TestCase):
    def ask(self, variables=BLOCK, label="GitHub", chain=CHAIN, columns=100, rows=40):
        question = Question(variables, label, chain, columns, rows)
        self.addCleanup(question.__exit__)
        return question

    def test_a_letter_and_enter_answer_and_the_terminal_is_as_before(self):
        for letter, title, answer in [
            ("o", "Allow once", b"once"), ("U", "Allow until logout", b"session"), ("A", "Always allow", b"always"), ("n", "Never allow", b"never"),
        ]:
            with self.subTest(answer=answer):
                question = self.ask()
                terminal = question.terminal
                terminal.shows("read “GitHub”, which another program stored.")
                terminal.shows("It was started by “bash ← claude ← gnome-terminal”")
                terminal.shows("Answer: nothing chosen yet")
                terminal.type(letter)
                terminal.shows(f"Answer: {title}")
                # Only the first answer is sent.
                terminal.type("\ra\rn\r")
                self.assertEqual(question.event(), [10, answer])
                terminal.shows("Answer: sent")
                self.assertEqual(question.dismiss(), [])
                terminal.shows(lambda screen: not screen.is_alternate and screen.text == "")
                self.assertEqual(terminal.modes[LOCAL] & termios.ICANON, termios.ICANON)
                self.assertEqual(terminal.screen.unknown, [])

    def test_enter_alone_and_text_for_another_program_answer_nothing(self):
        question = self.ask()
        terminal = question.terminal
        for text in "\r", "\r\n", "git commit\r", "ls\r", "a\x7f\r", "n \r", "\x1b[A\r", "1\r", "y\r":
            terminal.type(text)
        # The first event is that of the last choice.
        terminal.type("aanx")
        terminal.shows("Answer: nothing chosen yet")
        terminal.type("nao")
        terminal.shows("Answer: Allow once")
        terminal.type("\r")
        self.assertEqual(question.event(), [10, b"once"])

    def test_escape_and_ctrl_c_cancel_also_after_a_choice(self):
        for key, event in ("\x1b", CANCEL), ("\x03", INTERRUPT):
            question = self.ask()
            question.terminal.type("a")
            question.terminal.shows("Answer: Always allow")
            question.terminal.type(key)
            self.assertEqual(question.event(), event)

    def test_a_screen_reader_reads_sentences(self):
        question = self.ask(PLAIN)
        terminal = question.terminal
        terminal.expect(
            "“gh” wants to read “GitHub”, which another program stored.",
            "It was started by “bash”, started by “claude”, started by “gnome-terminal”.",
            "May it read this item? “Allow until logout” also ends when the keychain is locked.",
            "“Always allow” and “Never allow” are stored", "or in the settings.",
            "This is a courtesy among your own programs: one of them can act as another. Keys: O for Allow once",
            "Enter for Confirm, Esc/Ctrl-C for Cancel.")
        self.assertNotIn("←", terminal.output)
        terminal.type("a")
        terminal.expect("Always allow: press Enter to confirm.")
        terminal.type("x")
        terminal.expect("Nothing is chosen.")
        terminal.type("n\r")
        terminal.expect("Never allow: press Enter to confirm.", "The answer was sent.")
        self.assertEqual(question.event(), [10, b"never"])
        self.assertEqual(question.dismiss(), [])
        self.assertTrue(terminal.output.rstrip().endswith("The Latchkey prompt is over."))

    def test_the_question_fits_every_window(self):
        for columns, rows in (100, 40), (80, 24), (40, 24), (40, 16), (80, 9):
            with self.subTest(columns=columns, rows=rows):
                question = self.ask(
                    label="a long label " * 18, chain=" ← ".join(["program"] * 23), columns=columns, rows=rows)
                terminal = question.terminal
                terminal.shows(lambda screen: "Cancel" in screen.text)
                seen = " ".join(line.lstrip("│ ") for line in terminal.screen.lines)
                for words in ("“gh” wants to", "…”, which another program stored.", "May it read this item?",
                              "U Allow until logout", "N Never allow"):
                    self.assertIn(words, seen)
                self.assertFalse(terminal.screen.has_wrapped)

    def test_only_text_of_label_and_chain_is_written(self):
        hostile = "x\x1b]0;title\x07\x9b2J\r\nAnswer: sent"
        for variables in BLOCK, PLAIN, {"TERM": "xterm", "LC_ALL": "C"}:
            question = self.ask(variables, label=hostile, chain=f"{hostile} ← vi")
            terminal = question.terminal
            terminal.expect("Cancel")
            for sequence in "\x1b]", "\x07", "\x9b", "\nAnswer: sent":
                self.assertNotIn(sequence, terminal.output)
