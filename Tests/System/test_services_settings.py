# SPDX-License-Identifier: Apache-2.0
"""The settings window of a person at the machine, with both services, the real fprintd and the window of the prompts."""

import json
import re
import subprocess

from clients import CURRENT_SET, DONE, SECRET, ClientTest
from desktops import WithDesktop
from fprint import WithFprintd
from machine import PASSWORDS, RELEASE, eventually, fact
from prompts import PASSCODE
from test_services_tier_tpm import TierTest

BUILT, INSTALLED = RELEASE / "latchkey-settings", "/usr/bin/latchkey-settings"
OWN = "/etc/systemd/system/latchkey-authd.service.d/passcode.conf"
FIRST, SECOND = "first passcode 4711", "second passcode 4712"
REMOVAL, DISCARD = "Remove the Passcode?", "Delete the Passcode and What It Protects?"
CREATE, RESTORE = "Create a backup", "Restore a backup"
SECOND_FINGER = "Right thumb"
# docs/reference/protocol.md: an operation, two of its actions, a reply, an attribute and a status; and the user of the session.
USE_SECRETS, STORE, READ, ITEMS, IDENTIFIER, INTERACTION_NOT_ALLOWED = 70, 1, 3, 5, 45, 47
ALICE = 1001
ACCOUNT, LISTING = "password of your account", "list the names of the items of every app"


class SettingsTest(WithFprintd, WithDesktop):
    """alice sits at the machine; for a class that derives from a `ServiceTest` too."""

    screen = "1000x760x24"

    def setUp(self):
        if not BUILT.exists():
            self.skipTest("no settings window: run `make build PART=settings` first")
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
        self.prompt("reads", ACCOUNT)
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


    def discard(self):
        """Deletes a forgotten passcode, after the password of the account."""
        self.window("reads", "cannot be undone", title=DISCARD)
        self.window("writes", "delete", title=DISCARD)
        self.shot("passcode-forgotten")
        self.window("presses", "Delete", title=DISCARD)
        self.prompt("reads", ACCOUNT)
        self.prompt("types", PASSWORDS["alice"])
        self.prompt("is_gone")
        self.window("reads", "The passcode and the protected items were deleted.")
        self.assertFalse(self.state()["passcode"])
        self.window("reads", "No Passcode Is Set")

    def lists_items(self, *names):
        """Shows the items of all apps, after a finger."""
        self.window("keys", "alt+4", "F5")
        self.window("reads", "Each App Shows Its Own Items")
        self.shot("apps")
        self.window("keys", "alt+s")
        self.prompt("reads", LISTING)
        self.shot("apps-asking", moves=True)
        self.finger("touch")
        self.window("reads", *names)
        self.window("is_named")
        self.shot("apps-listed")

    def use(self, app, action, contents, asks=True, verb="do"):
        """A call of a program to the Secret Service, which it sends itself."""
        process = app.do("process")
        start = int(self.machine.read(f"/proc/{process}/stat").rsplit(")", 1)[1].split()[19])
        return getattr(app, verb)("app.call", USE_SECRETS, {
            0: [process, start, ALICE], 1: True, 2: [action, contents], 3: {0: "", 3: asks}}, 30)

    def answers_are_listed_and_withdrawn(self):
        """Each of them after a finger: they concern other programs than the window."""
        mail, reader = self.app(program=self.program("/usr/bin/mail")), self.app(program=self.program("/usr/bin/reader"))
        items = {}
        for label, button in ("login", "Always allow"), ("token", "Allow until logout"):
            item = {0: "login", 1: label, 2: "text/plain", 3: ["name", label], 4: SECRET}
            items[label] = self.use(mail, STORE, [item, False])[1][0][1][IDENTIFIER]
            self.use(reader, READ, [items[label]], verb="begin")
            self.prompt("reads", "“reader” wants to", f"read “{label}”, which another program stored.")
            self.shot(f"answer-{label}", moves=True)
            self.prompt("presses", button)
            self.assertEqual(reader.end()[0], ITEMS)
            self.prompt("is_gone")
            self.assertEqual(self.use(reader, READ, [items[label]], asks=False)[0], ITEMS)
        self.lists_items("Your answers")
        self.window("presses", "Show: Your answers")
        self.prompt("reads", "list what you have answered to programs")
        self.finger("touch")
        self.window("reads", "2 answers are listed.", "/usr/bin/reader")
        self.window("presses", "Show: reader")
        self.window("reads", "May always read it", "May read it until you log out")
        self.window("is_named")
        self.shot("answers")
        self.window("presses", "Withdraw: login")
        self.prompt("reads", "forget what you have answered to a program")
        self.prompt("keys", "Escape")
        self.window("reads", "Cancelled. Nothing was changed.", "May always read it")
        self.assertEqual(self.use(reader, READ, [items["login"]], asks=False)[0], ITEMS)
        for label in items:
            self.window("presses", f"Withdraw: {label}")
            self.prompt("reads", "forget what you have answered to a program")
            self.finger("touch")
            self.window("reads", f"reader asks again before it reads “{label}”.")
            refused = self.use(reader, READ, [items[label]], asks=False)
            self.assertEqual((refused[0], refused[1][0]), (0, INTERACTION_NOT_ALLOWED))
        self.assertEqual(self.window("holds", SECRET.decode()), [])
        log = self.command("log")
        for words in "always allowed", "session allowed", "answer ended":
            self.assertIn(words, log)
        fact(f"settings window, tier {self.tier}, answers to programs", "listed and withdrawn, each after a finger")


class FileTest(SettingsTest, ClientTest):
    tier = "file"


class FileAccountTests(FileTest):
    """The passcode is the password of the account, as the package installs it."""

    def setUp(self):
        # Before the program that shows the prompts starts: it would lose latchkey-authd and connect again later.
        own = self.machine.read(OWN)
        self.machine.run("rm", OWN)
        self.addCleanup(self.machine.run, "systemctl", "daemon-reload")
        self.addCleanup(self.machine.write, OWN, own)
        self.addCleanup(self.stop_services)
        self.machine.run("systemctl", "daemon-reload")
        self.stop_services()
        super().setUp()

    def test_the_password_of_the_account_is_the_passcode_and_cannot_be_changed_here(self):
        self.open("passcode")
        self.window("reads", "No Passcode Is Set", "the password of your account, which becomes the passcode")
        self.shot("account-none")
        self.window("keys", "alt+s")
        self.prompt("reads", ACCOUNT)
        self.prompt("types", PASSWORDS["alice"])
        self.window("reads", "A Passcode Is Set", "It is the password of your account.")
        self.assertEqual(self.state()["passcodeKind"], "account")
        texts = self.window("reads", "It changes with the password of your account")
        self.assertFalse([text for text in texts if "Change…" in text])
        self.window("is_named")
        self.shot("account-set")
        self.window("keys", "alt+e")
        self.prompt("reads", ACCOUNT)
        self.prompt("types", PASSWORDS["alice"])
        self.window("reads", "The passcode is right.")
        self.window("keys", "alt+f")
        self.discard()


class FilePasscodeTests(FileTest):
    def test_a_first_passcode_is_set_and_changed_and_a_wrong_one_is_refused(self):
        self.set_the_first()
        self.window("is_named")
        self.shot("passcode-set")
        self.assertEqual((self.state()["tier"], self.state()["passcode"]), ("file", True))
        self.change(FIRST, SECOND)

    def test_a_forgotten_passcode_is_deleted_with_the_password_of_the_account(self):
        self.set_the_first()
        self.command("set", "card", "--protect", "passcode", "--device-only", input="4000\n")
        self.command("set", "--protect", "none", "token", input="6000\n")
        self.window("keys", "alt+f")
        self.discard()
        self.assertEqual(self.state()["items"], 1)

    def test_the_passcode_is_removed_only_with_it(self):
        self.set_the_first()
        self.command("set", "card", "--protect", "passcode", "--device-only", input="4000\n")
        self.window("keys", "alt+r")
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
        self.forge(self.sensors_process(), "/net/reactivated/Fprint/Device/0", "net.reactivated.Fprint.Device",
                   "VerifyStatus", "sb", "verify-match", "true")
        eventually(lambda: "sensor refused" in self.command("log"))
        self.finger("touch")
        self.assertEqual(app.end(), SECRET)
        self.window("keys", "alt+3", "F5")
        self.window("reads", "vault stored an item", "vault read an item", "A sensor that is not trusted was ignored", "The passcode was set")
        self.window("is_named")
        self.shot("activity")
        self.lists_items("safe", "needs your finger, your face or the passcode")
        self.window("keys", "alt+3", "F5")
        self.window("reads", "vault read “safe", "Latchkey Settings listed the names of all items")
        self.shot("activity-named")
        self.window("keys", "ctrl+l")
        self.window("keys", "alt+4")
        self.window("reads", "Each App Shows Its Own Items")
        self.window("keys", "alt+3")
        self.window("reads", "vault read an item")
        self.assertEqual(self.window("holds", SECRET.decode(), FIRST, "safe"), [], "a locked keychain shows no names")
        fact("settings window, log", "a forged match on the message bus is a line of the page about activity")


    def test_the_command_lists_the_items_of_all_apps_after_a_finger(self):
        self.set_the_first()
        app = self.client(program=self.program("/usr/bin/vault"))
        app.do("App", kept="app")
        self.assertEqual(app.do("app.add", "safe", SECRET, 0), DONE)
        self.assertNotIn("safe", self.command("list"))
        listing = self.seat.start("latchkey", "list", "--all", stdout=subprocess.PIPE, text=True)
        self.prompt("reads", LISTING)
        self.finger("touch")
        output, _ = listing.communicate(timeout=30)
        self.assertEqual((listing.returncode, "safe" in output), (0, True), output)
        self.assertIn("names listed", self.command("log"))


class FileAnswersTests(FileTest):
    def test_answers_to_programs_are_listed_and_withdrawn_after_a_finger_each(self):
        self.set_the_first()
        self.answers_are_listed_and_withdrawn()


class FileBackupTests(FileTest):
    def test_a_backup_is_written_and_restored_with_the_code_that_only_the_prompt_shows(self):
        self.set_the_first()
        self.command("set", "--protect", "none", "login", input="topsecret\n")
        self.command("set", "--protect", "none", "card", "--device-only", input="4000\n")
        path = "/home/alice/my backup"
        self.addCleanup(self.machine.run, "rm", "-f", path)
        self.window("keys", "alt+6")
        self.window("reads", CREATE)
        self.window("keys", "alt+c")
        self.choose_file(CREATE, path)
        self.prompt("reads", "Type your passcode")
        self.prompt("types", FIRST)
        self.prompt("reads", "QR code of the recovery code")
        self.prompt("presses", "Show for Screen Readers")
        code = eventually(lambda: next(
            (text for text in self.prompt("reads", "QR code of the recovery code") if re.fullmatch("[0-9A-Z-]{20,}", text)),
            None))
        self.assertEqual(self.window("holds", code), [])
        self.shot("backup-code", moves=True)
        self.prompt("presses", "I have written it down")
        self.prompt("reads", "Type the last group of the recovery code")
        self.prompt("types", code[-6:].lower())
        self.window("reads", "The backup contains 1 item.", "is not in the backup.", "“card”: it never leaves this computer")
        self.assertNotIn("topsecret", self.machine.run("strings", "-n", "4", path, check=False).stdout)
        self.assertEqual(self.machine.run("stat", "-c", "%U %a", path).stdout.strip(), "alice 600")
        self.shot("backup-written")
        self.command("delete", "login")
        self.window("keys", "alt+6", "F5")
        self.window("reads", RESTORE)
        self.window("keys", "alt+r")
        self.choose_file(RESTORE, path)
        self.prompt("reads", "Type your passcode")
        self.prompt("types", FIRST)
        self.prompt("reads", "Type the recovery code")
        self.prompt("types", code.lower())
        self.window("reads", "1 item was restored.")
        self.assertEqual(self.command("get", "login").strip(), "topsecret")
        fact("settings window, backup", "written and restored with its recovery code, which only the prompt shows")

    def choose_file(self, title, path):
        """Types the path into the file dialog of GTK, whose lists are too long to be read over the accessibility bus."""
        # The first letter shows a field, which may lose the next ones before it has the focus, so everything is typed again.
        for _ in range(2):
            self.window("keys", "ctrl+a", title=title)
            self.window("writes", path, title=title)
        self.window("keys", "Return", title=title)


class FileFingerprintTests(FileTest):
    def test_a_finger_is_enrolled_and_deleted_and_ends_what_is_bound_to_the_fingers_of_before(self):
        self.set_the_first()
        app = self.client(program=self.program("/usr/bin/vault"))
        app.do("App", kept="app")
        self.assertEqual(app.do("app.add", "bound", SECRET, CURRENT_SET), DONE)
        # A desktop asks for the password of the account, which no agent of polkit does here.
        self.allow_everyone()
        self.window("keys", "alt+2")
        self.window("reads", "Right index finger", "Finger")
        self.window("is_named")
        self.window("keys", "alt+e")
        for number in range(5):
            self.window("reads", f"{number} of 5 scans." if number else "swipe it over the sensor")
            self.send("SCAN second")
        self.window("reads", f"Delete {SECOND_FINGER}", f"{SECOND_FINGER} is enrolled.")
        self.shot("fingerprints")
        self.assertIn("right-thumb", self.command("fingerprint", "list"))
        app.begin("app.read", "bound", None, True, None, 20)
        self.assertNotEqual(app.end(), SECRET)
        self.window("presses", f"Delete {SECOND_FINGER}")
        self.window("presses", "Delete", title=f"Delete {SECOND_FINGER}?")
        self.window("reads", f"{SECOND_FINGER} was deleted.")
        fact("settings window, fingerprints", "a finger was enrolled with five scans, and deleted; real fprintd and polkit")


class TPMTests(SettingsTest, TierTest):
    tier = "tpm"

    def test_the_items_of_all_apps_are_listed_after_a_finger(self):
        self.open("apps")
        self.lists_items("token")

    def test_the_passcode_is_changed_and_a_finger_unlocks(self):
        self.open("passcode")
        self.window("reads", "A Passcode Is Set")
        self.assertEqual(self.state()["tier"], "tpm")
        self.change(PASSCODE, SECOND)
        self.lock_and_unlock()


class TPMAnswersTests(SettingsTest, TierTest, ClientTest):
    tier = "tpm"

    def test_answers_to_programs_are_listed_and_withdrawn_after_a_finger_each(self):
        self.open("apps")
        self.answers_are_listed_and_withdrawn()


del SettingsTest, FileTest, TierTest
