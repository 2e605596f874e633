# SPDX-License-Identifier: Apache-2.0
"""The settings window of a person at the machine, with both services, the real fprintd and the window of the prompts."""

import json
import subprocess

from clients import DONE, SECRET, ClientTest
from desktops import WithDesktop
from fprint import WithFprintd
from machine import CHECKOUT, PASSWORDS, eventually, fact
from prompts import PASSCODE
from services import AUTHORITY
from test_services_tier_tpm import TierTest

BUILT, INSTALLED = CHECKOUT / "Apps/Settings/.build/static/release/latchkey-settings", "/usr/bin/latchkey-settings"
FIRST, SECOND = "first passcode 4711", "second passcode 4712"
REMOVAL = "Remove the Passcode?"


class SettingsTest(WithFprintd, WithDesktop):
    """alice sits at the machine; for a class that derives from a `ServiceTest` too."""

    screen = "1000x760x24"

    def setUp(self):
        if not BUILT.exists():
            self.skipTest("no settings window: run `make settings` first")
        super().setUp()
        self.machine.copy(BUILT, INSTALLED)
        self.addCleanup(self.machine.run, "rm", "-f", INSTALLED)
        self.screen_of_alice = self.desktop(self.seat)

    def window(self, verb, *arguments, **options):
        """Calls a method of the settings window."""
        return self.screen_of_alice.do(f"settings.{verb}", *arguments, **options)

    def prompt(self, verb, *arguments):
        """Calls a method of the window of the prompts."""
        return self.screen_of_alice.do(f"desktop.{verb}", *arguments)

    def open(self, page):
        self.screen_of_alice.do("Settings", page, kept="settings")
        self.addCleanup(self.screen_of_alice.do, "settings.end")

    def shot(self, name, moves=False):
        self.picture(self.screen_of_alice, f"settings-{self.tier}-{name}", moves)

    def command(self, *argv, input=None):
        """What `latchkey` writes, as a program of the session without a terminal."""
        program = self.seat.start("latchkey", *argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        output, _ = program.communicate(input, timeout=30)
        self.assertEqual(program.returncode, 0, output)
        return output

    def state(self):
        return json.loads(self.command("status", "--json"))

    def new_passcode(self, passcode):
        for text in ("new passcode", "again"):
            self.prompt("reads", text)
            self.prompt("types", passcode)

    def set_the_first(self):
        """Sets the first passcode in the window, after the password of the account."""
        self.open("passcode")
        self.window("reads", "No Passcode Is Set")
        self.window("keys", "alt+s")
        self.prompt("reads", "password of your account")
        self.prompt("types", PASSWORDS["alice"])
        self.new_passcode(FIRST)
        self.window("reads", "A Passcode Is Set", "The passcode is set.")

    def change(self, first, second):
        """Changes the passcode, after a wrong one was refused."""
        self.window("keys", "alt+c")
        self.prompt("reads", "Type your passcode")
        self.prompt("types", "not the passcode")
        self.prompt("reads", "The passcode is wrong.")
        # The settings window shows a spinner meanwhile.
        self.shot("passcode-wrong", moves=True)
        self.prompt("keys", "Escape")
        self.prompt("is_gone")
        self.window("reads", "Cancelled. Nothing was changed.")
        self.window("keys", "alt+c")
        self.prompt("reads", "Type your passcode")
        self.prompt("types", first)
        self.new_passcode(second)
        self.window("reads", "The passcode was changed.")
        self.window("keys", "alt+e")
        self.prompt("reads", "check that you know the passcode")
        self.prompt("types", first)
        self.prompt("reads", "The passcode is wrong.")
        self.prompt("types", second)
        self.window("reads", "The passcode is right.")
        fact(f"settings window, tier {self.tier}", "passcode changed, not with a wrong one; keychain locked and unlocked")

    def lock_and_unlock(self):
        """Locks the keychain for every program, and unlocks it with a finger."""
        self.window("keys", "ctrl+l")
        self.window("reads", "Unlock")
        self.assertTrue(self.state()["keychainLocked"])
        self.shot("locked")
        self.window("keys", "ctrl+u")
        self.prompt("reads", "unlock this keychain", "Touch the sensor.")
        self.finger("touch")
        self.window("reads", "Lock Now")
        self.assertFalse(self.state()["keychainLocked"])


class FileTest(SettingsTest, ClientTest):
    tier = "file"


class FilePasscodeTests(FileTest):
    def test_a_first_passcode_is_set_and_changed_and_a_wrong_one_is_refused(self):
        self.set_the_first()
        self.window("is_named")
        self.shot("passcode-set")
        self.assertEqual((self.state()["tier"], self.state()["passcode"]), ("file", True))
        self.change(FIRST, SECOND)

    def test_the_passcode_is_removed_only_with_it(self):
        self.set_the_first()
        self.command("set", "card", "--protect", "passcode", "--device-only", input="4000\n")
        self.window("presses", "Remove…")
        self.window("reads", "Items that need a passcode are deleted.", title=REMOVAL)
        self.shot("passcode-remove")
        self.window("presses", "Remove", title=REMOVAL)
        self.prompt("reads", "Type your passcode")
        self.prompt("types", "not the passcode")
        self.prompt("reads", "The passcode is wrong.")
        self.assertTrue(self.state()["passcode"])
        self.prompt("types", FIRST)
        self.window("reads", "No Passcode Is Set")
        self.assertEqual((self.state()["passcode"], self.state()["items"]), (False, 0))


class FileLockTests(FileTest):
    def test_lock_now_locks_every_program_and_a_finger_unlocks(self):
        self.set_the_first()
        self.lock_and_unlock()


class FilePagesTests(FileTest):
    def test_the_log_names_apps_and_a_forged_signal_and_the_pages_have_no_secret(self):
        self.set_the_first()
        vault = self.program("/usr/bin/vault")
        app = self.client(program=vault)
        app.do("App", kept="app")
        self.assertEqual(app.do("app.add", "safe", SECRET, 1), DONE)
        app.begin("app.read", "safe", None, True, None, 20)
        self.prompt("reads", "“vault”")
        self.forge(self.machine.main_pid(AUTHORITY), "/net/reactivated/Fprint/Device/0", "net.reactivated.Fprint.Device",
                   "VerifyStatus", "sb", "verify-match", "true")
        eventually(lambda: "sensor refused" in self.command("log"))
        self.finger("touch")
        self.assertEqual(app.end(), SECRET)
        self.window("keys", "alt+3", "F5")
        self.window("reads", "vault stored an item", "vault read an item", "A sensor that is not trusted was ignored", "The passcode was set")
        self.window("is_named")
        self.shot("activity")
        self.window("keys", "alt+4", "F5")
        self.window("reads", "Each App Shows Its Own Items", "The system’s keychain has 1 item.")
        self.window("is_named")
        self.shot("apps")
        self.assertEqual(self.window("holds", SECRET.decode(), FIRST), [])
        fact("settings window, log", "a forged match on the message bus is a line of the page about activity")


class TPMTests(SettingsTest, TierTest):
    tier = "tpm"

    def test_the_passcode_is_changed_and_a_finger_unlocks(self):
        self.open("passcode")
        self.window("reads", "A Passcode Is Set")
        self.assertEqual(self.state()["tier"], "tpm")
        self.change(PASSCODE, SECOND)
        self.lock_and_unlock()


del SettingsTest, FileTest, TierTest
