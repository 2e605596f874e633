# SPDX-License-Identifier: Apache-2.0
"""Both services without units of their own, and services that read their secrets without a person."""

import subprocess

from machine import eventually
from services import AUTHORITY, KEYCHAIN, NOT_FOUND, RECORDS, SERVICES, SOCKETS, STORES, ServiceTest

PRIVILEGES = "00000000000800e0"


class PlainStartTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.machine.run("systemctl", "stop", *SOCKETS, *SERVICES)
        self.machine.run("sh", "-c", f"rm -rf /run/latchkey {STORES}/* {RECORDS}/*")
        self.started = []

    def tearDown(self):
        for process in reversed(self.started):
            process.kill()
            process.wait()
        self.machine.run("sh", "-c", "pkill -KILL -x latchkeyd; pkill -KILL -x latchkey-authd; rm -rf /run/latchkey",
                         check=False)
        self.machine.run("systemctl", "restart", *SOCKETS)

    def start(self, *argv):
        self.started.append(self.machine.start(*argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL))

    def test_both_services_work_without_a_service_manager(self):
        self.start("/usr/libexec/latchkey-authd")
        eventually(lambda: self.machine.run("test", "-S", "/run/latchkey/agents.sock", check=False).returncode == 0)
        self.start("setpriv", "--reuid", "latchkey", "--regid", "latchkey", "--clear-groups", "--bounding-set", "-all",
                   "/usr/libexec/latchkeyd", "--system")
        # Without the socket of the system, a program would create a store of its user.
        eventually(lambda: self.machine.run("test", "-S", "/run/latchkey/public/keychain.sock",
                                            check=False).returncode == 0)
        eventually(lambda: self.latchkey("status", check=False).returncode == 0)
        self.latchkey("set", "token", input="secret")
        self.assertEqual(self.latchkey("get", "token").stdout, "secret")
        self.assertEqual(self.latchkey("get", "token", user="bob", check=False).returncode, NOT_FOUND)
        pid = self.machine.run("pgrep", "-x", "latchkey-authd").stdout.strip()
        self.assertEqual(self.machine.status(pid)["CapEff"], PRIVILEGES)
        self.assertEqual(self.machine.status(pid)["NoNewPrivs"], "1")


class HeadlessTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.remove_stores()
        for name in ("first", "second"):
            self.machine.run("useradd", "--system", "--shell", "/usr/sbin/nologin", f"svc-{name}", check=False)

    def run_unit(self, user, command):
        """Runs a command in a unit with a user of its own; returns what it wrote."""
        return self.machine.run("systemd-run", "--wait", "--pipe", "--quiet", "-p", f"User={user}", "sh", "-c", command,
                                check=False)

    def test_a_service_reads_its_own_secret_without_a_person(self):
        self.assertEqual(self.run_unit("svc-first", "printf secret | latchkey set key").returncode, 0)
        for unit in (KEYCHAIN, AUTHORITY):
            self.kill_service(unit)
        self.assertEqual(self.run_unit("svc-first", "latchkey get key").stdout, "secret")

    def test_another_service_cannot_read_it(self):
        self.run_unit("svc-first", "printf secret | latchkey set key")
        done = self.run_unit("svc-second", "latchkey get key")
        self.assertEqual((done.returncode, done.stdout), (NOT_FOUND, ""))
