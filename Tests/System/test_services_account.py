# SPDX-License-Identifier: Apache-2.0
"""The password of the account as passcode: real PAM with pam_unix, and modules that do not behave."""

import time

import pytest

from machine import eventually, fact
from modules import install_module
from services import AUTHORITY, CONFIGURATION, RECORDS, ServiceTest
from terminals import Terminal

OWN = "/etc/systemd/system/latchkey-authd.service.d/passcode.conf"
SERVICE_FILE, USER, PASSWORD, CHANGED = "/etc/pam.d/latchkey", "carol", "the password of carol", "another one of carol"
ACCOUNT = "password of your account"

# What a program that pam_exec.so runs sees of itself and of the process that has loaded the module.
PRIVILEGES = "#!/bin/sh\ngrep -h Cap /proc/$PPID/status /proc/self/status >/run/latchkey-pam-status\n"


class AccountTest(ServiceTest):
    """A throw-away user with a session and an account password, which is the passcode by default."""

    def setUp(self):
        super().setUp()
        self.remove_stores()
        self.own, self.service = self.machine.read(OWN), self.machine.read(SERVICE_FILE)
        self.machine.run("rm", OWN)
        self.addCleanup(self.machine.run, "systemctl", "daemon-reload")
        self.addCleanup(self.machine.write, OWN, self.own)
        self.addCleanup(self.stop_services)
        self.machine.run("systemctl", "daemon-reload")
        self.machine.run("useradd", "--create-home", "--shell", "/bin/bash", "--uid", "1003", USER)
        self.addCleanup(self.remove_user)
        self.passwd(PASSWORD)
        self.session = self.enterContext(self.machine.session(USER))

    def remove_user(self):
        self.remove_stores()
        # A service manager of the user that is killed while it ends counts as failed.
        self.machine.run("systemctl", "stop", "user@1003.service", check=False)
        self.machine.run("pkill", "-KILL", "-u", USER, check=False)
        eventually(lambda: self.machine.run("userdel", "--remove", "--force", USER, check=False).returncode in (0, 12))

    def passwd(self, password):
        """Changes the password as an administrator does, behind Latchkey's back."""
        self.machine.run("chpasswd", input=f"{USER}:{password}\n")

    def pam(self, text):
        """Replaces the service file for this test."""
        self.machine.write(SERVICE_FILE, text)
        self.addCleanup(self.machine.write, SERVICE_FILE, self.service)

    def set(self):
        with Terminal(self.session, "latchkey", "passcode", "set") as terminal:
            terminal.expect(ACCOUNT)
            terminal.type(PASSWORD + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.session.run("latchkey", "set", "token", "--protect", "presence", input="the secret")

    def asking(self):
        terminal = self.enterContext(Terminal(self.session, "latchkey", "get", "token"))
        terminal.expect(ACCOUNT)
        return terminal

    def assertReleases(self, terminal, password):
        terminal.type(password + "\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertTrue(terminal.output.rstrip().endswith("the secret"), terminal.output)

    def assertReleasesNothing(self, terminal):
        terminal.type("\x03")
        self.assertNotEqual(terminal.end(), 0)
        self.assertNotIn("the secret", terminal.output)

    def remove_counters(self):
        """Forgets wrong tries, as a right password does."""
        self.machine.write(SERVICE_FILE, self.service)
        self.assertReleases(self.asking(), PASSWORD)

    def log(self):
        return self.machine.read(RECORDS + "/daemon.log")


class PasswordTests(AccountTest):
    def test_the_password_of_the_account_is_the_passcode(self):
        self.set()
        terminal = self.asking()
        terminal.type("a wrong one\r")
        terminal.expect("The password is wrong", "2 tries left")
        begin = time.monotonic()
        self.assertReleases(terminal, PASSWORD)
        self.assertNotIn(PASSWORD, terminal.output)
        fact("account password", f"pam_unix and slot in {(time.monotonic() - begin) * 1000:.0f} ms")

    def test_without_the_password_of_the_account_no_passcode_is_set(self):
        with Terminal(self.session, "latchkey", "passcode", "set") as terminal:
            terminal.expect(ACCOUNT)
            for _ in range(2):
                terminal.type(f"a wrong one {_}\r")
                terminal.expect("The password is wrong")
            terminal.type("a third wrong one\r")
            self.assertNotEqual(terminal.end(), 0)
        self.assertFalse(self.status(USER)["passcode"])

    def test_a_password_that_was_changed_by_passwd_keeps_the_data_and_asks_for_the_previous_one(self):
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

    def test_rekey_needed_survives_the_sudden_end_of_latchkey_authd(self):
        self.set()
        self.passwd(CHANGED)
        terminal = self.asking()
        terminal.type(CHANGED + "\r")
        terminal.expect("had before")
        self.kill_service(AUTHORITY)
        self.machine.run("pkill", "-KILL", "-x", "latchkey", check=False)
        self.assertIn("accountPasswordChanged", self.log())
        terminal = self.asking()
        terminal.type(CHANGED + "\r")
        terminal.expect("had before")
        self.assertReleases(terminal, PASSWORD)

    def test_an_expired_account_is_refused_with_the_reason(self):
        self.set()
        self.machine.run("chage", "--expiredate", "1", USER)
        terminal = self.asking()
        terminal.type(PASSWORD + "\r")
        terminal.expect("does not accept your account", "expired")
        self.assertReleasesNothing(terminal)
        self.assertIn("accountNotChecked", self.log())

    def test_a_password_that_must_be_changed_is_right_and_the_prompt_says_so_until_it_was_read(self):
        self.set()
        self.machine.run("chage", "--lastday", "0", USER)
        terminal = self.asking()
        terminal.type(PASSWORD + "\r")
        terminal.expect("has expired", "passwd")
        self.assertNotIn("the secret", terminal.output)
        terminal.type("\r")
        self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertTrue(terminal.output.rstrip().endswith("the secret"), terminal.output)

    def test_a_line_of_the_configuration_chooses_a_passcode_of_ones_own(self):
        original = self.machine.read(CONFIGURATION)
        self.addCleanup(self.machine.write, CONFIGURATION, original)
        self.machine.write(CONFIGURATION, original + "passcode = own\n")
        self.stop_services()
        with Terminal(self.session, "latchkey", "passcode", "set") as terminal:
            terminal.expect(ACCOUNT)
            terminal.type(PASSWORD + "\r")
            terminal.expect("new passcode")

    def test_an_account_without_a_password_has_a_passcode_of_its_own(self):
        self.machine.run("passwd", "--delete", USER)
        with Terminal(self.session, "latchkey", "passcode", "set") as terminal:
            terminal.expect("new passcode")
            self.assertNotIn(ACCOUNT, terminal.output)

    def test_a_forgotten_passcode_is_discarded_with_the_password_of_the_account(self):
        self.set()
        self.passwd(CHANGED)
        with Terminal(self.session, "latchkey", "reset") as terminal:
            terminal.expect("reset")
            terminal.type("reset\n")
            terminal.expect(ACCOUNT)
            terminal.type(CHANGED + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertFalse(self.status(USER)["passcode"])
        self.assertFails(self.latchkey("get", "token", user=USER, check=False), 66, "")


class ModuleTests(AccountTest):
    """Modules that hang, ask twice or say too much. The passcode was set with the real file before."""

    def setUp(self):
        super().setUp()
        self.set()

    def script(self, text):
        """The rule of a program that pam_exec.so runs."""
        self.machine.write("/usr/local/sbin/latchkey-test-module", "#!/bin/sh\n" + text, 0o755)
        return "pam_exec.so quiet stdout /usr/local/sbin/latchkey-test-module"

    def assertRecorded(self):
        """The audit log of the user names what was not trusted, and so does the log of the service."""
        self.assertIn("accountsRefused", self.log())
        eventually(lambda: "account refused" in self.session.run("latchkey", "log").stdout)

    @pytest.mark.promise("abuse.26")
    def test_a_module_that_hangs_is_killed_at_the_deadline_and_counts_abuse26(self):
        self.pam(f"auth required pam_unix.so nodelay\naccount required {self.script('sleep 1000')}\n")
        terminal = self.asking()
        begin = time.monotonic()
        terminal.type(PASSWORD + "\r")
        terminal.expect("could not be checked", "did not answer in time", "2 tries left", seconds=25)
        seconds = time.monotonic() - begin
        self.assertGreater(seconds, 9)
        self.assertLess(seconds, 15)
        self.assertReleasesNothing(terminal)
        for name in ("latchkey-pam", "latchkey-test-module", "sleep"):
            eventually(lambda: self.machine.run("pgrep", "-x", name[:15], check=False).returncode == 1)
        fact("a PAM module that hangs", f"killed after {seconds:.1f} s")

    def test_a_module_that_asks_for_something_else_ends_the_verification(self):
        install_module(self)
        for word, reason in (("twice", "second secret"), ("shown", "not a password"), ("unknown", "unknown kind"),
                             ("many", "too many messages")):
            with self.subTest(word):
                self.pam(f"auth required pam_unix.so nodelay\nauth required /usr/local/lib/pam_test.so {word}\n"
                         "account required pam_unix.so\n")
                terminal = self.asking()
                terminal.type(PASSWORD + "\r")
                terminal.expect("could not be checked", reason, seconds=20)
                self.assertNotIn("\033[2J", terminal.output)
                self.assertReleasesNothing(terminal)
                # Each try counts, and the third one delays the next.
                self.remove_counters()

    def test_a_module_that_names_another_account_has_verified_nothing(self):
        install_module(self)
        module = "required /usr/local/lib/pam_test.so renamed\n"
        for text in (f"auth required pam_unix.so nodelay\nauth {module}account required pam_permit.so\n",
                     f"auth required pam_unix.so nodelay\naccount {module}"):
            with self.subTest(text):
                self.pam(text)
                terminal = self.asking()
                terminal.type(PASSWORD + "\r")
                terminal.expect("does not accept your account")
                self.assertReleasesNothing(terminal)

    def test_a_file_that_accepts_everyone_is_refused(self):
        self.pam("auth sufficient pam_permit.so\naccount required pam_permit.so\n")
        terminal = self.asking()
        terminal.type(PASSWORD + "\r")
        terminal.expect("could not be checked", "without a password")
        self.assertReleasesNothing(terminal)

    def test_a_file_with_an_include_verifies_nothing(self):
        self.pam("@include common-auth\n@include common-account\n")
        terminal = self.asking()
        terminal.type(PASSWORD + "\r")
        terminal.expect("could not be checked", "cannot be used", "3 tries left")
        self.assertReleasesNothing(terminal)
        self.assertRecorded()

    def test_a_file_that_others_can_change_verifies_nothing(self):
        for change, back in (("chmod 666", "chmod 644"), ("chown alice", "chown root")):
            with self.subTest(change):
                self.machine.run("sh", "-c", f"{change} {SERVICE_FILE}")
                self.addCleanup(self.machine.run, "sh", "-c", f"{back} {SERVICE_FILE}")
                terminal = self.asking()
                terminal.type(PASSWORD + "\r")
                terminal.expect("could not be checked", "3 tries left")
                self.assertReleasesNothing(terminal)
                self.assertRecorded()
                self.machine.run("sh", "-c", f"{back} {SERVICE_FILE}")

    def test_garbage_in_messages_ends_the_verification(self):
        self.pam("auth required pam_unix.so nodelay\n"
                 f"account optional {self.script('head -c 100000 /dev/urandom')}\naccount required pam_unix.so\n")
        terminal = self.asking()
        terminal.type(PASSWORD + "\r")
        terminal.expect("could not be checked", "too many messages", "2 tries left")
        self.assertReleasesNothing(terminal)
        self.assertRecorded()
        self.assertEqual(self.machine.unit(AUTHORITY)["ActiveState"], "active")

    def test_the_process_of_a_verification_that_is_killed_has_verified_nothing(self):
        self.pam(f"auth required pam_unix.so nodelay\naccount required {self.script('sleep 1000')}\n")
        terminal = self.asking()
        terminal.type(PASSWORD + "\r")
        eventually(lambda: self.machine.run("pkill", "-KILL", "-x", "latchkey-pam", check=False).returncode == 0)
        terminal.expect("could not be checked", "has ended")
        self.assertReleasesNothing(terminal)

    def test_the_process_has_and_its_programs_have_no_capability(self):
        self.machine.write("/usr/local/sbin/latchkey-test-module", PRIVILEGES, 0o755)
        self.pam("auth required pam_unix.so nodelay\n"
                 "account optional pam_exec.so quiet /usr/local/sbin/latchkey-test-module\n"
                 "account required pam_unix.so\n")
        self.machine.run("mkdir", "-p", "/run/latchkey")
        writable = f"/run/systemd/system/{AUTHORITY}.d/account.conf"
        self.machine.write(writable, "[Service]\nReadWritePaths=/run\n")
        self.addCleanup(self.machine.run, "rm", "-f", writable)
        self.machine.run("systemctl", "daemon-reload")
        self.stop_services()
        self.assertReleases(self.asking(), PASSWORD)
        capabilities = self.machine.read("/run/latchkey-pam-status")
        for kind in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
            self.assertEqual(capabilities.count(f"{kind}:\t0000000000000000"), 2, capabilities)
        fact("latchkey-pam", "root without any capability reads /etc/shadow as its owner")
