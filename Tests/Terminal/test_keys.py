# SPDX-License-Identifier: Apache-2.0
"""`latchkey key` on a terminal: prompts, and what is written there."""

import os

from store import StoreTest
from test_prompts import TOUCH


class KeyScreenTests(StoreTest):
    def prepare(self):
        super().prepare()
        self.store.write("message", "message")
        self.message, self.signature = self.store.file("message"), self.store.file("sig")

    def key(self, *arguments, input=""):
        return self.latchkey("key", *arguments, input=input)

    def test_each_signature_requires_authentication(self):
        for options in [], ["--enclave"]:
            with self.subTest(options=options):
                self.key("create", "k", "--protect", "presence", *options)
                self.assertIn('"protection":"presence"', self.key("list", "--json"))
                # Reading the public key does not prompt.
                self.assertTrue(self.key("public", "k").startswith("-----BEGIN PUBLIC KEY-----"))
                self.store.write("sealed", self.key("encrypt", "k", "--base64", input="for your eyes"))
                refused = self.store.run("key", "sign", "k", "--hex", self.message)
                self.assertEqual((refused.returncode, refused.stdout), (77, ""))
                self.assertIn("No prompt can be shown here", refused.stderr)
                for _ in range(2):
                    terminal = self.start("key", "sign", "k", "--replace", "--output", self.signature, self.message)
                    terminal.expect('to "sign with k"', TOUCH)
                    terminal.type("m")
                    terminal.rest()
                    self.assertEqual(terminal.end(), 0)
                    verified = self.key("verify", "k", "--signature", self.signature, self.message)
                    self.assertEqual(verified, "The signature is valid.\n")
                terminal = self.start("key", "decrypt", "k", "--base64", self.store.file("sealed"))
                terminal.expect('to "decrypt with k"', TOUCH)
                terminal.type("m")
                terminal.expect("for your eyes")
                self.assertEqual(terminal.end(), 0)
                # Deleting does not prompt.
                self.assertEqual(self.key("delete", "k", "--yes"), "")

    def test_a_cancellation_yields_no_signature(self):
        for name, options in ("k", []), ("e", ["--enclave"]):
            with self.subTest(options=options):
                self.key("create", name, "--protect", "biometry", *options)
                terminal = self.start("key", "sign", name, "--output", self.signature, self.message)
                terminal.expect(TOUCH)
                terminal.type("\x1b")
                self.assertIn("Authentication was cancelled", terminal.rest())
                self.assertEqual(terminal.end(), 77)
                self.assertEqual([os.path.exists(self.signature + end) for end in ("", ".partial")], [False, False])

    def test_binary_output_is_not_written_to_the_terminal(self):
        self.key("create", "k", "--protect", "presence")
        for command in (["sign", "k", self.message], ["encrypt", "k", self.message], ["public", "k", "--format", "der"],
                        ["public", "k", "--format", "x963"]):
            with self.subTest(command=command):
                terminal = self.start("key", *command)
                shown = terminal.rest()
                self.assertIn("the result is binary and would go to the terminal", shown)
                self.assertIn("--base64", shown)
                # Refused without a prompt.
                self.assertNotIn("Touch", shown)
                self.assertEqual(terminal.end(), 64)
        terminal = self.start("key", "encrypt", "k", "--hex", self.message)
        self.assertIn("04", terminal.rest())
        self.assertEqual(terminal.end(), 0)

    def test_decrypted_control_sequences_are_not_written_to_the_terminal(self):
        self.key("create", "k")
        sealed = self.store.file("sealed")
        for text, is_shown in ("two\nlines", True), ("\x1b]0;owned\x07", False), ("a\u202eb", False):
            with self.subTest(text=text):
                self.store.write("sealed", self.key("encrypt", "k", "--base64", input=text))
                terminal = self.start("key", "decrypt", "k", "--base64", sealed)
                shown = terminal.rest()
                self.assertEqual(terminal.end(), 0 if is_shown else 1)
                self.assertNotIn("owned", shown)
                self.assertNotIn("\u202e", shown)
                self.assertIn("two\r\nlines\r\n" if is_shown else "would go to the terminal", shown)
                # A pipe receives the text unchanged.
                self.assertEqual(self.key("decrypt", "k", "--base64", sealed), text)

    def test_the_search_for_primes_is_shown(self):
        terminal = self.start("key", "create", "k", "--type", "rsa3072")
        shown = terminal.rest()
        self.assertTrue(shown.startswith("Searching for two primes") and shown.endswith("\r\x1b[KThe key k is made.\r\n"), shown)
        self.assertEqual(terminal.end(), 0)
        piped = self.store.run("key", "create", "other", "--type", "rsa2048")
        self.assertEqual((piped.returncode, piped.stdout, piped.stderr), (0, "", ""))
