# SPDX-License-Identifier: Apache-2.0
"""Tier tpm with the password of the account as passcode: real PAM with pam_unix, then a TPM that is a program."""

from chips import TIER, Chip
from machine import fact
from prompts import CodeWriter
from services import AUTHORITY, CONFIGURATION
from terminals import Terminal
from test_services_account import ACCOUNT, CHANGED, OWN, PASSWORD, USER, AccountTest

WEAK = "as strong as /etc/shadow"
NEW = "a passcode of carol 815"


class TierAccountTests(CodeWriter, Chip, AccountTest):
    def setUp(self):
        self.add_chip()
        original = self.machine.read(CONFIGURATION)
        self.addCleanup(self.machine.write, CONFIGURATION, original)
        self.addCleanup(self.stop_chip)
        self.addCleanup(self.remove_stores)
        super().setUp()
        self.machine.write(CONFIGURATION, TIER + "allow-virtual-hardware = yes\n")

    def choose_account(self):
        """What an administrator does to have the password of the account as passcode."""
        self.option("account")

    def option(self, kind):
        self.machine.write(OWN, f"[Service]\nExecStart=\nExecStart=/usr/libexec/latchkey-authd --passcode {kind}\n")
        self.machine.run("systemctl", "daemon-reload")
        self.stop_services()

    def set(self):
        self.choose_account()
        with Terminal(self.session, "latchkey", "passcode", "set") as terminal:
            terminal.expect(ACCOUNT)
            terminal.type(PASSWORD + "\r")
            self.note_code(terminal)
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.session.run("latchkey", "set", "token", "--protect", "presence", input="the secret")

    def test_without_the_option_the_passcode_is_ones_own(self):
        with Terminal(self.session, "latchkey", "passcode", "set") as terminal:
            terminal.expect(ACCOUNT)
            terminal.type(PASSWORD + "\r")
            terminal.expect("new passcode")
            terminal.type(NEW + "\r")
            terminal.expect("again")
            terminal.type(NEW + "\r")
            self.note_code(terminal)
            self.assertEqual(terminal.end(), 0, terminal.output)
        status = self.status(USER)
        self.assertEqual((status["passcodeKind"], status["passcodeLimit"]), ("own", None))

    def test_with_the_option_the_password_releases_and_every_status_says_how_strong_it_is(self):
        self.set()
        terminal = self.asking()
        terminal.type("a wrong one\r")
        terminal.expect("The password is wrong", "2 tries left")
        self.assertReleases(terminal, PASSWORD)
        self.stop_services()
        status = self.status(USER)
        self.assertEqual(status["passcodeKind"], "account")
        self.assertIn(WEAK, status["passcodeLimit"])
        self.assertIn(WEAK, self.latchkey("status", user=USER).stdout)
        self.assertIn(WEAK, self.latchkey("doctor", user=USER, check=False).stdout)
        self.assertReleases(self.asking(), PASSWORD)

    def test_a_password_that_was_changed_by_passwd_keeps_the_data_and_the_recovery_code(self):
        self.set()
        self.passwd(CHANGED)
        self.stop_services()
        terminal = self.asking()
        terminal.type(PASSWORD + "\r")
        terminal.expect("The password is wrong")
        terminal.type(CHANGED + "\r")
        terminal.expect("was changed", "had before")
        self.assertReleases(terminal, PASSWORD)
        self.stop_services()
        self.assertReleases(self.asking(), CHANGED)
        with Terminal(self.session, "latchkey", "recover") as terminal:
            terminal.expect("Type the recovery code of the keychain")
            terminal.type(self.code + "\r")
            terminal.expect("new passcode")
            terminal.type(NEW + "\r")
            terminal.expect("again")
            terminal.type(NEW + "\r")
            self.note_code(terminal)
            self.assertEqual(terminal.end(30), 0, terminal.output)
        self.assertEqual(self.status(USER)["passcodeKind"], "own")
        fact("account password in tier tpm", "changed by passwd: items and recovery code remain")

    def test_rekey_needed_survives_the_sudden_end_of_latchkey_authd_and_costs_no_further_try(self):
        self.set()
        self.passwd(CHANGED)
        terminal = self.asking()
        terminal.type(CHANGED + "\r")
        terminal.expect("had before")
        self.kill_service(AUTHORITY)
        self.machine.run("pkill", "-KILL", "-x", "latchkey", check=False)
        self.assertIn("accountPasswordChanged", self.log())
        # More prompts than the TPM has tries: the new password must not be one of them.
        for _ in range(21):
            terminal = self.asking()
            terminal.type(CHANGED + "\r")
            terminal.expect("had before")
            self.assertReleasesNothing(terminal)
        terminal = self.asking()
        terminal.type(CHANGED + "\r")
        terminal.expect("had before")
        self.assertReleases(terminal, PASSWORD)
        self.assertReleases(self.asking(), CHANGED)

    def test_an_administrator_goes_back_to_a_passcode_of_ones_own(self):
        self.set()
        self.option("own")
        with Terminal(self.session, "latchkey", "passcode", "change") as terminal:
            terminal.expect(ACCOUNT)
            terminal.type(PASSWORD + "\r")
            terminal.expect("new passcode")
            terminal.type(NEW + "\r")
            terminal.expect("again")
            terminal.type(NEW + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertEqual(self.status(USER)["passcodeKind"], "own")
        with Terminal(self.session, "latchkey", "get", "token") as terminal:
            terminal.expect("Type your passcode")
            self.assertReleases(terminal, NEW)
