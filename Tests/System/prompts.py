# SPDX-License-Identifier: Apache-2.0
"""Tests in which a person types a passcode at prompts of a session."""

import re

from services import ServiceTest
from terminals import Terminal

PASSCODE = "a passcode of alice 4711"

# Prints how often the text on standard input occurs in the memory of process argv[1].
SEARCH = """
import sys
wanted, found, searched = sys.stdin.buffer.read(), 0, 0
with open(f"/proc/{sys.argv[1]}/maps") as maps, open(f"/proc/{sys.argv[1]}/mem", "rb", 0) as memory:
    for line in maps:
        places, mode = line.split()[:2]
        if "r" not in mode or line.rstrip().endswith(("[vvar]", "[vsyscall]")):
            continue
        begin, end = (int(place, 16) for place in places.split("-"))
        memory.seek(begin)
        try:
            content = memory.read(end - begin)
        except OSError:
            continue
        searched += len(content)
        found += content.count(wanted)
print(found, searched)
"""


class PromptTest(ServiceTest):
    """A session of alice, who has a passcode and a protected item."""

    def setUp(self):
        super().setUp()
        self.remove_stores()
        self.session = self.enterContext(self.machine.session("alice"))
        self.set_passcode(PASSCODE)
        self.latchkey("set", "token", "--protect", "presence", input="the secret")

    def set_passcode(self, passcode):
        with Terminal(self.session, "latchkey", "passcode", "set") as terminal:
            self.prove_account(terminal)
            terminal.expect("new passcode")
            terminal.type(passcode + "\r")
            terminal.expect("again")
            terminal.type(passcode + "\r")
            self.note_code(terminal)
            self.assertEqual(terminal.end(), 0, terminal.output)

    def note_code(self, terminal):
        """Writes down the recovery code, in tiers that have one."""

    def asking(self, session=None, name="token"):
        """A terminal that shows a prompt for the passcode."""
        terminal = self.enterContext(Terminal(session or self.session, "latchkey", "get", name))
        terminal.expect("Type your passcode")
        return terminal

    def assertReleases(self, terminal, passcode=PASSCODE):
        terminal.type(passcode + "\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertTrue(terminal.output.rstrip().endswith("the secret"), terminal.output)

    def find_in_memory(self, unit, text):
        wanted = text if isinstance(text, bytes) else text.encode()
        done = self.machine.run("python3", "-c", SEARCH, self.process_of(unit), input=wanted)
        found, searched = map(int, done.stdout.split())
        self.assertGreater(searched, 1 << 20)
        return found


class CodeWriter:
    """A person who writes the recovery code of tier tpm down; before the class of a test."""

    def note_code(self, terminal):
        terminal.expect("Write this recovery code down", "Enter")
        self.code = re.findall(r"[0-9A-Z]{5}(?:-[0-9A-Z]{5}){3}-[0-9A-Z]{6}", terminal.output)[-1]
        terminal.type("\r")
        terminal.expect("last group")
        terminal.type(self.code[-6:] + "\r")
