# SPDX-License-Identifier: Apache-2.0
"""Tier tpm: the TPM seals the root keys, counts the generations of the stores and verifies the passcode."""

from chips import TIER, Chip
from machine import eventually, fact
from prompts import CodeWriter, PASSCODE, PromptTest
from services import CONFIGURATION, KEYCHAIN, RECORDS, SERVICES, SOCKETS, STORES
from terminals import Terminal

OTHER = "another passcode 815"


class TierTest(CodeWriter, Chip, PromptTest):
    """A session of alice, who has a passcode and a protected item in tier tpm."""

    def setUp(self):
        self.add_chip()
        original = self.machine.read(CONFIGURATION)
        self.addCleanup(self.machine.write, CONFIGURATION, original)
        self.addCleanup(self.stop_chip)
        self.addCleanup(self.remove_stores)
        self.configure("allow-virtual-hardware = yes")
        super().setUp()

    def recover(self, code=None, passcode=OTHER):
        """Types the recovery code and a new passcode; returns what the command has written."""
        with Terminal(self.session, "latchkey", "recover") as terminal:
            terminal.expect("Type the recovery code of the keychain")
            terminal.type((code or self.code) + "\r")
            terminal.expect("new passcode")
            terminal.type(passcode + "\r")
            terminal.expect("again")
            terminal.type(passcode + "\r")
            self.note_code(terminal)
            self.assertEqual(terminal.end(30), 0, terminal.output)
            return terminal.output

    def configure(self, *lines, tier=TIER):
        self.stop_services()
        self.machine.write(CONFIGURATION, tier + "".join(line + "\n" for line in lines))

    def get(self, **options):
        return self.latchkey("get", "free", check=False, **options)

    def assertRefused(self, words):
        done = self.get()
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(words, done.stderr)

    def change_passcode(self):
        with Terminal(self.session, "latchkey", "passcode", "change") as terminal:
            terminal.expect("Type your passcode")
            terminal.type(PASSCODE + "\r")
            terminal.expect("new passcode")
            terminal.type(OTHER + "\r")
            terminal.expect("again")
            terminal.type(OTHER + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)


class UseTests(TierTest):
    def test_the_passcode_releases_an_item_before_and_after_a_restart(self):
        self.assertEqual(self.status()["tier"], "tpm")
        self.assertReleases(self.asking())
        self.stop_services()
        self.assertReleases(self.asking())

    def test_a_wrong_passcode_releases_nothing_and_is_counted(self):
        terminal = self.asking()
        terminal.type("a wrong one\r")
        terminal.expect("is wrong", "2 tries left")
        self.assertReleases(terminal)

    def test_after_a_change_only_the_new_passcode_releases(self):
        self.change_passcode()
        self.stop_services()
        terminal = self.asking()
        terminal.type(PASSCODE + "\r")
        terminal.expect("is wrong")
        self.assertReleases(terminal, OTHER)

    def test_no_file_has_the_root_key_or_something_to_guess_the_passcode_by(self):
        head = self.machine.run("head", "-c", "23", f"{STORES}/1001/root.key").stdout
        self.assertEqual(head, "latchkey sealed root 1\n")
        self.assertReleases(self.asking())
        for unit in SERVICES:
            self.assertEqual(self.find_in_memory(unit, PASSCODE), 0, unit)
        fact("tier tpm", "root key sealed and passcode verified by swtpm")

    def test_a_discarded_passcode_can_be_set_again(self):
        with Terminal(self.session, "latchkey", "reset") as terminal:
            terminal.expect("reset")
            terminal.type("reset\n")
            self.prove_account(terminal)
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertFalse(self.status()["passcode"])
        self.set_passcode(OTHER)
        self.latchkey("set", "token", "--protect", "presence", input="the secret")
        self.assertReleases(self.asking(), OTHER)

    def test_a_key_of_the_enclave_is_in_the_tpm_without_a_further_line(self):
        self.assertEqual(self.status()["enclave"], "tpm")


class ChipTests(TierTest):
    def setUp(self):
        super().setUp()
        self.latchkey("set", "--protect", "none", "free", input="free text")

    def test_a_tpm_that_was_turned_off_serves_again_without_a_restart_of_the_services(self):
        self.stop_chip()
        terminal = self.asking()
        terminal.type(PASSCODE + "\r")
        self.assertNotEqual(terminal.end(), 0)
        self.start_chip()
        terminal = self.asking()
        terminal.expect("3 tries left")
        self.assertReleases(terminal)

    def test_a_store_that_could_not_be_opened_is_opened_when_the_tpm_is_there(self):
        self.stop_services()
        self.stop_chip()
        self.assertRefused("TPM")
        self.start_chip()
        self.assertEqual(self.get().stdout.strip(), "free text")

    def test_another_tpm_opens_nothing_and_changes_nothing(self):
        self.stop_services()
        digest = f"cd {STORES}/1001 && sha256sum root.key anchor && sha256sum {RECORDS}/1001/passcodes"
        before = self.machine.run("sh", "-c", digest).stdout
        self.replace_chip()
        self.assertRefused("another TPM")
        self.assertEqual(self.machine.run("sh", "-c", digest).stdout, before)

    def test_a_restored_copy_of_all_files_is_refused_abuse29(self):
        self.stop_services()
        self.machine.run("sh", "-c", f"rm -rf /run/copy && cp -a {STORES}/1001 /run/copy")
        self.addCleanup(self.machine.run, "rm", "-rf", "/run/copy")
        self.change_passcode()
        self.stop_services()
        self.machine.run("sh", "-c", f"rm -rf {STORES}/1001 && cp -a /run/copy {STORES}/1001")
        self.assertRefused("restored")

    def test_a_tpm_that_is_a_program_needs_the_consent_of_root(self):
        self.configure("allow-virtual-hardware = no")
        self.assertRefused("is a program")

    def test_a_store_of_tier_tpm_is_refused_in_tier_file(self):
        self.configure(tier="tier = file\n")
        self.assertRefused("tier tpm")

    def test_a_key_bound_to_secure_boot_is_unsealed_after_a_restart(self):
        self.remove_stores()
        self.configure("allow-virtual-hardware = yes", "seal = pcr7")
        self.latchkey("set", "--protect", "none", "free", input="bound")
        self.stop_services()
        self.assertEqual(self.get().stdout.strip(), "bound")


class RecoveryTests(TierTest):
    """Ways out with the recovery code."""

    def setUp(self):
        super().setUp()
        self.latchkey("set", "--protect", "none", "free", input="free text")

    def test_a_forgotten_passcode_is_replaced_and_every_item_stays(self):
        self.recover()
        self.assertReleases(self.asking(), OTHER)
        self.assertEqual(self.get().stdout.strip(), "free text")

    def test_keys_that_only_the_passcode_released_are_named_before_and_after(self):
        for name, rule in (("signing", "passcode"), ("either", "presence")):
            self.latchkey("key", "create", name, "--enclave", "--protect", rule)
        before, asked, after = self.recover().partition("Type the recovery code")
        for written in (before, after):
            self.assertIn("signing", written)
            self.assertNotIn("either", written)
        done = self.latchkey("key", "sign", "signing", input=b"a text", check=False)
        self.assertNotEqual(done.returncode, 0)
        fact("recovery on the same TPM", "names the keys that only the earlier passcode released")

    def test_keys_that_are_deleted_with_the_passcode_are_named_before_it_is_removed(self):
        for name, rule in (("signing", "passcode"), ("either", "presence")):
            self.latchkey("key", "create", name, "--enclave", "--protect", rule)
        with Terminal(self.session, "latchkey", "passcode", "remove") as terminal:
            terminal.expect("Type your passcode")
            terminal.type(PASSCODE + "\r")
            terminal.expect("Type remove to continue")
            # The command makes such keys in the class of the passcode.
            self.assertRegex(terminal.output, r"2 items are deleted:\s+signing, key.*\s+either, key")
            terminal.type("no\n")
            self.assertNotEqual(terminal.end(), 0)
        self.assertTrue(self.status()["passcode"])

    def test_the_code_restores_the_files_of_authd_and_its_keys_go_on_working(self):
        self.latchkey("key", "create", "plain", "--enclave")
        for lost in ("approval", ""):
            with self.subTest(lost):
                self.stop_services()
                self.machine.run("rm", "-r", f"{RECORDS}/1001/{lost}")
                done = self.latchkey("key", "sign", "plain", input=b"a text", check=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(b"latchkey recover", done.stderr)
                self.recover()
                self.latchkey("key", "sign", "plain", input=b"a text")
                self.assertReleases(self.asking(), OTHER)
        fact("lost files of latchkey-authd", "restored with the recovery code, keys of the TPM among them")

    def test_a_wrong_code_is_refused_and_neither_service_has_the_right_one(self):
        with Terminal(self.session, "latchkey", "recover") as terminal:
            terminal.expect("Type the recovery code of the keychain")
            for left in range(4, -1, -1):
                terminal.type("00000-00000-00000-00000-000000\r")
                if left:
                    terminal.expect("is not the recovery code", "Type the recovery code")
            self.assertNotEqual(terminal.end(30), 0, terminal.output)
        self.recover()
        for unit in SERVICES:
            for text in (self.code, self.code.replace("-", ""), OTHER):
                self.assertEqual(self.find_in_memory(unit, text), 0, unit)

    def test_a_code_opens_the_keychain_on_another_tpm_and_names_the_lost_keys(self):
        self.latchkey("key", "create", "signing", "--enclave")
        self.stop_services()
        self.replace_chip()
        self.assertRefused("another TPM")
        written = self.recover()
        self.assertIn("signing", written)
        self.assertEqual(self.get().stdout.strip(), "free text")
        self.assertReleases(self.asking(), OTHER)
        self.stop_services()
        self.assertReleases(self.asking(), OTHER)
        fact("tier tpm", "a keychain on another TPM opened with its recovery code")

    def test_a_key_bound_to_secure_boot_is_recovered_after_an_update(self):
        self.remove_stores()
        self.configure("allow-virtual-hardware = yes", "seal = pcr7")
        self.set_passcode(PASSCODE)
        self.latchkey("set", "token", "--protect", "presence", input="the secret")
        self.latchkey("set", "--protect", "none", "free", input="bound")
        self.stop_services()
        self.extend_secure_boot()
        self.assertRefused("Secure Boot")
        self.recover()
        self.assertEqual(self.get().stdout.strip(), "bound")
        self.assertReleases(self.asking(), OTHER)


class OwnerTests(TierTest):
    """A TPM whose owner hierarchy has a password, which root gives the services in a file."""

    FILE, PASSWORD = "/etc/latchkey/owner", "the owner's password"

    def setUp(self):
        super().setUp()
        self.stop_services()
        self.remove_stores()
        self.replace_chip()
        self.set_owner_password(self.PASSWORD)
        self.addCleanup(self.machine.run, "sh", "-c", f"rm -f {self.FILE}*")

    def give(self, text=PASSWORD + "\n", mode=0o640, owner="root:latchkey", file=FILE):
        self.machine.write(file, text, mode, owner)
        self.configure("allow-virtual-hardware = yes", f"owner_auth_file = {file}")
        self.listen_again()

    def listen_again(self):
        """systemd gives up a socket whose service does not start."""
        self.machine.run("systemctl", "stop", *SOCKETS, *SERVICES)
        self.machine.run("systemctl", "reset-failed", *SOCKETS, *SERVICES, check=False)
        self.machine.run("systemctl", "start", *SOCKETS)

    def test_with_the_password_of_the_owner_the_keychain_is_made_and_recovered(self):
        self.give()
        self.set_passcode(PASSCODE)
        self.latchkey("set", "--protect", "none", "free", input="free text")
        self.latchkey("set", "token", "--protect", "presence", input="the secret")
        self.assertReleases(self.asking())
        self.recover()
        self.assertReleases(self.asking(), OTHER)
        for unit in SERVICES:
            self.assertNotIn(self.PASSWORD, self.machine.journal(unit, lines=200))
        fact("an owner hierarchy with a password", "a keychain of tier tpm made with the file of root")

    def test_without_the_password_or_with_another_one_nothing_is_made(self):
        self.configure("allow-virtual-hardware = yes")
        for words in ("owner hierarchy of the TPM has a password", "is not the one of the owner hierarchy"):
            done = self.latchkey("set", "--protect", "none", "free", input="free text", check=False)
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertIn(words, done.stderr)
            self.give("another\n")

    def test_a_file_that_others_can_read_or_change_or_that_is_missing_is_refused(self):
        read, changed = "has the password of the TPM's owner, and others", "can be changed by others than root"
        for number, (mode, owner, words) in enumerate((
                (0o644, "root:latchkey", read), (0o640, "root:users", read), (0o660, "root:latchkey", changed),
                (0o640, "latchkey:latchkey", changed), (None, "root:latchkey", "does not exist"))):
            with self.subTest(mode=mode, owner=owner):
                # A name of its own, so that the journal has no line of an earlier case about it.
                file = f"{self.FILE}{number}"
                self.give(mode=mode or 0o640, owner=owner, file=file)
                if mode is None:
                    self.machine.run("rm", file)
                # For some seconds after such an end systemd may start no service for a socket.
                eventually(lambda: self.refuses(f"{file} {words}"), 15)

    def refuses(self, words):
        self.listen_again()
        done = self.latchkey("set", "--protect", "none", "free", input="free text", check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return words in self.machine.journal(KEYCHAIN, lines=200)


class ConfigurationTests(TierTest):
    def test_lines_that_contradict_the_tier_are_refused(self):
        for lines in (["enclave = software"], ["seal = pcr8"]):
            with self.subTest(lines):
                self.configure("allow-virtual-hardware = yes", *lines)
                self.assertNotEqual(self.get().returncode, 0)
        self.configure("seal = pcr7", tier="tier = file\n")
        self.assertNotEqual(self.get().returncode, 0)
