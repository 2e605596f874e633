# SPDX-License-Identifier: Apache-2.0
"""Hostile use of backups through both services: proofs, cursors, changed files, and what a program sees of them."""

from clients import CANCELLED, DONE, NOT_FOUND, PASSCODE, SECRET, ClientTest

EXPORT, IMPORT, EXPORTED, IMPORTED, EXPORTED_EVENT = 25, 26, 11, 13, 20
ADD, ATTRIBUTE = 10, 14  # An attribute of bytes: kSecAttrGeneric.
CODE_SHOWN, CODE_ASKED = 1, 2
STEP, CODE, PURPOSE = 5, 7, 1


class BackupTests(ClientTest):
    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()
        for number in range(30):
            self.first.do("app.add", f"item {number}", bytes(20_000))

    def follow_to(self, step):
        """The content of a step of the prompt."""
        while True:
            kind, content = self.prompts.do("agent.follow", 15)
            self.assertEqual(kind, 1)
            if content[STEP] == step:
                return content

    def begin_export(self, app=None):
        """Begins an export and answers its prompts; the reply. The recovery code is then in `code`."""
        app = app or self.first
        app.begin("app.call", EXPORT, {}, 30)
        self.assertEqual(self.prompts.do("agent.await_prompt")[PURPOSE], 2)
        self.prompts.do("agent.event", [5, PASSCODE])
        self.code = self.follow_to(CODE_SHOWN)[CODE]
        self.prompts.do("agent.event", [9])
        reply = app.end()
        while self.prompts.do("agent.follow")[0] != 2:
            pass
        self.assertEqual(reply[0], EXPORTED)
        return reply[1]

    def export(self):
        part = self.begin_export()
        data = part[0]
        while 3 in part:
            part = self.first.do("app.call", EXPORT, {0: part[3]})[1]
            data += part[0]
        return data

    def import_all(self, data):
        """Imports a file; the last reply. The program sends it twice, as the protocol asks."""
        cursor, prompted = None, False
        while True:
            for begin in range(0, len(data), 60_000):
                parameters = {1: data[begin:begin + 60_000], 2: begin + 60_000 >= len(data)}
                if cursor is not None:
                    parameters[0] = cursor
                self.first.begin("app.call", IMPORT, parameters, 30)
                if not prompted:
                    prompted = True
                    self.prompts.do("agent.await_prompt")
                    self.prompts.do("agent.event", [5, PASSCODE])
                    self.follow_to(CODE_ASKED)
                    self.prompts.do("agent.event", [10, self.code])
                    while self.prompts.do("agent.follow")[0] != 2:
                        pass
                reply = self.first.end()
                if reply[0] != IMPORTED or 4 not in reply[1]:
                    return reply
                cursor = reply[1][4]

    def test_an_export_asks_for_the_passcode_whatever_was_proven_before(self):
        handle = self.proven(self.first, self.prompts)
        self.assertEqual(self.first.do("app.call", EXPORT, {0: handle})[0], 0)
        self.first.begin("app.call", EXPORT, {}, 30)
        prompt = self.prompts.do("agent.await_prompt")
        # The prompt has the text of the service, and nothing of the program but its name.
        self.assertEqual((prompt[PURPOSE], prompt[6], prompt[9]), (2, "", ""))
        self.prompts.do("agent.event", [3])
        self.assertEqual(self.first.end()[1][0], CANCELLED)

    def test_the_recovery_code_is_not_sent_before_the_passcode_was_entered(self):
        self.first.begin("app.call", EXPORT, {}, 30)
        self.assertEqual(self.prompts.do("agent.await_prompt")[15][CODE], b"")
        for event in ([9], [5, b"a wrong passcode"], [9]):
            self.prompts.do("agent.event", event)
        kind, content = self.prompts.do("agent.follow")
        self.assertEqual((kind, content[STEP], content[CODE]), (1, 0, b""))
        self.prompts.do("agent.event", [3])
        self.assertEqual(self.first.end()[1][0], CANCELLED)

    def test_a_cursor_is_valid_once_and_on_its_connection_only(self):
        cursor = self.begin_export()[3]
        self.first.do("App", kept="namesake")
        self.assertEqual(self.first.do("namesake.call", EXPORT, {0: cursor})[0], 0)
        bob = self.app("bob")
        self.assertEqual(bob.do("app.call", EXPORT, {0: cursor})[0], 0)
        self.assertEqual(self.first.do("app.call", EXPORT, {0: cursor})[0], EXPORTED)
        self.assertEqual(self.first.do("app.call", EXPORT, {0: cursor})[0], 0)

    def test_no_other_value_is_a_cursor(self):
        for parameters in ({0: -1}, {0: 0}, {0: 1 << 63}, {1: -1}, {0: bytes(15)}, {0: bytes(16)}, -1):
            self.first.do("App", kept="app")
            reply = self.first.do("app.call", EXPORT, parameters)
            self.assertTrue(reply is None or reply[0] == 0, parameters)

    def test_a_backup_contains_neither_a_secret_nor_its_code(self):
        data = self.export()
        for text in (SECRET, self.code, self.code.replace(b"-", b""), PASSCODE):
            self.assertNotIn(text, data)

    def test_large_attributes_of_another_program_do_not_end_an_export(self):
        other = self.app(program=self.program("/usr/bin/mail"))
        for number in range(40):
            item = {0: 1, 1: {2: f"fat {number}", ATTRIBUTE: bytes(60_000)}, 2: [1, 0], 3: b"x", 4: 0,
                    5: {1: False, 2: {0: "", 3: False}}}
            self.assertEqual(other.do("app.call", ADD, item), DONE)
        part = self.begin_export()
        while 3 in part:
            reply = self.first.do("app.call", EXPORT, {0: part[3]}, 30)
            self.assertEqual(reply[0], EXPORTED)
            part = reply[1]
        # Those of both programs: 30 large ones, "presence", "free", and the other program's.
        self.assertEqual(part[1], 72)

    def test_each_export_is_in_the_audit_log_before_its_first_byte(self):
        self.begin_export()
        self.kill_both()
        events = [event for _, event, _ in self.app().do("app.log")]
        self.assertEqual(events.count(EXPORTED_EVENT), 1)

    def test_a_file_that_was_cut_changed_or_continued_adds_nothing(self):
        data = self.export()
        self.assertEqual(self.first.do("app.call", 13, {0: 1, 1: {2: "free"}}), DONE)
        changed = data[:60] + bytes([data[60] ^ 1]) + data[61:]
        for name, bad in (("cut", data[:-60]), ("continued", data + b"\0"), ("changed", changed)):
            with self.subTest(name):
                self.assertEqual(self.import_all(bad)[0], 0)
                self.assertEqual(self.first.do("app.read", "free"), NOT_FOUND)
        self.assertEqual(self.import_all(data)[0], IMPORTED)
        self.assertEqual(self.first.do("app.read", "free"), SECRET)
