# SPDX-License-Identifier: Apache-2.0
"""The language of a prompt on a terminal, with installed programs: the catalogue is found beside them."""

import os
import shutil
import subprocess

from store import PROGRAMS, ROOT, ProtectedItemTest


def install(prefix):
    """Installs the daemon and the prompt with the catalogues, and beside it a folder of catalogues for Swedish."""
    subprocess.run([ROOT / "scripts/words", "build", f"{prefix}/share/locale"], check=True, stdout=subprocess.DEVNULL)
    os.makedirs(f"{prefix}/libexec")
    shutil.copytree(f"{prefix}/share/locale/de", f"{prefix}/other/sv")
    for program in "latchkeyd", "latchkey-prompt":
        shutil.copy(f"{PROGRAMS}/{program}", f"{prefix}/libexec")


class PromptLanguageTests(ProtectedItemTest):
    def prepare(self):
        super().prepare()
        # The daemon that made the item is not the installed one.
        self.store.crash()
        self.prefix = self.store.file("prefix")
        install(self.prefix)

    def get(self, variables):
        return self.start(
            "get", "protected", columns=100, rows=40,
            variables={"LATCHKEY_DAEMON": f"{self.prefix}/libexec/latchkeyd", "TERM": "xterm", **variables})

    def test_the_language_is_that_of_the_caller(self):
        # The daemon is one for all callers.
        german, english = "„latchkey“ fragt nach Ihrem Fingerabdruck", "“latchkey” asks for your fingerprint"
        for variables, question, cancel in [
            ({"LANG": "de_DE.UTF-8"}, german, "Esc/Strg-C Abbrechen"),
            ({"LANG": "en_GB.UTF-8"}, english, "Esc/Ctrl-C Cancel"),
            ({"LANG": "en_GB.UTF-8", "LANGUAGE": "de"}, german, "Abbrechen"),
            ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, '"latchkey" asks for your fingerprint', "Esc/Ctrl-C Cancel"),
            # The folder of catalogues is not the caller's choice.
            ({"LANG": "sv_SE.UTF-8", "LATCHKEY_LOCALE_DIR": f"{self.prefix}/other"}, english, "Esc/Ctrl-C Cancel"),
        ]:
            with self.subTest(variables=variables):
                terminal = self.get(variables)
                terminal.shows(question)
                terminal.shows(cancel)
                # The keys are the same in every language.
                terminal.type("m")
                terminal.shows("value")
                self.assertEqual(terminal.end(), 0)
                self.assertEqual(terminal.screen.unknown, [])

    def test_sentences_for_screen_readers_are_translated_too(self):
        terminal = self.get({"LANG": "de_DE.UTF-8", "LATCHKEY_PROMPT": "plain"})
        terminal.shows("„latchkey“ fragt nach Ihrem Fingerabdruck für „read")
        terminal.shows("Esc/Strg-C für Abbrechen")
        terminal.type("m")
        terminal.shows("Die Anfrage von Latchkey ist beendet.")
        self.assertEqual(terminal.end(), 0)
