# SPDX-License-Identifier: Apache-2.0
"""Private keys in a TPM, made and used through both services: who can use them, and what happens without the TPM."""

import contextlib
import subprocess
import time

from chips import PLACE, UNIT, Chip, WithChip
from clients import PASSCODE, ClientTest
from machine import fact
from services import CONFIGURATION, NOT_FOUND, REFUSED, ServiceTest

FOLDER = "/home/alice/keys"
TEXT = f"{FOLDER}/text"
FAILED = 1
# The method that a prompt asks for.
TOUCH = 1
# Fields of a prompt, and the purpose of one that identifies the device.
PURPOSE, CALLER, REASON, IDENTIFY = 1, 2, 6, 11
NONCE = "4e" * 32


class ChipTest(WithChip, ClientTest):
    """Alice has a passcode, an agent that shows prompts, and a folder for files."""

    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()
        self.machine.run("rm", "-rf", FOLDER)
        self.machine.write(TEXT, "the text that is signed", owner="alice:alice")
        self.machine.run("chown", "alice:alice", FOLDER)

    def key(self, *argv, user="alice", **options):
        return self.latchkey("key", *argv, user=user, **options)

    def create(self, name, *options):
        self.key("create", "--enclave", name, *options)

    def signing(self, name):
        return ("sign", name, TEXT, "--output", f"{FOLDER}/signature", "--replace")

    def sign(self, name, **options):
        return self.key(*self.signing(name), **options)

    def assertSigned(self, name):
        """openssl accepts the signature that was written."""
        self.key("public", name, "--output", f"{FOLDER}/public", "--replace")
        done = self.machine.run("openssl", "dgst", "-sha256", "-verify", f"{FOLDER}/public",
                                "-signature", f"{FOLDER}/signature", TEXT, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "Verified OK\n"), done.stderr)
        self.machine.run("rm", f"{FOLDER}/signature")

    def assertNothingSigned(self):
        self.assertEqual(self.machine.run("test", "-e", f"{FOLDER}/signature", check=False).returncode, 1)

    @contextlib.contextmanager
    def running(self, *argv, fails=None):
        """A command of alice that asks at her agent; must succeed, or fail with those words."""
        process = self.machine.start("latchkey", "key", *argv, user="alice", stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            yield process
            output, errors = process.communicate(timeout=20)
            self.assertEqual(process.returncode, FAILED if fails else 0, output + errors)
            self.assertIn(fails or "", errors)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()

    def touching(self, *argv):
        """Runs a command, for whose prompt the finger is touched."""
        with self.running(*argv):
            self.prompts.do("agent.await_prompt")
            self.finger("touch")
        self.await_end()

    def await_end(self):
        while self.prompts.do("agent.follow", 5)[0] != 2:
            pass


class UseTests(ChipTest):
    def test_a_key_without_a_rule_signs_and_decrypts(self):
        self.create("plain")
        begin = time.monotonic()
        self.sign("plain")
        fact("signature of a TPM's key", f"{(time.monotonic() - begin) * 1000:.0f} ms for `latchkey key sign` (swtpm)")
        self.assertSigned("plain")
        self.key("encrypt", "plain", TEXT, "--output", f"{FOLDER}/hidden")
        self.assertEqual(self.key("decrypt", "plain", f"{FOLDER}/hidden").stdout, "the text that is signed")
        self.assertEqual(self.status()["enclave"], "tpm")

    def test_a_touch_releases_one_signature_and_one_decryption(self):
        for rule in ("biometry", "current-set", "presence"):
            with self.subTest(rule):
                self.create(rule, "--protect", rule)
                self.touching(*self.signing(rule))
                self.assertSigned(rule)
        self.key("encrypt", "biometry", TEXT, "--output", f"{FOLDER}/hidden")
        self.touching("decrypt", "biometry", f"{FOLDER}/hidden", "--output", f"{FOLDER}/shown")
        self.assertEqual(self.machine.read(f"{FOLDER}/shown"), "the text that is signed")

    def test_without_a_touch_nothing_is_signed(self):
        self.create("touched", "--protect", "biometry")
        process = self.machine.start("latchkey", "key", *self.signing("touched"), user="alice",
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.prompts.do("agent.await_prompt")
        self.finger("miss")
        self.prompts.do("agent.follow")
        self.prompts.do("agent.event", [3])
        self.assertEqual(process.wait(20), REFUSED)
        self.assertNothingSigned()

    def test_the_passcode_releases_a_signature(self):
        self.create("typed", "--protect", "passcode")
        with self.typing(self.prompts), self.running(*self.signing("typed")):
            pass
        self.assertSigned("typed")

    def at(self, name):
        return f"{FOLDER}/{name}"

    def proof(self, verb, *argv, **options):
        return self.latchkey("proof", verb, *argv, **options)

    def test_the_device_is_identified_after_a_touch_and_its_key_is_proven(self):
        self.create("plain")
        process = self.machine.start("latchkey", "key", "enroll", "example.com", "--output", self.at("request"),
                                     user="alice", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
        prompt = self.prompts.do("agent.await_prompt")
        self.assertEqual([prompt[PURPOSE], prompt[CALLER], prompt[REASON]], [IDENTIFY, "latchkey", "example.com"])
        self.prompts.do("agent.event", [3])
        self.assertEqual(process.wait(20), REFUSED)
        self.assertEqual(self.machine.run("test", "-e", self.at("request"), check=False).returncode, 1)
        self.touching("enroll", "example.com", "--output", self.at("request"))
        challenge = (self.at("request"), "--state", self.at("pending"), "--output", self.at("challenge"))
        unknown = self.proof("challenge", *challenge, "--known", "00" * 34, check=False)
        self.assertEqual(unknown.returncode, FAILED)
        self.proof("challenge", *challenge, "--known", unknown.stderr.split("--known ")[1].strip())
        self.key("answer", "example.com", self.at("challenge"), "--output", self.at("answer"))
        self.proof("accept", self.at("answer"), "--state", self.at("pending"), "--output", self.at("device"))
        self.key("attest", "plain", "--party", "example.com", "--nonce", NONCE, "--output", self.at("proof"))
        self.key("public", "plain", "--format", "x963", "--output", self.at("point"))
        proven = self.proof("verify", self.at("proof"), "--device", self.at("device"), "--public-key", self.at("point"),
                            "--nonce", NONCE)
        self.assertIn("in a virtual TPM", proven.stdout)
        # Bob has neither the attestation key nor the key, and no passcode with which he could agree to an enrolment.
        bob = self.key("attest", "plain", "--party", "example.com", "--nonce", NONCE, "--hex", user="bob", check=False)
        self.assertEqual((bob.returncode, bob.stdout), (NOT_FOUND, ""))
        bob = self.key("enroll", "example.com", "--hex", user="bob", check=False)
        self.assertEqual((bob.returncode, bob.stdout), (REFUSED, ""))

    def test_another_user_has_no_use_of_a_key(self):
        self.create("plain")
        bob = self.key("sign", "plain", TEXT, user="bob", check=False)
        self.assertEqual((bob.returncode, bob.stdout), (NOT_FOUND, ""))
        # The socket of the TPM is not theirs either, so no command of theirs reaches a key.
        for user in ("alice", "bob"):
            done = self.machine.run("python3", "-c", f"import socket; socket.socket(1).connect('{PLACE}')", user=user,
                                    check=False)
            self.assertIn("PermissionError", done.stderr)

    def test_a_key_of_changed_fingers_signs_no_more(self):
        self.create("set", "--protect", "current-set")
        self.create("any", "--protect", "biometry")
        self.finger("replace")
        done = self.sign("set", check=False)
        self.assertEqual((done.returncode, "no longer enrolled" in done.stderr), (REFUSED, True), done.stderr)
        self.assertNothingSigned()
        self.touching(*self.signing("any"))
        self.assertSigned("any")


class DurabilityTests(ChipTest):
    def test_a_key_survives_a_restart_of_both_services(self):
        self.create("plain")
        self.create("touched", "--protect", "biometry")
        for end in (self.stop_services, self.kill_both):
            end()
            self.sign("plain")
            self.assertSigned("plain")
            # After a start the first touch needs the passcode.
            self.prompts = self.agent()
            with self.running(*self.signing("touched")):
                self.prompts.do("agent.await_prompt")
                self.prompts.do("agent.event", [5, PASSCODE])
                while self.prompts.do("agent.follow", 5)[1][0] != TOUCH:
                    pass
                self.finger("touch")
            self.assertSigned("touched")

    def test_without_the_TPM_the_failure_says_so_and_the_key_works_when_it_is_back(self):
        self.create("plain")
        self.sign("plain")
        self.assertSigned("plain")
        self.kill_service(UNIT)
        # The connection that latchkeyd has ends with the first use.
        self.assertFails(self.sign("plain", check=False), FAILED, "The TPM cannot be used: send: Broken pipe.")
        for argv in (self.signing("plain"), ("create", "--enclave", "another")):
            done = self.key(*argv, check=False)
            self.assertFails(done, FAILED, f"The TPM at {PLACE} cannot be opened")
            self.assertIn("latchkey doctor", done.stderr)
        self.assertNothingSigned()
        # Items that need no TPM are still there.
        self.assertEqual(self.first.do("app.read", "free"), b"the guarded secret")
        self.start_chip()
        self.sign("plain")
        self.assertSigned("plain")

    def test_a_TPM_that_ends_during_a_prompt_needs_another_touch(self):
        self.create("touched", "--protect", "biometry")
        with self.running(*self.signing("touched"), fails="The TPM cannot be used: send: Broken pipe."):
            self.prompts.do("agent.await_prompt")
            self.kill_service(UNIT)
            self.start_chip()
            self.finger("touch")
        self.await_end()
        self.assertNothingSigned()
        self.touching(*self.signing("touched"))
        self.assertSigned("touched")

    def test_a_key_of_another_TPM_is_reported_as_one(self):
        self.create("plain")
        self.stop_services()
        self.replace_chip()
        done = self.sign("plain", check=False)
        self.assertFails(done, FAILED, "The key was made by another TPM, or this TPM was cleared since then.")
        self.assertIn("register a new one", done.stderr)
        self.assertNothingSigned()
        self.create("new")
        self.sign("new")
        self.assertSigned("new")
        self.assertFails(self.sign("plain", check=False), FAILED, "another TPM")


class ConfigurationTests(ChipTest):
    def test_a_TPM_that_is_a_program_is_refused_unless_root_allows_it(self):
        self.create("before")
        self.stop_services()
        self.allow_virtual_hardware("no")
        done = self.key("create", "--enclave", "plain", check=False)
        self.assertFails(done, FAILED, "The TPM is a program (IBM SW")
        self.assertIn(f"adds a line to {CONFIGURATION}: allow-virtual-hardware = yes", done.stderr)
        self.assertEqual(self.key("list").stdout.count("plain"), 0)
        self.allow_virtual_hardware("yes")
        self.stop_services()
        self.create("plain")

    def test_a_key_of_software_is_used_after_the_change_to_the_TPM(self):
        text = self.machine.read(CONFIGURATION)
        self.stop_services()
        self.machine.write(CONFIGURATION, text.replace("enclave = tpm", "enclave = software"))
        self.create("soft")
        self.stop_services()
        self.machine.write(CONFIGURATION, text)
        self.sign("soft")
        self.assertSigned("soft")
        self.assertEqual(self.status()["enclave"], "tpm")


class OwnStoreTests(Chip, ServiceTest):
    """A daemon of alice's own, of tier user: root consents in a file of its own that the TPM is a program."""

    STORE, CONSENT = f"{FOLDER}/store", "/etc/latchkey/hardware.conf"

    def setUp(self):
        self.add_chip()
        super().setUp()
        self.machine.run("sh", "-c", f"rm -rf {FOLDER} && install -d -o alice -g alice -m 700 {FOLDER} {self.STORE} && "
                         f"chown alice {PLACE}")
        self.machine.write(f"{self.STORE}/latchkeyd.conf", f"tier = user\nenclave = tpm\ntpm = {PLACE}\n", 0o600,
                           "alice:alice")
        self.machine.write(TEXT, "the text that is signed", owner="alice:alice")
        self.addCleanup(self.stop_chip)
        self.addCleanup(self.machine.run, "rm", "-rf", FOLDER, self.CONSENT)
        self.addCleanup(self.end_own_daemon)

    def key(self, *argv, **options):
        return self.latchkey("key", *argv, env={"LATCHKEY_HOME": self.STORE, "HOME": "/home/alice"}, **options)

    def consent(self, text, owner="root:root"):
        self.end_own_daemon()
        self.machine.write(self.CONSENT, text, 0o644, owner)

    def test_with_the_consent_of_root_a_key_is_made_and_signs(self):
        self.consent("allow-virtual-hardware = yes\n")
        self.key("create", "--enclave", "plain")
        self.key("sign", "plain", TEXT, "--output", f"{FOLDER}/signature")
        self.key("public", "plain", "--output", f"{FOLDER}/public")
        done = self.machine.run("openssl", "dgst", "-sha256", "-verify", f"{FOLDER}/public",
                                "-signature", f"{FOLDER}/signature", TEXT, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "Verified OK\n"), done.stderr)
        fact("tier user", "a key in swtpm with the consent of root in /etc/latchkey/hardware.conf")

    def test_without_it_and_with_one_that_is_not_of_root_no_key_is_made(self):
        for text, owner, words in (
                (None, None, self.CONSENT), ("allow-virtual-hardware = no\n", "root:root", self.CONSENT),
                # With a file that another user can change the daemon does not start.
                ("allow-virtual-hardware = yes\n", "alice:alice", self.CONSENT)):
            with self.subTest(text=text, owner=owner):
                if text:
                    self.consent(text, owner)
                done = self.key("create", "--enclave", "plain", check=False)
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertIn(words, done.stderr)


del ChipTest
