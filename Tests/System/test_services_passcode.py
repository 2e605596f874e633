# SPDX-License-Identifier: Apache-2.0
"""The passcode that is typed at prompts: what it releases, where it is, and that each wrong one counts."""

import subprocess

from machine import fact
from prompts import PASSCODE, PromptTest
from services import AUTHORITY, KEYCHAIN, SERVICES
from terminals import Terminal


class PasscodeTests(PromptTest):
    def test_a_passcode_typed_at_the_prompt_releases_an_item(self):
        self.assertTrue(self.status()["passcode"])
        terminal = self.asking()
        self.assertReleases(terminal)
        self.assertNotIn(PASSCODE, terminal.output)

    def test_a_wrong_passcode_releases_nothing(self):
        terminal = self.asking()
        terminal.expect("3 tries left")
        terminal.type("a wrong one\r")
        terminal.expect("is wrong", "2 tries left")
        self.assertNotIn("the secret", terminal.output)
        self.assertReleases(terminal)

    def miss(self, *passcodes):
        """Types wrong passcodes at one prompt, which remains."""
        terminal = self.asking()
        for left, passcode in zip(("2 tries left", "One try left"), passcodes):
            terminal.type(passcode + "\r")
            terminal.expect(left, "Type your passcode")
        return terminal

    def assertTwoMissesAreCounted(self):
        """The third wrong passcode in sequence delays the next entry, and neither the first nor the second one does."""
        terminal = self.asking()
        terminal.type("a third wrong one\r")
        terminal.expect("Too many wrong passcodes")

    def test_without_a_restart_the_third_wrong_passcode_delays_the_next_one(self):
        self.miss("a wrong one", "a second wrong one").type("\x03")
        self.assertTwoMissesAreCounted()

    def test_the_count_survives_a_restart_of_both_services(self):
        self.miss("a wrong one", "a second wrong one")
        # Otherwise this program repeats its read afterwards, and its prompt comes first.
        self.machine.run("pkill", "-KILL", "-x", "latchkey", check=False)
        self.stop_services()
        self.assertTwoMissesAreCounted()

    def test_the_count_survives_the_sudden_end_of_latchkeyd(self):
        terminal = self.miss("a wrong one", "a second wrong one")
        self.kill_service(KEYCHAIN)
        # The client repeats a read that was not answered, and the prompt is shown again.
        terminal.expect("The Latchkey prompt is over", "Type your passcode")
        terminal.type("a third wrong one\r")
        terminal.expect("Too many wrong passcodes")

    def test_the_count_survives_the_sudden_end_of_latchkey_authd(self):
        self.miss("a wrong one", "a second wrong one")
        self.kill_service(AUTHORITY)
        self.kill_service(KEYCHAIN)
        self.assertTwoMissesAreCounted()

    def test_what_only_the_passcode_opens_is_stored_without_it_and_outlives_it(self):
        # The services have not seen the passcode since they started, and this command has no terminal for a prompt.
        self.stop_services()
        self.latchkey("set", "sealed", "--protect", "passcode", input="the secret")
        self.assertReleases(self.asking(name="sealed"))
        with Terminal(self.session, "latchkey", "passcode", "remove") as terminal:
            # Before the names of all apps' items are shown, and before the passcode is removed.
            for _ in range(2):
                terminal.expect("Type your passcode")
                terminal.type(PASSCODE + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertIn("No passcode is set", self.latchkey("get", "sealed", check=False).stderr)
        self.set_passcode("another passcode 815")
        self.stop_services()
        self.assertReleases(self.asking(name="sealed"), "another passcode 815")

    def test_a_removal_that_was_interrupted_is_completed_by_another_one(self):
        # The power is lost after latchkeyd has removed the passcode, and before latchkey-authd has.
        self.stop_services()
        record = "/var/lib/latchkey-authd/1001/passcodes"
        self.machine.run("cp", "--preserve", record, "/var/tmp/passcodes")
        with Terminal(self.session, "latchkey", "passcode", "remove") as terminal:
            for _ in range(2):
                terminal.expect("Type your passcode")
                terminal.type(PASSCODE + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.stop_services()
        self.machine.run("cp", "--preserve", "/var/tmp/passcodes", record)
        self.assertIn("latchkey passcode remove", self.latchkey("passcode", "change", check=False).stderr)
        with Terminal(self.session, "latchkey", "passcode", "remove") as terminal:
            terminal.expect("Type your passcode")
            terminal.type(PASSCODE + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.set_passcode(PASSCODE)
        self.assertReleases(self.asking())

    def test_cancelling_releases_nothing_and_is_not_counted(self):
        terminal = self.asking()
        terminal.type("\x03")
        self.assertNotEqual(terminal.end(), 0)
        self.assertNotIn("the secret", terminal.output)
        self.asking().expect("3 tries left")

    def test_the_end_of_latchkeyd_during_a_check_does_not_end_latchkey_authd(self):
        terminal = self.asking()
        keychain, authority = (self.process_of(unit) for unit in (KEYCHAIN, AUTHORITY))
        # Started before the check, which may take less time than that.
        killer = self.machine.start("sh", "-c", f"read line && kill -KILL {keychain}", stdin=subprocess.PIPE)
        terminal.type(PASSCODE + "\r")
        terminal.expect("Checking")
        killer.communicate(b"now\n", timeout=30)
        try:
            terminal.expect("Type your passcode")
            self.assertReleases(terminal)
            self.assertEqual(self.process_of(AUTHORITY), authority)
        finally:
            self.stop_services()

    def test_the_passcode_is_in_the_memory_of_neither_service_after_it_was_typed(self):
        self.assertReleases(self.asking())
        # The search finds what is there.
        self.assertGreater(self.find_in_memory(KEYCHAIN, "/var/lib/latchkey/1001"), 0)
        for unit in SERVICES:
            self.assertEqual(self.find_in_memory(unit, PASSCODE), 0, unit)
        fact("a typed passcode", "in the memory of neither service")

    def test_a_passcode_can_be_changed_at_the_prompt(self):
        with Terminal(self.session, "latchkey", "passcode", "change") as terminal:
            terminal.expect("Type your passcode")
            terminal.type(PASSCODE + "\r")
            terminal.expect("new passcode")
            terminal.type("another passcode 815\r")
            terminal.expect("again")
            terminal.type("another passcode 815\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        terminal = self.asking()
        terminal.type(PASSCODE + "\r")
        terminal.expect("is wrong")
        self.assertReleases(terminal, "another passcode 815")
