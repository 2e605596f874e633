# SPDX-License-Identifier: Apache-2.0
"""Programs that pretend to be other ones: messages, process ids, scripts, sandboxes and environments."""

import subprocess

import pytest

from clients import NO_GROUP, NOT_FOUND, SECRET, ClientTest
from machine import eventually
from services import KEYCHAIN

MINE, OTHER = "/usr/bin/notes", "/usr/bin/mail"
REFUSED = 5

# Runs a program as alice with the process id argv[1], by CLONE3 with set_tid (clone(2)).
AS_PROCESS = """
import ctypes, os, sys
tids = (ctypes.c_int * 1)(int(sys.argv[1]))
arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17, 0, 0, 0, ctypes.addressof(tids), 1, 0)
if ctypes.CDLL(None, use_errno=True).syscall(435, arguments, 88) == 0:
    os.setgroups([])
    os.setgid(1001)
    os.setuid(1001)
    os.execv(sys.argv[2], sys.argv[2:])
elif ctypes.get_errno():
    sys.exit(os.strerror(ctypes.get_errno()))
print("started", flush=True)
os.wait()
"""


class MessageTests(ClientTest):
    def setUp(self):
        super().setUp()
        self.mine = self.app(program=self.program(MINE))
        self.assertEqual(self.mine.do("app.group"), MINE)
        self.mine.do("app.add", "token", SECRET)
        self.other = self.app(program=self.program(OTHER))

    @pytest.mark.promise("abuse.1")
    def test_an_item_of_a_foreign_group_is_not_found_and_not_told_apart_from_a_missing_one_abuse1(self):
        self.assertEqual(self.other.do("app.read", "token"), NOT_FOUND)
        for name in ("token", "missing"):
            self.assertEqual(self.other.do("app.read", name, group=MINE), NO_GROUP)
            self.assertEqual(self.other.do("app.read", name, group="/usr/bin/of-none"), NO_GROUP)
        self.assertEqual(self.mine.do("app.read", "token"), SECRET)

    @pytest.mark.promise("abuse.2")
    def test_an_identity_in_a_message_is_ignored_abuse2(self):
        for hello in ({0: MINE}, {0: "x", 2: [MINE]}, {0: MINE, 2: [MINE, OTHER], 130: 1002}):
            self.other.do("App", kept="app", hello=hello)
            self.assertEqual(self.other.do("app.group"), OTHER)
            self.assertEqual(self.other.do("app.read", "token"), NOT_FOUND)
            self.assertEqual(self.other.do("app.read", "token", group=MINE), NO_GROUP)
        bob = self.app("bob", program=MINE)
        bob.do("App", kept="app", hello={0: MINE, 130: 1001})
        self.assertEqual(bob.do("app.read", "token"), NOT_FOUND)

    def test_the_refusal_of_a_foreign_group_is_audited_abuse2(self):
        self.assertEqual(self.other.do("app.read", "token", group=MINE), NO_GROUP)
        refused = [caller for _, event, caller in self.mine.do("app.log") if event == REFUSED]
        self.assertEqual(refused, ["mail"])


class ProcessTests(ClientTest):
    @pytest.mark.promise("abuse.2")
    def test_a_process_id_that_another_program_has_by_then_gives_nothing_of_it_abuse3(self):
        keeper = self.app(program=self.program(MINE))
        keeper.do("app.add", "token", SECRET)
        service = self.process_of(KEYCHAIN)
        holder = self.client()
        self.machine.run("kill", "-STOP", service)
        try:
            # A child connects and ends; its number is then that of a program with an identity of its own.
            number = holder.do("connect_in_a_child", kept=None)
            with self.machine.start("python3", "-c", AS_PROCESS, number, MINE, "-c", "import signal; signal.pause()",
                                    stdout=subprocess.PIPE, text=True) as reused:
                self.assertEqual(reused.stdout.readline(), "started\n")
                self.assertEqual(self.machine.run("readlink", f"/proc/{number}/exe").stdout, MINE + "\n")
                self.machine.run("kill", "-CONT", service)
                seen = holder.do("use_of_the_child")
                reused.kill()
        finally:
            self.machine.run("kill", "-CONT", service)
        self.assertIn(seen, (["ended"], ["user:1001", NOT_FOUND, NO_GROUP]))

    @pytest.mark.promise("abuse.5")
    def test_a_script_of_root_has_the_identity_of_its_user_abuse5(self):
        self.program(MINE)
        script = ("#!{}\nimport sys\nsys.path.insert(0, '/usr/local/lib/latchkey')\n"
                  "from attack_client import App\nprint(App().group())\n")
        for number, interpreter in enumerate(("/usr/bin/python3", "/usr/bin/env python3")):
            path = f"/usr/local/bin/script-{number}"
            self.machine.write(path, script.format(interpreter), mode=0o755)
            self.addCleanup(self.machine.run, "rm", path)
            self.assertEqual(self.machine.run(path, user="alice").stdout, "user:1001\n")

    @pytest.mark.promise("abuse.5")
    def test_a_copy_that_its_user_can_change_has_the_identity_of_its_user_abuse6(self):
        self.program("/home/alice/notes")
        self.assertEqual(self.app(program="/home/alice/notes").do("app.group"), "user:1001")
        # A name of the copy in a folder of root does not change that.
        self.machine.run("ln", "-s", "/home/alice/notes", "/usr/bin/linked")
        self.addCleanup(self.machine.run, "rm", "/usr/bin/linked")
        self.assertEqual(self.app(program="/usr/bin/linked").do("app.group"), "user:1001")

    @pytest.mark.promise("abuse.5")
    def test_a_forged_sandbox_has_the_identity_of_its_user_abuse7(self):
        self.machine.write("/.flatpak-info", "[Application]\nname=org.example.Notes\n", mode=0o666, owner="alice:alice")
        self.addCleanup(self.machine.run, "rm", "/.flatpak-info")
        print_group = ("import sys; sys.path.insert(0, '/usr/local/lib/latchkey'); from attack_client import App;"
                       "print(App().group())")
        with self.machine.session("alice") as session:
            for prefix in ([], ["unshare", "-Ur"], ["unshare", "-Urm"]):
                done = session.run(*prefix, "python3", "-c", print_group)
                self.assertEqual(done.stdout, "user:1001\n")
            # The user's own service manager makes a control group of any name.
            done = session.run("systemd-run", "--user", "--scope", "--quiet", "--unit",
                               "app-flatpak-org.example.Notes-1234", "python3", "-c", print_group)
            self.assertEqual(done.stdout, "user:1001\n")

    @pytest.mark.promise("abuse.8")
    def test_a_program_with_more_rights_ignores_the_environment_abuse8(self):
        self.latchkey("set", "--protect", "none", "token", user="bob", input="of bob")
        self.machine.run("install", "-m", "4755", "-o", "bob", "/usr/bin/latchkey", "/usr/bin/as-bob")
        self.addCleanup(self.machine.run, "rm", "/usr/bin/as-bob")
        self.machine.write("/home/alice/daemon", "#!/bin/sh\nid -u >/tmp/executed\n", mode=0o755, owner="alice:alice")
        self.machine.run("install", "-d", "-o", "alice", "-m", "700", "/home/alice/fake")
        for variables in ({"LATCHKEY_HOME": "/home/alice/fake"}, {"LATCHKEY_DAEMON": "/home/alice/daemon"},
                          {"LATCHKEY_HOME": "/home/alice/fake", "LATCHKEY_DAEMON": "/home/alice/daemon",
                           "XDG_DATA_HOME": "/home/alice/fake", "XDG_RUNTIME_DIR": "/home/alice/fake",
                           "LATCHKEY_APP_ID": "/usr/bin/latchkey"}):
            status = self.machine.run("/usr/bin/as-bob", "status", user="alice", env=variables, check=False)
            self.assertIn("/var/lib/latchkey/1002\n", status.stdout, variables)
            self.assertEqual(self.machine.run("test", "-e", "/tmp/executed", check=False).returncode, 1, variables)
            self.assertEqual(self.machine.run("ls", "/home/alice/fake").stdout, "", variables)
        # Without more rights than its user has, the same program obeys these variables.
        with self.machine.start("/usr/bin/latchkey", "status", user="alice", env=variables,
                                stderr=subprocess.DEVNULL) as obeying:
            eventually(lambda: self.machine.run("cat", "/tmp/executed", check=False).stdout == "1001\n")
            obeying.kill()
        self.machine.run("rm", "/tmp/executed")


