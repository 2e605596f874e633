# SPDX-License-Identifier: Apache-2.0
"""`latchkey ssh-agent` in the background, and programs at a terminal that ask it: the prompt is on their terminal."""

import pathlib
import re
import shutil
import subprocess
import termios

import pytest

from store import PROGRAMS, StoreTest
from terminal import LOCAL
from test_prompts import TOUCH

KEYGEN, PROGRAM = "/usr/bin/ssh-keygen", PROGRAMS + "/latchkey"


class AskingTerminalTests(StoreTest):
    def prepare(self):
        super().prepare()
        self.latchkey("key", "create", "--ssh", "work")
        self.store.write("work.pub", self.latchkey("key", "public", "work", "--format", "ssh"))
        self.store.write("message", "a message")
        self.begin(PROGRAM)
        self.command = ("-Y", "sign", "-n", "file", "-f", self.store.file("work.pub"), self.store.file("message"))

    def begin(self, program):
        """Starts an agent in the background, which is asked from now on."""
        def run(*arguments):
            return subprocess.run([program, "ssh-agent", *arguments], env=self.store.environment, capture_output=True,
                                  text=True, timeout=60).stdout
        started = run("--sh")
        self.addCleanup(run, "--kill")
        self.variables = {"SSH_AUTH_SOCK": re.search("SSH_AUTH_SOCK=([^;]+);", started)[1]}

    def sign(self, program=KEYGEN, **options):
        return self.start(*self.command, program=program, variables=self.variables, **options)

    def signature(self):
        return pathlib.Path(self.store.file("message.sig"))

    def assertRefused(self, terminal):
        self.assertNotEqual(terminal.end(), 0)
        self.assertIn("agent refused operation", terminal.output)
        self.assertNotIn("asks for", terminal.output)
        self.assertFalse(self.signature().exists())

    def test_a_signature_is_released_at_the_terminal_of_the_program_that_asked(self):
        terminal = self.sign()
        terminal.expect('"ssh-keygen" asks for your fingerprint to "sign data of namespace file, asked by /usr/bin/ssh-keygen')
        terminal.expect(f"It is process {terminal.process.pid}, ", TOUCH)
        terminal.type("m")
        self.assertEqual(terminal.end(), 0, terminal.output)
        with open(self.store.file("message"), "rb") as message:
            done = subprocess.run([KEYGEN, "-Y", "check-novalidate", "-n", "file", "-s", self.signature()], stdin=message,
                                  capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_program_without_a_terminal_has_no_prompt(self):
        done = subprocess.run([KEYGEN, *self.command], env={**self.store.environment, **self.variables}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("agent refused operation", done.stderr)

    @pytest.mark.promise("ssh.terminal")
    def test_a_terminal_that_a_program_reads_by_key_has_no_prompt(self):
        """As that of `ssh` in a session, to which the agent is forwarded: it would read what is typed."""
        self.assertRefused(self.sign(edits_lines=True))

    @pytest.mark.promise("ssh.terminal")
    def test_what_ssh_passes_on_without_a_bound_session_has_no_prompt(self):
        shutil.copy(KEYGEN, self.store.file("ssh"))
        self.assertRefused(self.sign(program=self.store.file("ssh")))

    @pytest.mark.promise("ssh.terminal")
    def test_another_program_than_the_agent_of_the_installation_names_none(self):
        """Otherwise its prompts could have the name of any program that the person trusts."""
        self.latchkey("ssh-agent", "--kill")
        shutil.copy(PROGRAM, self.store.file("latchkey"))
        self.begin(self.store.file("latchkey"))
        self.assertRefused(self.sign())

    def test_the_prompt_ends_with_the_program_that_asked(self):
        terminal = self.sign()
        terminal.expect(TOUCH)
        self.assertFalse(terminal.modes[LOCAL] & termios.ECHO, "the prompt disables echo")
        terminal.kill()
        terminal.rest()
        self.assertEqual(terminal.modes[:4], terminal.first_modes[:4])
