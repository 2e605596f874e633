# SPDX-License-Identifier: Apache-2.0
"""Both services without units of their own."""

import subprocess

from machine import eventually
from services import NOT_FOUND, RECORDS, SERVICES, SOCKETS, STORES, UNAVAILABLE, ServiceTest

PRIVILEGES = "00000000000800e0"


class PlainStartTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.started = []
        self.addCleanup(self.end_all)
        # The service manager makes the folders of the state when it starts the services.
        self.latchkey("status")
        self.machine.run("systemctl", "stop", *SOCKETS, *SERVICES)
        self.machine.run("sh", "-c", f"rm -rf /run/latchkey {STORES}/* {RECORDS}/*")

    def end_all(self):
        for process in reversed(self.started):
            process.kill()
            process.wait()
        self.machine.run("sh", "-c", "pkill -KILL -x latchkeyd; pkill -KILL -x latchkey-authd; rm -rf /run/latchkey",
                         check=False)
        self.machine.run("systemctl", "restart", *SOCKETS)

    def start(self, *argv):
        self.started.append(self.machine.start(*argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL))

    def test_no_own_store_is_made_before_the_services_have_started(self):
        done = self.latchkey("set", "--protect", "none", "token", input="secret", check=False)
        self.assertFails(done, UNAVAILABLE, "keychain.sock is missing")
        self.assertIn("systemctl enable --now latchkeyd.socket", done.stderr)
        self.assertNoOwnStore()

    def test_both_services_work_without_a_service_manager(self):
        self.start("/usr/libexec/latchkey-authd")
        eventually(lambda: self.machine.run("test", "-S", "/run/latchkey/agents.sock", check=False).returncode == 0)
        self.start("setpriv", "--reuid", "latchkey", "--regid", "latchkey", "--clear-groups", "--bounding-set", "-all",
                   "/usr/libexec/latchkeyd", "--system")
        eventually(lambda: self.latchkey("status", check=False).returncode == 0)
        self.assertEqual(self.status()["tier"], "file")
        self.assertNoOwnStore()
        self.latchkey("set", "--protect", "none", "token", input="secret")
        self.assertEqual(self.latchkey("get", "token").stdout, "secret")
        self.assertEqual(self.latchkey("get", "token", user="bob", check=False).returncode, NOT_FOUND)
        pids = self.machine.run("pgrep", "-x", "latchkey-authd").stdout.split()
        # The accepting process, that of the sensors, and those of alice and bob.
        self.assertEqual(len(pids), 4)
        for pid in pids:
            self.assertEqual(self.machine.status(pid)["CapEff"], PRIVILEGES)
            self.assertEqual(self.machine.status(pid)["NoNewPrivs"], "1")
