# SPDX-License-Identifier: Apache-2.0
"""Attacks on tier tpm: secrets in the wrong process, on the bus and in files; another TPM; virtual hardware; changed
fingers; keys that are exported."""

import json
import struct
import subprocess

import pytest

from chips import PLACE, STATE
from clients import DONE, FOLDER, NO_INTERACTION, SECRET, ClientTest
from fingers import ChangedFingers, WithFingers
from fprint import WithFprintd
from machine import CHECKOUT, RELEASE, eventually, fact
from prompts import PASSCODE
from relay import (NO_KEY, PASSWORD, SECRET_COMMANDS, START_SESSION, WithRelay, authorizations, commands, part)
from sensors import WithSensor
from services import AUTHORITY, CONFIGURATION, KEYCHAIN, RECORDS, SOCKETS, STORES
from terminals import Terminal
from test_services_tier_tpm import OTHER, TIER, TierTest

APP = RELEASE / "latchkey-test-client"
SPY = ("chip_client.py", "spy_client.py")


class SpyTest(TierTest):
    """The attacker knows the passcode and is root, and so knows what authd's secrets are; latchkeyd must not."""

    def setUp(self):
        super().setUp()
        for path in [CHECKOUT / "Tests/System" / name for name in SPY] + [CHECKOUT / "Tests/Wire/deterministic_cbor.py"]:
            self.machine.copy(path, f"{FOLDER}/{path.name}")

    def secrets(self, passcode=PASSCODE):
        """authd's secrets by name. The services are stopped meanwhile, because the TPM has one connection."""
        self.stop_services()
        self.machine.run("systemctl", "stop", *SOCKETS)
        found = json.loads(self.machine.run("python3", f"{FOLDER}/spy_client.py", f"{RECORDS}/1001", passcode).stdout)
        self.machine.run("systemctl", "start", *SOCKETS)
        return {"the passcode": passcode.encode(), **{name: bytes.fromhex(text) for name, text in found.items()}}

    def files(self):
        """The contents of every file that latchkeyd can read or write, and the journal."""
        return self.machine.run(
            "sh", "-c", f"find {STORES} /run/latchkey /etc/latchkey /tmp /var/tmp -type f -exec cat {{}} +; "
            "journalctl --no-pager -q", input=b"").stdout


class SecretTests(SpyTest):
    def test_latchkeyd_and_its_files_have_no_secret_of_authd_after_a_use_by_passcode(self):
        self.latchkey("key", "create", "plain", "--enclave")
        secrets = self.secrets()
        terminal = self.asking()
        terminal.type("a wrong one\r")
        terminal.expect("is wrong")
        self.assertReleases(terminal)
        # The search finds what is there: the name of the store, and in authd's folder the key of approvals.
        self.assertGreater(self.find_in_memory(KEYCHAIN, f"{STORES}/1001"), 0)
        records = self.machine.run("sh", "-c", f"cat {RECORDS}/1001/*", input=b"").stdout
        self.assertIn(secrets["the key of approvals"], records)
        files = self.files()
        self.assertIn(b"latchkey sealed root 1", files)
        for name, secret in secrets.items():
            with self.subTest(name):
                self.assertEqual(self.find_in_memory(KEYCHAIN, secret), 0, f"{name} is in the memory of latchkeyd")
                self.assertNotIn(secret, files)
                self.assertNotIn(secret.hex().encode(), files)
                # authd keeps the value for a few minutes, for further uses of keys (decision 034).
                if name not in ("the key of approvals", "the value of the index"):
                    self.assertEqual(self.find_in_memory(AUTHORITY, secret), 0, f"{name} stayed in authd")
                    self.assertNotIn(secret, records)
        fact("after a use by passcode", f"latchkeyd and its files have none of {len(secrets)} secrets of authd")


class BusTests(WithRelay, SpyTest):
    @pytest.mark.promise("abuse.42")
    def test_every_session_is_salted_and_no_secret_passes_the_bus_abuse42(self):
        self.latchkey("key", "create", "plain", "--enclave")
        first = self.secrets()
        self.assertReleases(self.asking())
        self.latchkey("key", "sign", "plain", input=b"a text")
        self.change_passcode()
        terminal = self.asking()
        terminal.type(PASSCODE + "\r")
        terminal.expect("is wrong")
        self.assertReleases(terminal, OTHER)
        self.recover()
        code = self.code
        self.assertReleases(self.asking(), OTHER)
        last = self.secrets(OTHER)

        sent, answered = self.bus()
        sessions = 0
        for code_of, body, _ in commands(sent):
            if code_of == START_SESSION:
                sessions += 1
                key = struct.unpack(">I", body[:4])[0]
                _, rest = part(body[8:])
                salt, _ = part(rest)
                self.assertNotEqual(key, NO_KEY, "a session has no key for a salt")
                self.assertGreater(len(salt), 64, "a session has no salt")
        self.assertGreater(sessions, 10)
        seen = self.protected(sent)
        self.assertEqual(seen, {"Create", "NV_ChangeAuth", "Unseal"})
        for name, secret in [*first.items(), *last.items(), ("the code", code.encode()),
                             ("the code without lines", code.replace("-", "").encode())]:
            self.assertNotIn(secret, sent, f"{name} was sent to the TPM")
            self.assertNotIn(secret, answered, f"{name} was answered by the TPM")
        fact("the bus of the TPM", f"{sessions} sessions, all of them salted; no secret in {len(sent + answered):,} bytes")

    def protected(self, sent):
        """The names of the commands with secrets, each of which has a session that encrypts."""
        seen = set()
        for code, body, has_sessions in commands(sent):
            if code not in SECRET_COMMANDS:
                continue
            name, handles, needed = SECRET_COMMANDS[code]
            entries, parameters = authorizations(body, handles) if has_sessions else ([], body[4 * handles:])
            for handle, _, text in entries:
                self.assertFalse(handle == PASSWORD and text, f"{name} has a password in clear")
            if not any(attributes & needed for _, attributes, _ in entries):
                # An index is defined with an empty password, the first parameter, which opens nothing.
                self.assertEqual((name, part(parameters)[0]), ("NV_DefineSpace", b""), f"{name} is not encrypted")
                continue
            seen.add(name)
        return seen


class OtherChipTests(SpyTest):
    """All files of both services beside a TPM that has not made them, as on the attacker's own machine."""

    LOAD = ("import struct, sys\nfrom chip_client import Chip, LOAD, sized\n"
            "data, parts = open(sys.argv[1], 'rb').read()[23:], []\n"
            "while data:\n    size = struct.unpack('>H', data[:2])[0]\n    parts.append(data[2:2 + size])\n"
            "    data = data[2 + size:]\n"
            "chip = Chip()\n"
            "try: chip.command(LOAD, [chip.root], sized(parts[2]) + sized(parts[1]), [None]); print('loaded')\n"
            "except RuntimeError as error: print(error)\n")

    def load(self):
        """Loads the sealed root key with a client of the TPM's own; needs no service."""
        self.stop_services()
        self.machine.run("systemctl", "stop", *SOCKETS)
        done = self.machine.run("python3", "-c", self.LOAD, f"{STORES}/1001/root.key", env={"PYTHONPATH": FOLDER})
        self.machine.run("systemctl", "start", *SOCKETS)
        return done.stdout.strip()

    @pytest.mark.promise("abuse.41")
    def test_everything_of_a_store_on_another_TPM_opens_nothing_with_the_passcode_abuse41(self):
        self.latchkey("set", "--protect", "none", "free", input="free text")
        self.latchkey("key", "create", "plain", "--enclave")
        self.assertEqual(self.load(), "loaded")
        digest = f"cd {STORES}/1001 && sha256sum root.key anchor && sha256sum {RECORDS}/1001/passcodes"
        before = self.machine.run("sh", "-c", digest).stdout
        self.stop_services()
        self.stop_chip()
        self.machine.run("sh", "-c", f"rm -rf {STATE}.kept && mv {STATE} {STATE}.kept")
        self.addCleanup(self.machine.run, "rm", "-rf", f"{STATE}.kept")
        self.replace_chip()
        for argv in (("get", "free"), ("key", "sign", "plain"), ("get", "token"), ("export", "/tmp/stolen")):
            done = self.latchkey(*argv, input="a text", check=False)
            self.assertNotEqual(done.returncode, 0, argv)
            self.assertNotIn("free text", done.stdout)
        # The integrity of what another TPM has wrapped.
        self.assertEqual(self.load(), "TPM 0x1df")
        self.assertEqual(self.machine.run("sh", "-c", digest).stdout, before)
        # Back beside its own TPM, nothing is lost.
        self.stop_services()
        self.stop_chip()
        self.machine.run("sh", "-c", f"rm -rf {STATE} && mv {STATE}.kept {STATE}")
        self.start_chip()
        self.assertEqual(self.get().stdout.strip(), "free text")
        self.assertReleases(self.asking())
        fact("a store on another TPM", "TPM 0x1df; nothing opens, with the right passcode")


class VirtualTests(TierTest):
    @pytest.mark.promise("abuse.24")
    def test_no_user_and_no_environment_allows_a_TPM_that_is_a_program_abuse24(self):
        self.latchkey("set", "--protect", "none", "free", input="free text")
        self.configure("allow-virtual-hardware = no")
        self.machine.write("/home/alice/.config/latchkey/latchkeyd.conf", "allow-virtual-hardware = yes\n",
                           owner="alice:alice")
        self.machine.write("/home/alice/.config/latchkey/hardware.conf", "allow-virtual-hardware = yes\n",
                           owner="alice:alice")
        self.addCleanup(self.machine.run, "rm", "-rf", "/home/alice/.config/latchkey")
        for environment in ({}, {"LATCHKEY_ALLOW_VIRTUAL_HARDWARE": "yes"}, {"LATCHKEY_TPM": PLACE},
                            {"XDG_CONFIG_HOME": "/home/alice/.config"}):
            done = self.get(env=environment)
            self.assertNotEqual((done.returncode, done.stdout), (0, "free text"), environment)
            self.assertIn("is a program", done.stderr)
        terminal = self.enterContext(Terminal(self.session, "latchkey", "get", "token"))
        self.assertNotEqual(terminal.end(), 0)
        self.assertNotIn("the secret", terminal.output)

    @pytest.mark.promise("abuse.24")
    def test_the_consent_of_others_than_root_is_none_abuse24(self):
        self.latchkey("set", "--protect", "none", "free", input="free text")
        for owner, mode in (("latchkey:latchkey", 0o644), ("root:latchkey", 0o664), ("root:root", 0o666)):
            with self.subTest(owner=owner, mode=oct(mode)):
                self.machine.write(CONFIGURATION, TIER + "allow-virtual-hardware = yes\n", mode, owner)
                self.listen_again()
                done = self.get()
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertNotIn("free text", done.stdout)
                # The program is told, and does not wait for a service that is started again and again.
                self.assertIn("can be changed by others than root", done.stderr)
                # It was the configuration, and not a service that systemd had given up.
                eventually(lambda: "can be changed by others than root" in self.machine.journal(KEYCHAIN, lines=4))
        self.configure("allow-virtual-hardware = yes")
        self.assertTrue(eventually(self.opens, 20))

    def opens(self):
        self.listen_again()
        return self.get().stdout.strip() == "free text"

    def listen_again(self):
        """systemd gives up a socket whose service does not start."""
        self.machine.run("systemctl", "stop", *SOCKETS, KEYCHAIN, AUTHORITY)
        self.machine.run("systemctl", "reset-failed", *SOCKETS, KEYCHAIN, AUTHORITY, check=False)
        self.machine.run("systemctl", "start", *SOCKETS)

    @pytest.mark.promise("abuse.24")
    def test_the_status_says_that_the_TPM_is_virtual_abuse24(self):
        self.assertIn("TPM 2.0, virtual", self.latchkey("status").stdout)
        self.assertIs(json.loads(self.latchkey("status", "--json").stdout)["enclaveVirtual"], True)
        report = json.loads(self.latchkey("doctor", "--json", check=False).stdout)
        [row] = [row for row in report["rows"] if row["name"] == "enclave"]
        self.assertEqual(row["state"], "attention")
        self.assertIn("virtual", row["found"])
        # A TPM that does not answer has no kind.
        self.stop_services()
        self.stop_chip()
        self.addCleanup(self.start_chip)
        self.assertIn("not known whether it is virtual", self.latchkey("status", check=False).stdout)


class FingerTest(WithFprintd, WithFingers, TierTest, ClientTest):
    """Items and a key for the fingers that are enrolled now."""

    def person(self):
        app = self.app()
        self.assertEqual(app.do("app.add", "free", SECRET, 0), DONE)
        self.latchkey("key", "create", "bound", "--enclave", "--protect", "current-set")
        return app, self.agent()

    def prints(self):
        return self.machine.run("sh", "-c", "cd /var/lib/fprint && find . -type f -exec sha256sum {} +").stdout

    def add_and_remove(self, handle):
        """Another finger, and then the files of the first time. latchkey-authd learns of a change a moment later; a finger
        that it never saw was in no set."""
        before = self.prints()
        self.enrol_more("left-index-finger", "another one")
        self.assertNotEqual(self.prints(), before)
        eventually(lambda: self.read("set", handle) != SECRET)
        self.machine.run("fprintd-delete", "alice", "-f", "left-index-finger")
        self.assertEqual(self.prints(), before)

    def assertBoundIsGone(self):
        eventually(lambda: self.read("set") not in (SECRET, NO_INTERACTION))
        self.assertEqual(self.read_with_a_touch("any"), SECRET)
        self.await_end()
        self.assertNotEqual(self.read("set", self.touched()), SECRET)
        done = self.latchkey("key", "sign", "bound", input="a text", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no longer enrolled", done.stderr)


class FingerTests(FingerTest):
    @pytest.mark.promise("abuse.31")
    def test_a_finger_that_is_added_and_removed_ends_what_is_bound_abuse31(self):
        handle = self.touched()
        self.assertEqual(self.read("set", handle), SECRET)
        self.add_and_remove(handle)
        self.assertNotEqual(self.read("set", handle), SECRET)
        self.assertBoundIsGone()
        fact("a finger added and removed", "items and keys of the current set are gone in tier tpm")

    def test_a_finger_that_was_added_while_no_service_ran_opens_nothing_bound_abuse31(self):
        self.stop_services()
        self.enrol_more("left-index-finger", "another one")
        self.restart()
        self.assertNotIn(self.read("set"), (SECRET, NO_INTERACTION))
        self.machine.run("fprintd-delete", "alice", "-f", "left-index-finger")
        # A prompt that begins before the change is noticed would ask for a second touch.
        self.stop_services()
        self.restart()
        self.assertNotEqual(self.read("set", self.touched()), SECRET)


class SensorTest(WithFingers, WithSensor, TierTest, ClientTest):
    """The same with the scripted sensor, whose finger can change at any moment: the reader of fprintd takes no enrolment
    while a prompt waits for a touch."""

    def allow_virtual_hardware(self, answer):
        """The configuration of the tier says it."""

    def person(self):
        app = self.app()
        self.assertEqual(app.do("app.add", "free", SECRET, 0), DONE)
        return app, self.agent()


class ChangeTests(ChangedFingers, SensorTest):
    pass


class ExportTests(SpyTest):
    """A program asks for the private half of its own key, and the user of latchkeyd for that of a key in the TPM."""

    def test_the_private_half_of_a_key_is_exported_in_no_form_abuse40(self):
        if not APP.exists():
            self.skipTest("no app: run `make build PART='services testing'` first")
        self.machine.copy(APP, "/usr/bin/vault")
        self.addCleanup(self.machine.run, "rm", "-f", "/usr/bin/vault")
        done = self.machine.run("/usr/bin/vault", "export", "exported", user="alice")
        self.assertEqual(done.stdout, "representation nothing\ndata -4 nothing\nattributes 0 nothing\nsigned\n")


class StopTests(SpyTest):
    def test_latchkeyd_that_stops_leaves_nothing_in_the_TPM(self):
        self.latchkey("key", "create", "plain", "--enclave")
        self.assertReleases(self.asking())
        # Last, because a command of latchkey-authd removes the key that was used last.
        self.latchkey("key", "sign", "plain", input=b"a text")
        self.machine.run("systemctl", "stop", KEYCHAIN)
        self.assertEqual(self.left(), [0, 0, 0])


class TakenKeyTests(SensorTest):
    """The user of latchkeyd takes a key of each kind out of the memory of the TPM, after a use that was proven, and without
    latchkey-authd."""

    # Neither password nor policy: the codes of part 3 for a policy that is not fulfilled, for a use that needs one, and for
    # an administration that needs one.
    REFUSED = {"signed by password": "TPM 0x12f", "signed by an empty policy": "TPM 0x99d",
               "signed by a policy with the password": "TPM 0x99d", "signed by a policy for it": "TPM 0x99d",
               "password changed": "TPM 0x124"}

    def setUp(self):
        super().setUp()
        for name in ("chip_client.py", "taker_client.py"):
            self.machine.copy(CHECKOUT / "Tests/System" / name, f"{FOLDER}/{name}")

    def person(self):
        # Before there is an agent, which would ask for the passcode when the command makes a protected key.
        for rule in ("none", "biometry", "current-set", "passcode", "presence"):
            self.latchkey("key", "create", f"taken-{rule}", "--enclave", "--protect", rule)
        return super().person()

    def sign(self, label, answer):
        """Signs as alice; `answer` replies to the prompt, if there is one."""
        program = self.machine.start("sh", "-c", f"echo a text | latchkey key sign {label}", user="alice",
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if answer:
            self.asked()
            answer()
        output, errors = program.communicate(timeout=30)
        self.assertEqual(program.returncode, 0, errors)
        self.assertNotEqual(output, b"")

    def touch(self):
        self.finger("touch")

    def type(self):
        self.prompts.do("agent.event", [5, PASSCODE.encode()])

    def assertTakenInVain(self, rule, answer=None):
        self.sign(f"taken-{rule}", answer)
        self.kill_service(KEYCHAIN)
        done = self.machine.run("python3", f"{FOLDER}/taker_client.py", user="latchkey")
        keys = json.loads(done.stdout)
        self.assertEqual(len(keys), 1, "latchkeyd keeps the key that it used last in the TPM")
        [[attributes, tries]] = keys
        # fixedTPM and fixedParent, not userWithAuth.
        self.assertEqual(attributes & (1 << 1 | 1 << 4 | 1 << 6), 1 << 1 | 1 << 4)
        self.assertNotIn("done", tries.values(), tries)
        self.assertEqual({name: tries[name] for name in self.REFUSED}, self.REFUSED)
        self.assertEqual(len(tries), 9)
        fact(f"a key ({rule}) that is taken from the TPM", ", ".join(sorted(set(tries.values()))))

    @pytest.mark.promise("abuse.40")
    def test_a_key_without_a_rule_is_neither_used_nor_changed_nor_duplicated_abuse40(self):
        self.assertTakenInVain("none")

    @pytest.mark.promise("abuse.40")
    def test_a_key_for_any_finger_is_neither_used_nor_changed_nor_duplicated_abuse40(self):
        self.assertTakenInVain("biometry", self.touch)

    @pytest.mark.promise("abuse.40")
    def test_a_key_for_the_current_fingers_is_neither_used_nor_changed_nor_duplicated_abuse40(self):
        self.assertTakenInVain("current-set", self.touch)

    @pytest.mark.promise("abuse.40")
    def test_a_key_for_the_passcode_is_neither_used_nor_changed_nor_duplicated_abuse40(self):
        self.assertTakenInVain("passcode", self.type)

    @pytest.mark.promise("abuse.40")
    def test_a_key_for_a_finger_or_the_passcode_is_neither_used_nor_changed_nor_duplicated_abuse40(self):
        self.assertTakenInVain("presence", self.touch)


del ChangedFingers, FingerTest, SensorTest, SpyTest, TierTest, ClientTest, WithFingers
