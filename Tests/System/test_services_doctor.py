# SPDX-License-Identifier: Apache-2.0
"""Defects of the two services that `latchkey doctor` names, and that its printed command mends."""

import json

from machine import eventually
from prompts import PASSCODE, PromptTest
from services import AUTHORITY, KEYCHAIN, SOCKETS
from terminals import Terminal

UNITS = "/lib/systemd/system"


class DoctorTests(PromptTest):
    def row(self, name):
        rows = json.loads(self.session.run("latchkey", "doctor", "--json", check=False).stdout)["rows"]
        (found,) = [row for row in rows if row["name"] == name]
        return found

    def assertNamed(self, name, words, root=True):
        """Asserts that a row needs attention, and returns its command."""
        row = self.row(name)
        self.assertEqual((row["state"], row["root"]), ("attention", root), row)
        self.assertIn(words, row["found"])
        return row["hint"]

    def assertMended(self, name):
        self.assertEqual(self.row(name)["state"], "ok", self.row(name))

    def mend(self, command):
        self.machine.run("sh", "-c", command, timeout=60)

    def test_a_service_that_does_not_answer_is_restarted(self):
        self.assertMended("service")
        self.machine.run("kill", "-STOP", self.machine.main_pid(KEYCHAIN))
        self.mend(self.assertNamed("service", "did not answer"))
        self.assertMended("service")
        self.assertReleases(self.asking())

    def test_a_unit_that_systemd_does_not_know_is_read_again_and_started(self):
        unit = "latchkey-agents.socket"
        text = self.machine.read(f"{UNITS}/{unit}")
        self.addCleanup(self.machine.run, "systemctl", "start", *SOCKETS)
        self.addCleanup(self.machine.run, "systemctl", "daemon-reload")
        self.addCleanup(self.machine.write, f"{UNITS}/{unit}", text)
        self.machine.run("systemctl", "stop", *SOCKETS, KEYCHAIN, AUTHORITY)
        self.machine.run("rm", f"{UNITS}/{unit}")
        self.machine.run("systemctl", "daemon-reload")
        command = self.assertNamed("units", f"systemd does not know {unit}")
        # As an installation by hand does, which leaves systemd to be told.
        self.machine.write(f"{UNITS}/{unit}", text)
        self.mend(command)
        self.mend(self.assertNamed("units", unit))
        self.assertMended("units")
        self.assertReleases(self.asking())

    def test_a_locked_keychain_is_unlocked_at_a_prompt(self):
        self.session.run("latchkey", "lock")
        command = self.assertNamed("lock", "locked", root=False)
        with Terminal(self.session, *command.split()) as terminal:
            terminal.expect("Type your passcode")
            terminal.type(PASSCODE + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        eventually(lambda: self.row("lock")["state"] == "ok")

    def test_a_service_file_of_PAM_that_others_can_change_is_made_again(self):
        path = "/etc/pam.d/latchkey"
        text = self.machine.read(path)
        self.addCleanup(self.machine.write, path, text)
        for change in (f"chmod 666 {path}", f"chown alice {path}", f"echo '@include common-auth' > {path}", f"rm {path}"):
            with self.subTest(change):
                self.machine.run("sh", "-c", change)
                self.mend(self.assertNamed("PAM", path))
                self.assertMended("PAM")


del PromptTest
