# SPDX-License-Identifier: Apache-2.0
"""The two services of Latchkey in the shared machine, and what tests of them need."""

import json
import re

from machine import PASSWORDS, MachineTest, eventually

KEYCHAIN, AUTHORITY = "latchkeyd.service", "latchkey-authd.service"
SERVICES = (KEYCHAIN, AUTHORITY)
SOCKETS = ("latchkeyd.socket", "latchkey-authd.socket", "latchkey-agents.socket")
STORES, RECORDS = "/var/lib/latchkey", "/var/lib/latchkey-authd"
CONFIGURATION = "/etc/latchkey/latchkeyd.conf"

# Exit statuses of `latchkey`, of sysexits.h.
REFUSED, NOT_FOUND, UNAVAILABLE = 77, 66, 69


def filled(template, *values):
    """The English of a text for people, which frames and a service's own log contain as a template and its values."""
    return re.sub(r"%([1-9])\$s", lambda found: values[int(found[1]) - 1], template)


def own_log(machine, folder):
    """What a service has logged, with the texts in English."""
    fields = re.split("([\t\n])", machine.read(f"{folder}/daemon.log"))
    return "".join(filled(*field.split("\x1f")) for field in fields)


class ServiceTest(MachineTest):
    """A test of both services, which run as after a start of the machine."""

    def setUp(self):
        if self.machine.run("test", "-x", "/usr/libexec/latchkey-authd", check=False).returncode != 0:
            self.skipTest("no programs: run `make build` first")
        # Tests end services more often than systemd's limit of starts permits.
        self.machine.run("systemctl", "reset-failed", *SERVICES, *SOCKETS, check=False)
        self.machine.run("systemctl", "start", *SOCKETS)

    def latchkey(self, *argv, user="alice", program="latchkey", **options):
        """Runs `latchkey` as a user without a session; raises unless its status is 0, as `Machine.run` does."""
        return self.machine.run(program, *argv, user=user, **options)

    def assertNoOwnStore(self, user="alice"):
        """Asserts that a user has no store of their own, which programs would use instead of the system's keychain."""
        home = self.machine.run("getent", "passwd", user).stdout.split(":")[5]
        found = self.machine.run("find", home, "-name", "root.key").stdout
        self.assertEqual(found, "", f"{user} has a store of tier user")

    def prove_account(self, terminal, user="alice"):
        """Types the password of the account, which a first passcode needs."""
        terminal.expect("password of your account")
        terminal.type(PASSWORDS[user] + "\r")

    def status(self, user="alice", program="latchkey"):
        """The status that a program gets, as a dictionary."""
        return json.loads(self.latchkey("status", "--json", user=user, program=program).stdout)

    def stop_services(self):
        """Stops both services; the sockets remain, so that a connection starts them again.

        latchkeyd is stopped first: when it loses latchkey-authd, it connects again at once, which would start that one
        with the configuration of before.
        """
        for unit in (KEYCHAIN, AUTHORITY):
            # A start that cancels the job makes it fail.
            self.machine.run("systemctl", "stop", unit, check=False)
        eventually(self._are_stopped)
        self.machine.run("systemctl", "reset-failed", *SERVICES, check=False)

    def _are_stopped(self):
        """Whether both services are stopped. A connection that was waiting at a socket starts its service again, which also
        cancels a job that stops it: so this stops them once more."""
        states = self.machine.run("systemctl", "is-active", *SERVICES, check=False).stdout.split()
        if set(states) <= {"inactive", "failed"}:
            return True
        self.machine.run("systemctl", "stop", *SERVICES, check=False)
        return False

    def remove_stores(self):
        """Begins without any store or record."""
        self.stop_services()
        self.machine.run("sh", "-c", f"rm -rf {STORES}/* {RECORDS}/*")

    def own_daemons(self):
        """The process numbers of alice's own daemons."""
        return self.machine.run("pgrep", "-u", "alice", "-x", "latchkeyd", check=False).stdout.split()

    def end_own_daemon(self):
        """Ends alice's own daemons as SIGKILL does."""
        for pid in self.own_daemons():
            self.machine.run("kill", "-KILL", pid, check=False)
        eventually(lambda: not self.own_daemons())

    def processes(self, unit):
        """The processes of a service, by their number, with their arguments; none if it does not run."""
        group, found = self.machine.unit(unit).get("ControlGroup"), {}
        if not group:
            return found
        for pid in self.machine.run("cat", f"/sys/fs/cgroup{group}/cgroup.procs", check=False).stdout.split():
            words = self.machine.run("cat", f"/proc/{pid}/cmdline", check=False).stdout.split("\0")[:-1]
            found[int(pid)] = words
        return found

    def process_of(self, unit, user="alice"):
        """The process of a service that serves a user; waits until there is one."""
        number = self.machine.run("id", "-u", user).stdout.strip()

        def find():
            return [pid for pid, words in self.processes(unit).items() if words[-2:] == ["--worker", number]]
        return eventually(find)[0]

    def sensors_process(self):
        """The process of latchkey-authd that speaks to fprintd and logind; waits until there is one."""
        return eventually(lambda: [pid for pid, words in self.processes(AUTHORITY).items() if words[-1:] == ["--sensors"]])[0]

    def kill_service(self, unit):
        """Ends all processes of a service as SIGKILL does, and returns when systemd knows it; a waiting client starts it again."""
        pid = self.machine.main_pid(unit)
        # At once: a process of a user whose accepting process is killed before it stops cleanly.
        group = self.machine.unit(unit)["ControlGroup"]
        self.machine.run("sh", "-c", f"echo 1 >/sys/fs/cgroup{group}/cgroup.kill")
        eventually(lambda: int(self.machine.unit(unit)["MainPID"]) != pid)
        self.machine.run("systemctl", "reset-failed", unit, check=False)

    def bus_connection(self, pid):
        """The connection of a process to the system's message bus."""
        lines = self.machine.run("busctl", "list", "--no-legend", "--unique").stdout.splitlines()
        (found,) = [line.split()[0] for line in lines if line.split()[1] == str(pid)]
        return found

    def forge(self, pid, path, interface, member, *arguments, user="alice"):
        """Sends a signal to a process that speaks to the system's message bus, as any program of a user can."""
        self.machine.run("busctl", "emit", "--destination=" + self.bus_connection(pid), path, interface, member,
                         *arguments, user=user)

    def assertFails(self, done, status, words):
        """Asserts the exit status of a command and a part of its message."""
        self.assertEqual((done.returncode, words in done.stderr), (status, True), done.stderr)
