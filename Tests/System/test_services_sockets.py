# SPDX-License-Identifier: Apache-2.0
"""Sockets of the services with a wrong owner or mode, or with a listener that is neither root nor the service."""

import subprocess

from machine import eventually
from services import KEYCHAIN, SERVICES, SOCKETS, UNAVAILABLE, ServiceTest

FOLDER, PUBLIC = "/run/latchkey", "/run/latchkey/public"
# Binds the path argv[1] as root, listens as the user argv[2], and then accepts connections until it is killed.
LISTEN = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
os.setgroups([])
os.setresgid(*[int(sys.argv[2])] * 3)
os.setresuid(*[int(sys.argv[2])] * 3)
listener.listen()
print("listening", flush=True)
taken = []
while True:
    taken.append(listener.accept()[0])
    print("accepted", flush=True)
"""
BOB, UNIT = "1002", "test-keychain"


class SocketTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.remove_stores()
        self.latchkey("set", "--protect", "none", "token", input="of alice")
        self.addCleanup(self.restore)

    def restore(self):
        """Both services behind the sockets that systemd makes."""
        self.machine.run("systemctl", "stop", *SOCKETS, *SERVICES)
        self.machine.run("rm", "-rf", FOLDER)
        self.machine.run("systemctl", "reset-failed", *SERVICES, *SOCKETS, check=False)
        self.machine.run("systemctl", "start", *SOCKETS)
        self.assertEqual(self.latchkey("get", "token").stdout, "of alice")

    def assertRefused(self, words):
        """A program gets nothing, is told the reason, and begins no store of its own."""
        done = self.latchkey("get", "token", check=False)
        self.assertEqual(done.stdout, "")
        self.assertFails(done, UNAVAILABLE, words)
        self.assertIn("latchkey doctor", done.stderr)
        self.assertNoOwnStore()

    def listen(self, path, user=BOB):
        """A program of a user that listens in place of a service."""
        self.machine.run("rm", "-f", path)
        process = self.machine.start("python3", "-c", LISTEN, path, user, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "listening\n")
        return process

    def test_sockets_in_a_folder_that_others_can_change_are_not_used(self):
        for folder in (FOLDER, PUBLIC):
            for mode in ("775", "757", "1777"):
                with self.subTest(folder=folder, mode=mode):
                    self.machine.run("chmod", mode, folder)
                    self.assertRefused(f"{folder} can be changed by others than root")
                    self.machine.run("chmod", "755", folder)

    def test_sockets_in_a_folder_of_a_user_are_not_used(self):
        self.machine.run("chown", "bob", FOLDER)
        self.assertRefused(f"{FOLDER} can be changed by others than root")

    def test_a_program_gives_nothing_to_a_user_who_listens_in_place_of_latchkeyd(self):
        self.machine.run("systemctl", "stop", "latchkeyd.socket", KEYCHAIN)
        self.machine.run("mkdir", "-p", PUBLIC)
        listener = self.listen(f"{PUBLIC}/keychain.sock")
        done = self.latchkey("set", "--protect", "none", "password", input="a secret for the real service", check=False)
        self.assertFails(done, UNAVAILABLE, f"The socket {PUBLIC}/keychain.sock belongs to user {BOB}.")
        self.assertRefused(f"The socket {PUBLIC}/keychain.sock belongs to user {BOB}.")
        # The connections were made, so that the refusal is what ended them.
        self.assertEqual(listener.stdout.readline(), "accepted\n")

    def test_latchkeyd_takes_no_answer_of_a_user_who_listens_in_place_of_latchkey_authd(self):
        self.machine.run("systemctl", "stop", *SOCKETS, *SERVICES)
        self.machine.run("rm", "-rf", FOLDER)
        self.machine.run("install", "-d", "-m", "755", FOLDER)
        self.machine.run("install", "-d", "-m", "755", "-o", "latchkey", PUBLIC)
        listener = self.listen(f"{FOLDER}/authd.sock")
        # A unit of its own: that of latchkeyd would have systemd listen at authd.sock.
        self.machine.run("systemd-run", "--quiet", f"--unit={UNIT}", "-p", "User=latchkey", "/usr/libexec/latchkeyd",
                         "--system")
        self.addCleanup(self.machine.run, "systemctl", "stop", UNIT, check=False)
        eventually(lambda: self.machine.run("test", "-S", f"{PUBLIC}/keychain.sock", check=False).returncode == 0)
        # The process that connects to latchkey-authd is started with the first program of its user.
        self.latchkey("get", "token", check=False)
        self.assertEqual(listener.stdout.readline(), "accepted\n")
        words = f"The socket {FOLDER}/authd.sock belongs to user {BOB}."
        eventually(lambda: words in self.machine.journal(UNIT))
        done = self.latchkey("get", "token", check=False)
        self.assertEqual((done.returncode, done.stdout), (UNAVAILABLE, ""), done.stderr)
        # It runs, and tries again until root listens.
        self.assertEqual(self.machine.unit(f"{UNIT}.service")["ActiveState"], "active")
