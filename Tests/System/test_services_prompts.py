# SPDX-License-Identifier: Apache-2.0
"""Prompts on the terminals of SSH sessions: who sees them, as whom they run, and when they end."""

import json
import time

import pytest

from machine import eventually, fact
from prompts import PASSCODE, PromptTest
from services import REFUSED
from terminals import Terminal


class TerminalTests(PromptTest):
    def prompts(self):
        return self.machine.run("pgrep", "-x", "latchkey-prompt", check=False).stdout.split()

    def test_the_process_of_a_prompt_runs_as_the_user_who_is_asked(self):
        self.asking()
        (pid,) = self.prompts()
        status = self.machine.status(pid)
        self.assertEqual((status["Uid"].split(), status["Gid"].split()), (["1001"] * 4, ["1001"] * 4))
        self.assertEqual(status["Groups"].split(), [])
        self.assertEqual([int(status[kind], 16) for kind in ("CapEff", "CapPrm", "CapInh", "CapAmb")], [0] * 4)
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        descriptors = self.machine.descriptors(pid)
        self.assertRegex(descriptors[0], "^/dev/pts/")
        self.assertEqual((descriptors[1], descriptors[2]), (descriptors[0], "/dev/null"))
        self.assertEqual(sorted(descriptors), [0, 1, 2, 3])
        fact("a prompt", f"uid {status['Uid'].split()[0]}, CapEff {status['CapEff']}, terminal {descriptors[0]}")

    def test_another_user_cannot_read_the_process_of_a_prompt(self):
        self.asking()
        (pid,) = self.prompts()
        for user in ("alice", "bob"):
            self.assertNotEqual(self.machine.run("cat", f"/proc/{pid}/environ", user=user, check=False).returncode, 0)

    def test_another_users_terminal_shows_nothing(self):
        with self.machine.session("bob") as bob, Terminal(bob, "cat") as other:
            other.type("of bob\n")
            other.expect("of bob")
            terminal = self.asking()
            self.assertEqual(other.drain(1).strip(), "")
            self.assertReleases(terminal)
            self.assertEqual(other.drain(0.2).strip(), "")

    def test_two_programs_of_a_user_ask_one_after_the_other(self):
        first = self.asking()
        with Terminal(self.session, "latchkey", "get", "token") as second:
            second.expect("Waiting")
            self.assertEqual(len(self.prompts()), 1)
            self.assertNotIn("Type your passcode", second.output)
            self.assertReleases(first)
            second.expect("Type your passcode")
            self.assertReleases(second)

    def test_two_sessions_of_a_user_have_a_prompt_each_at_the_same_time(self):
        with self.machine.session("alice") as other:
            first, second = self.asking(), self.asking(other)
            self.assertEqual(len(self.prompts()), 2)
            with Terminal(other, "latchkey", "get", "token") as third:
                third.expect("Waiting")
                self.assertNotIn("Type your passcode", third.output)
                self.assertEqual(len(self.prompts()), 2)
                self.assertReleases(second)
                third.expect("Type your passcode")
                self.assertReleases(third)
            self.assertReleases(first)
        fact("two sessions of a user", "a prompt each at the same time; one after the other within a session")

    @pytest.mark.promise("abuse.18")
    def test_two_sessions_of_a_user_share_the_tries(self):
        with self.machine.session("alice") as other:
            first, second = self.asking(), self.asking(other)
            for number, terminal in enumerate((first, second, first)):
                terminal.type(f"wrong {number}\r")
                terminal.expect("Try again in" if number == 2 else "is wrong")
            second.expect("Try again in")
            # The delay of five seconds is over at both prompts.
            for terminal in (first, second):
                terminal.expect("Type your passcode")
            self.assertReleases(second)
            self.assertReleases(first)

    def test_two_sessions_of_a_user_can_enter_the_passcode_at_the_same_moment(self):
        with self.machine.session("alice") as other:
            first, second = self.asking(), self.asking(other)
            for terminal in (first, second):
                terminal.type(PASSCODE + "\r")
            for terminal in (first, second):
                self.assertEqual(terminal.end(), 0, terminal.output)
                self.assertTrue(terminal.output.rstrip().endswith("the secret"), terminal.output)

    def test_the_end_of_a_session_ends_its_prompt_only(self):
        with self.machine.session("alice") as other:
            first = self.asking()
            self.asking(other)
            self.assertEqual(len(self.prompts()), 2)
            self.machine.run("loginctl", "terminate-session", other.id)
            eventually(lambda: len(self.prompts()) == 1)
        self.assertReleases(first)

    def test_prompts_of_two_users_are_shown_at_the_same_time(self):
        with self.machine.session("bob") as bob:
            with Terminal(bob, "latchkey", "passcode", "set") as terminal:
                self.prove_account(terminal, "bob")
                terminal.expect("new passcode")
                own = self.asking()
                self.assertEqual(len(self.prompts()), 2)
                self.assertReleases(own)
                for word in ("again", "Checking"):
                    terminal.type("a passcode of bob\r")
                    terminal.expect(word)
                self.assertEqual(terminal.end(), 0, terminal.output)

    def test_without_a_terminal_and_an_agent_the_answer_comes_at_once(self):
        begin = time.monotonic()
        done = self.latchkey("get", "token", check=False)
        seconds = time.monotonic() - begin
        self.assertFails(done, REFUSED, "No prompt can be shown here")
        self.assertLess(seconds, 5)
        fact("without a terminal", f"notInteractive after {seconds * 1000:.0f} ms")

    def test_a_prompt_ends_with_the_program_that_asks(self):
        terminal = self.asking()
        process = int(self.machine.run("pgrep", "-x", "-u", "alice", "latchkey").stdout)
        self.machine.run("kill", "-KILL", str(process))
        terminal.end()
        eventually(lambda: not self.prompts())

        def refusals():
            lines = map(json.loads, self.latchkey("log", "--json").stdout.splitlines())
            return [line for line in lines if line["event"] == "refused"]

        # The process is gone when the refusal is recorded.
        (refusal,) = eventually(refusals)
        self.assertEqual((refusal["caller"], refusal["process"]), ("latchkey", process), refusal)

    def test_a_prompt_ends_with_the_session(self):
        with self.machine.session("alice") as session:
            self.asking(session)
            self.machine.run("loginctl", "terminate-session", session.id)
            eventually(lambda: not self.prompts())
        self.assertReleases(self.asking())

    def test_a_prompt_does_not_say_that_a_program_names_itself(self):
        self.assertNotIn("calls itself", self.asking().output)
