# SPDX-License-Identifier: Apache-2.0
"""Damaged configurations and stores, sockets of others, and services that end at any time."""


from machine import eventually
from services import AUTHORITY, CONFIGURATION, KEYCHAIN, STORES, UNAVAILABLE, ServiceTest

SOCKET_TEST = "import socket; socket.socket(socket.AF_UNIX).connect('/run/latchkey/authd.sock')"


class ConnectionTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.remove_stores()

    def test_latchkeyd_connects_again_after_the_sudden_end_of_latchkey_authd(self):
        self.status()
        self.kill_service(AUTHORITY)
        try:
            eventually(lambda: self.latchkey("status", check=False).returncode == 0, 20)
        finally:
            self.stop_services()

    def test_a_killed_latchkeyd_is_started_by_the_next_program(self):
        self.latchkey("set", "--protect", "none", "token", input="before")
        self.kill_service(KEYCHAIN)
        self.assertEqual(self.latchkey("get", "token").stdout, "before")

    def test_only_latchkeyd_reaches_latchkey_authd(self):
        self.status()
        for user in ("alice", "bob"):
            done = self.machine.run("python3", "-c", SOCKET_TEST, user=user, check=False)
            self.assertIn("PermissionError", done.stderr)

    def test_without_latchkey_authd_a_program_is_told_so(self):
        self.stop_services()
        self.machine.run("systemctl", "stop", "latchkey-authd.socket", "latchkey-agents.socket")
        self.machine.run("systemctl", "mask", "--runtime", "latchkey-authd.service", "latchkey-authd.socket")
        self.addCleanup(self.machine.run, "systemctl", "reset-failed")
        self.addCleanup(self.machine.run, "systemctl", "unmask", "--runtime", "latchkey-authd.service",
                        "latchkey-authd.socket")
        self.machine.run("systemctl", "start", "latchkeyd.socket", check=False)
        self.assertFails(self.latchkey("status", check=False), UNAVAILABLE, "systemctl status")


class ConfigurationTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.stop_services()
        text = self.machine.read(CONFIGURATION)
        self.addCleanup(self.start_sockets)
        self.addCleanup(self.machine.write, CONFIGURATION, text)
        self.addCleanup(self.machine.run, "chmod", "755", "/etc/latchkey")

    def start_sockets(self):
        self.machine.run("systemctl", "reset-failed", check=False)
        self.machine.run("systemctl", "start", "latchkeyd.socket")
        self.status()

    def assertRefused(self, words, service=KEYCHAIN):
        """The service does not start and says why, so a program gets no keychain with other settings."""
        before = self.machine.run("journalctl", "-q", "-o", "cat", "-u", service).stdout
        self.machine.run("systemctl", "stop", "latchkeyd.socket")
        self.machine.run("systemctl", "start", service, check=False)
        eventually(lambda: self.machine.unit(service)["ActiveState"] == "failed")
        written = self.machine.run("journalctl", "-q", "-o", "cat", "-u", service).stdout[len(before):]
        self.assertIn(words, written)
        self.machine.run("systemctl", "stop", "latchkeyd.socket", check=False)

    def test_a_configuration_in_the_folder_of_a_store_is_not_read(self):
        self.status()
        self.stop_services()
        self.machine.write(f"{STORES}/1001/latchkeyd.conf", "tier = simulated\n", mode=0o600, owner="latchkey:latchkey")
        self.addCleanup(self.machine.run, "rm", "-f", f"{STORES}/1001/latchkeyd.conf")
        self.assertEqual(self.status()["tier"], "file")

    def test_a_configuration_that_is_changed_applies_from_the_next_start(self):
        self.status()
        self.machine.write(CONFIGURATION, "tier = file\ncolour = green\n")
        self.assertEqual(self.status()["tier"], "file")
        self.stop_services()
        self.assertRefused("has a line that is not understood: colour = green")

    def test_an_unknown_line_is_refused(self):
        self.machine.write(CONFIGURATION, "tier = file\ncolour = green\n")
        self.assertRefused("has a line that is not understood: colour = green")

    def test_a_configuration_without_a_tier_is_refused(self):
        self.machine.write(CONFIGURATION, "# tier = file\n")
        self.assertRefused("does not name a tier")

    def test_a_missing_configuration_is_refused(self):
        self.machine.run("rm", CONFIGURATION)
        self.assertRefused("is missing, so no tier was chosen")

    def test_a_machine_without_a_tpm_opens_no_store_in_tier_tpm(self):
        self.machine.write(CONFIGURATION, "tier = tpm\n")
        done = self.latchkey("get", "token", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/dev/tpmrm0", done.stderr)
        # The service itself runs, with this configuration.
        self.stop_services()

    def test_a_tier_of_one_user_is_refused(self):
        for tier in ("user", "simulated"):
            self.machine.write(CONFIGURATION, f"tier = {tier}\n")
            self.assertRefused(f"has a line that is not understood: tier = {tier}")

    def test_a_line_about_faces_that_is_not_clear_is_refused_by_both_services(self):
        self.machine.write(CONFIGURATION, "tier = file\nface = yes\n")
        self.assertRefused("has a line that is not understood: face = yes")
        for lines in ("face = yes\n", "face = off\nface = policy\n"):
            self.machine.write(CONFIGURATION, "tier = file\n" + lines)
            self.assertRefused("does not say whether a face may answer policies", AUTHORITY)

    def test_a_line_about_the_passcode_that_is_not_clear_is_refused_by_both_services(self):
        self.machine.write(CONFIGURATION, "tier = file\npasscode = pin\n")
        self.assertRefused("has a line that is not understood: passcode = pin")
        for lines in ("passcode = pin\n", "passcode = own\npasscode = account\n"):
            self.machine.write(CONFIGURATION, "tier = file\n" + lines)
            self.assertRefused("does not say what a passcode is", AUTHORITY)

    def test_a_line_about_virtual_hardware_that_is_not_clear_is_refused_by_both_services(self):
        self.machine.write(CONFIGURATION, "tier = file\nallow-virtual-hardware = maybe\n")
        for service in (KEYCHAIN, AUTHORITY):
            self.assertRefused("has a line that is not understood: allow-virtual-hardware = maybe", service)

    def test_a_configuration_that_others_can_change_is_refused(self):
        self.machine.write(CONFIGURATION, "tier = file\n", mode=0o666)
        self.assertRefused(f"{CONFIGURATION} can be changed by others than root")
        self.machine.write(CONFIGURATION, "tier = file\n", owner="latchkey:latchkey")
        self.assertRefused(f"{CONFIGURATION} can be changed by others than root")
        self.machine.write(CONFIGURATION, "tier = file\n")
        self.machine.run("chmod", "777", "/etc/latchkey")
        self.assertRefused("/etc/latchkey can be changed by others than root")
