# SPDX-License-Identifier: Apache-2.0
"""Anchors, records and counters that are removed, cut or put back: nothing opens, and no new passcode replaces one."""

import pytest

from clients import DONE, PASSCODE, ROLLED_BACK, SECRET, SET_PASSCODE
from machine import changing
from services import RECORDS
from stores import FOLDER, KEPT, FileTest

DISCARD = 44


class TakeOverTests(FileTest):
    """The anchor says that a passcode is set. Who removes it must not be able to set one of their own."""

    def assertNotTakenOver(self):
        self.first, self.prompts = self.app(), self.agent()
        self.prompts.begin("auto", "agent", None, b"135790", 3)
        reply = self.first.do("app.call", 20, {0: SET_PASSCODE}, 20)
        self.assertNotEqual(reply, DONE)
        self.assertNotEqual(self.first.do("app.read", "presence", None, True, None, 20), SECRET)
        with self.assertRaises(RuntimeError):
            # No prompt was shown.
            self.prompts.end()

    def test_without_its_anchor_a_store_takes_no_new_passcode(self):
        anchor = f"{FOLDER}/anchor"
        for command in (f"rm {anchor}", changing(anchor, 40), f"truncate -s 45 {anchor}"):
            with self.subTest(command):
                self.stop_services()
                self.shell(f"rm -rf {KEPT}; cp -a {FOLDER} {KEPT}; {command}")
                self.assertNotTakenOver()
                self.stop_services()
                self.shell(f"rm -rf {FOLDER}; cp -a {KEPT} {FOLDER}")

    @pytest.mark.promise("anchor.missing")
    def test_without_its_anchor_no_program_discards_the_items_of_a_store(self):
        self.stop_services()
        self.shell(f"rm -rf {KEPT}; cp -a {FOLDER} {KEPT}; rm {FOLDER}/anchor")
        self.first = self.app()
        self.assertNotIn(self.first.do("app.call", DISCARD, {}, 20), (None, DONE))
        self.stop_services()
        self.shell(f"cp -a {KEPT}/anchor {FOLDER}/")
        self.restart()
        with self.typing(self.prompts):
            self.assertEqual(self.first.do("app.read", "presence", None, True, None, 20), SECRET)

    def test_without_its_records_a_database_is_refused(self):
        for name in ("state", "audit.end", "header", "header.code"):
            with self.subTest(name):
                self.stop_services()
                self.shell(f"rm -rf {KEPT}; cp -a {FOLDER} {KEPT}")
                self.query(f"DELETE FROM record WHERE name = '{name}'", "SELECT 1")
                done = self.latchkey("check", check=False)
                self.assertNotEqual(done.returncode, 0, name)
                self.stop_services()
                self.shell(f"rm -rf {FOLDER}; cp -a {KEPT} {FOLDER}")

    @pytest.mark.promise("abuse.29")
    def test_an_older_database_and_anchor_beside_newer_counters_are_refused_abuse29(self):
        self.stop_services()
        self.shell(f"rm -rf {KEPT}; cp -a {FOLDER} {KEPT}")
        self.restart()
        self.first.do("app.add", "late", SECRET)
        self.stop_services()
        self.shell(f"cp -a {KEPT}/anchor {KEPT}/keychain.sqlite {FOLDER}/")
        self.restart()
        self.assertEqual(self.read("free"), ROLLED_BACK)


class CounterTests(FileTest):
    """The counters of latchkey-authd."""

    def tries(self):
        """The tries that a new prompt offers, and the seconds for which it delays them."""
        self.first.begin("app.read", "presence", None, True, None, 20)
        content = self.prompts.do("agent.await_prompt")[15]
        self.prompts.do("agent.event", [3])
        self.first.end()
        return content[2], content[6]

    @pytest.mark.promise("abuse.27")
    def test_removed_or_cut_counters_count_as_used_up_abuse27(self):
        self.assertEqual(self.tries()[1], 0)
        for command in ("rm counters", "truncate -s 4096 counters", "truncate -s 0 counters",
                        "dd if=/dev/zero of=counters bs=4096 count=3 conv=notrunc 2>/dev/null"):
            with self.subTest(command):
                self.stop_services()
                self.shell(f"rm -rf {KEPT}; cp -a {RECORDS}/1001 {KEPT}; cd {RECORDS}/1001 && {command}")
                self.restart()
                self.assertGreater(self.tries()[1], 0)
                self.stop_services()
                self.shell(f"rm -rf {RECORDS}/1001; cp -a {KEPT} {RECORDS}/1001")

    @pytest.mark.promise("abuse.39")
    def test_a_removed_or_cut_record_of_the_passcode_opens_nothing_abuse39(self):
        for command in ("rm passcodes", "truncate -s 60 passcodes", "truncate -s 0 passcodes"):
            with self.subTest(command):
                self.stop_services()
                self.shell(f"rm -rf {KEPT}; cp -a {RECORDS}/1001 {KEPT}; cd {RECORDS}/1001 && {command}")
                self.restart()
                for passcode in (b"135790", PASSCODE):
                    self.prompts.begin("auto", "agent", passcode, b"135790", 3)
                    self.assertNotEqual(self.first.do("app.read", "presence", None, True, None, 20), SECRET)
                    reply = self.first.do("app.call", 20, {0: SET_PASSCODE}, 20)
                    self.assertNotEqual(reply, DONE)
                    self.prompts.stop()
                    self.prompts = self.agent()
                self.stop_services()
                self.shell(f"rm -rf {RECORDS}/1001; cp -a {KEPT} {RECORDS}/1001")
        self.restart()
        with self.typing(self.prompts):
            self.assertEqual(self.first.do("app.read", "presence", None, True, None, 20), SECRET)
