# SPDX-License-Identifier: Apache-2.0
"""`latchkey export` and `latchkey import` between two stores."""

import os
import pathlib
import stat

from store import PROGRAMS, SIMULATED, Store, StoreTest
from terminal import Terminal


class BackupCommandTests(StoreTest):
    def prepare(self):
        self.other = self.enterContext(Store(SIMULATED))
        for name, group in ("one", "test"), ("two", "test"), ("three", "other"):
            self.latchkey("set", "--protect", "none", name,
                          input=f"secret {name}", variables={"LATCHKEY_APP_ID": group})
        for store in self.store, self.other:
            store.latchkey("sim", "passcode", "set", input="1234\n")
        self.file = self.store.file("backup")

    def at_terminal(self, store, *command, last, input=""):
        """Runs a command on a terminal, with the passcode and the last step of its prompt; returns what it shows."""
        with Terminal([f"{PROGRAMS}/latchkey", *command], store.environment) as terminal:
            store.latchkey("sim", "enter", input="1234\n")
            store.latchkey("sim", last, input=input)
            text = terminal.rest()
            terminal.end()
            return text

    def export(self):
        """Exports; returns the recovery code that the prompt showed, and what the command showed."""
        text = self.at_terminal(self.store, "export", self.file, last="acknowledge")
        return self.latchkey("sim", "code"), text

    def test_items_of_every_app_are_imported_into_another_store(self):
        code, text = self.export()
        self.assertIn("3 items were exported", text)
        imported = self.at_terminal(self.other, "import", self.file, last="enter-code", input=code)
        self.assertIn("3 items were imported, 0 already present", imported)
        self.assertEqual(self.other.latchkey("get", "one"), "secret one")
        self.assertEqual(self.other.latchkey("get", "three", variables={"LATCHKEY_APP_ID": "other"}), "secret three")

    def test_a_code_is_shown_while_it_is_typed_and_asked_for_again_after_a_typing_error(self):
        code = self.export()[0].strip()
        wrong = code[:-1] + ("1" if code[-1] == "0" else "0")
        with Terminal([f"{PROGRAMS}/latchkey", "import", self.file], self.other.environment) as terminal:
            terminal.expect("Type your passcode")
            terminal.type("1234\r")
            terminal.expect("Type the recovery code of the backup")
            terminal.type(wrong)
            terminal.expect(wrong)
            terminal.type("\r")
            terminal.expect("compare its 26 characters")
            # What was typed stays, so that one character is corrected.
            terminal.type("\x7f" + code[-1] + "\r")
            self.assertIn("3 items were imported", terminal.rest())
            self.assertEqual(terminal.end(), 0)

    def test_a_code_in_place_of_the_passcode_does_not_count(self):
        code = self.export()[0].strip()
        with Terminal([f"{PROGRAMS}/latchkey", "import", self.file], self.other.environment) as terminal:
            terminal.expect("Type your passcode")
            terminal.type(code + "\r")
            terminal.expect("Type your passcode first.")
            terminal.type("1234\r")
            terminal.expect("Type the recovery code of the backup")
            terminal.type(code + "\r")
            self.assertIn("3 items were imported", terminal.rest())
        self.assertNotIn("wrong try", self.other.latchkey("log"))

    def test_a_backup_contains_no_plain_text_and_is_private(self):
        self.export()
        data = pathlib.Path(self.file).read_bytes()
        # Words of at least five letters: one of three letters occurs in so many random bytes by chance once in
        # 50,000 runs.
        for word in b"secret", b"three", b"other":
            self.assertNotIn(word, data)
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)
        again = self.store.run("export", self.file)
        self.assertEqual(again.returncode, 73)
        self.assertIn("--replace", again.stderr)

    def test_an_export_without_prompt_writes_nothing(self):
        self.assertEqual(self.store.run("export", self.file).returncode, 77)
        self.assertEqual([os.path.exists(self.file + end) for end in ("", ".partial")], [False, False])

    def test_a_truncated_file_imports_nothing(self):
        code, _ = self.export()
        data = pathlib.Path(self.file).read_bytes()
        pathlib.Path(self.file).write_bytes(data[:-100])
        imported = self.at_terminal(self.other, "import", self.file, last="enter-code", input=code)
        self.assertIn("ends too early", imported)
        self.assertIn("Nothing of it was imported", imported)
        self.assertNotEqual(self.other.run("get", "one").returncode, 0)
