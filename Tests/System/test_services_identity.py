# SPDX-License-Identifier: Apache-2.0
"""Which programs the services tell apart, and by what: docs/reference/identity.md."""

from services import NOT_FOUND, ServiceTest


class ProgramIdentityTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.remove_stores()
        self.machine.run("rm", "-rf", "/usr/share/latchkey/apps.d")
        for path in ("/usr/bin/other", "/usr/bin/third"):
            self.machine.run("cp", "/usr/bin/latchkey", path)
            self.addCleanup(self.machine.run, "rm", "-f", path)

    def group(self, program, user="alice"):
        return self.status(user, program)["group"]

    def declare(self, name, text, **options):
        self.machine.write(f"/usr/share/latchkey/apps.d/{name}.conf", text, **options)
        self.addCleanup(self.machine.run, "rm", "-rf", "/usr/share/latchkey/apps.d")

    def test_a_program_of_the_system_has_its_path_as_identity(self):
        self.assertEqual(self.group("/usr/bin/latchkey"), "/usr/bin/latchkey")

    def test_a_copy_in_the_users_folder_has_only_the_users_identity(self):
        self.machine.run("cp", "/usr/bin/latchkey", "/home/alice/latchkey")
        self.addCleanup(self.machine.run, "rm", "/home/alice/latchkey")
        # Also when root owns the copy: the user can replace it.
        self.assertEqual(self.group("/home/alice/latchkey"), "user:1001")
        self.machine.run("chown", "alice", "/home/alice/latchkey")
        self.assertEqual(self.group("/home/alice/latchkey"), "user:1001")

    def test_a_program_that_others_can_change_has_only_the_users_identity(self):
        self.machine.run("chmod", "775", "/usr/bin/other")
        self.assertEqual(self.group("/usr/bin/other"), "user:1001")
        self.machine.run("chmod", "755", "/usr/bin/other")
        self.assertEqual(self.group("/usr/bin/other"), "/usr/bin/other")
        self.machine.run("chown", "alice", "/usr/bin/other")
        self.assertEqual(self.group("/usr/bin/other"), "user:1001")

    def test_a_program_with_the_name_of_an_interpreter_has_only_the_users_identity(self):
        self.machine.run("cp", "/usr/bin/latchkey", "/usr/local/bin/python3.99")
        self.addCleanup(self.machine.run, "rm", "/usr/local/bin/python3.99")
        self.assertEqual(self.group("/usr/local/bin/python3.99"), "user:1001")

    def test_a_program_started_with_injected_code_has_only_the_users_identity(self):
        group = self.machine.run("env", "LD_PRELOAD=libm.so.6", "latchkey", "status", user="alice").stdout
        self.assertIn("user:1001", group)

    def test_a_program_in_a_mount_namespace_has_only_the_users_identity(self):
        group = self.machine.run("unshare", "-m", "setpriv", "--reuid", "alice", "--regid", "alice", "--init-groups",
                                 "latchkey", "status").stdout
        self.assertIn("user:1001", group)

    def test_two_programs_do_not_see_each_others_items(self):
        self.latchkey("set", "--protect", "none", "token", input="of latchkey")
        self.assertFails(self.latchkey("get", "token", program="/usr/bin/other", check=False), NOT_FOUND, "There is no item")
        self.latchkey("set", "--protect", "none", "token", program="/usr/bin/other", input="of other")
        self.assertEqual(self.latchkey("get", "token").stdout, "of latchkey")
        self.assertEqual(self.latchkey("get", "token", program="/usr/bin/other").stdout, "of other")
        self.assertFails(self.latchkey("delete", "token", program="/usr/bin/third", check=False), NOT_FOUND, "There is no item")

    def test_programs_of_one_declared_app_share_their_items(self):
        self.declare("pair", "name = Pair\nprogram = /usr/bin/other\nprogram = /usr/bin/third\n")
        self.assertEqual((self.group("/usr/bin/other"), self.group("/usr/bin/third")), ("Pair", "Pair"))
        self.latchkey("set", "--protect", "none", "token", program="/usr/bin/other", input="of the app")
        self.assertEqual(self.latchkey("get", "token", program="/usr/bin/third").stdout, "of the app")
        self.assertFails(self.latchkey("get", "token", check=False), NOT_FOUND, "There is no item")
        # Other users have the same programs and none of the items.
        done = self.latchkey("get", "token", program="/usr/bin/third", user="bob", check=False)
        self.assertFails(done, NOT_FOUND, "There is no item")

    def test_a_declaration_that_others_can_change_is_not_used(self):
        text = "name = Pair\nprogram = /usr/bin/other\n"
        self.declare("pair", text, owner="alice:alice")
        self.assertEqual(self.group("/usr/bin/other"), "/usr/bin/other")
        self.declare("pair", text, mode=0o666)
        self.assertEqual(self.group("/usr/bin/other"), "/usr/bin/other")
        self.declare("pair", text)
        self.assertEqual(self.group("/usr/bin/other"), "Pair")

    def test_two_declarations_of_one_program_are_both_refused(self):
        self.declare("first", "name = First\nprogram = /usr/bin/other\n")
        self.declare("second", "name = Second\nprogram = /usr/bin/other\n")
        self.assertEqual(self.group("/usr/bin/other"), "/usr/bin/other")
