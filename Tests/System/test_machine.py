# SPDX-License-Identifier: Apache-2.0
"""The machine itself: systemd, D-Bus and logind are real, its users have passwords, and the host is out of reach."""

import pathlib
import subprocess

from machine import CHECKOUT, PASSWORDS, MachineTest, eventually, fact


class ServiceManagerTests(MachineTest):
    def test_systemd_is_the_first_process(self):
        self.assertEqual(self.machine.read("/proc/1/comm"), "systemd\n")
        fact("systemd", self.machine.run("systemctl", "--version").stdout.splitlines()[0])
        fact("system", self.machine.run("sh", "-c", '. /etc/os-release && echo "$PRETTY_NAME"').stdout.strip())
        fact("kernel", self.machine.run("uname", "-sr").stdout.strip() + ", the host's")

    def test_no_unit_has_failed(self):
        self.assertEqual(self.machine.run("systemctl", "--failed", "--plain", "--no-legend").stdout, "")
        self.assertEqual(self.machine.state, "running")

    def test_dbus_answers_and_names_the_user_of_a_caller(self):
        owner = self.machine.run(
            "busctl", "--system", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
            "GetConnectionUnixUser", "s", "org.freedesktop.login1", user="alice")
        self.assertEqual(owner.stdout, "u 0\n")
        fact("dbus", self.machine.run("dbus-daemon", "--version").stdout.splitlines()[0])

    def test_the_journal_contains_the_output_of_a_service(self):
        self.machine.add_unit("test-output.service", "[Service]\nType=oneshot\nExecStart=/bin/echo a line of output\n")
        self.machine.run("systemctl", "start", "test-output")
        eventually(lambda: "a line of output" in self.machine.journal("test-output"))


class SessionTests(MachineTest):
    def properties(self, session):
        lines = self.machine.run("loginctl", "show-session", session).stdout.splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def sessions(self):
        lines = self.machine.run("loginctl", "--no-legend", "list-sessions").stdout.splitlines()
        return [line.split()[0] for line in lines]

    def test_logging_in_over_ssh_opens_a_session_that_ends_with_the_connection(self):
        with self.machine.session("bob") as session:
            properties = self.properties(session.id)
            self.assertEqual((properties["Name"], properties["Remote"], properties["State"]), ("bob", "yes", "active"))
            self.assertEqual(session.run("stat", "-c", "%u %a", "/run/user/1002").stdout, "1002 700\n")
            self.assertEqual(session.run("systemctl", "--user", "is-system-running", "--wait").stdout, "running\n")
            self.assertIn("/dev/pts/", session.run("tty", tty=True).stdout)
            fact("logind", f"session {session.id} of bob over SSH: class {properties['Class']}, {properties['State']}")
        eventually(lambda: session.id not in self.sessions())

    def test_two_users_have_sessions_at_once(self):
        with self.machine.session("alice") as alice, self.machine.session("bob") as bob:
            self.assertNotEqual(alice.id, bob.id)
            self.assertEqual(alice.run("id", "-un").stdout + bob.run("id", "-un").stdout, "alice\nbob\n")

    def test_su_opens_a_session_through_pam(self):
        session = self.machine.run("su", "-l", "alice", "-c", "printenv XDG_SESSION_ID; id -u").stdout.split()
        self.assertTrue(session[0].startswith("c"), session)
        self.assertEqual(session[1], "1001")

    def test_a_session_runs_a_copied_program_that_talks_through_its_input(self):
        program = pathlib.Path(self.image) / "usr/bin/rev"
        self.machine.copy(program, "/opt/copied", 0o750, "alice:alice")
        with self.machine.session("alice") as session:
            started = session.start("/opt/copied", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(started.communicate("input\n", timeout=10)[0], "tupni\n")
        self.assertNotEqual(self.machine.run("/opt/copied", user="bob", check=False).returncode, 0)

    def test_a_command_of_a_user_without_login_has_no_session(self):
        self.assertEqual(self.machine.run("printenv", "XDG_SESSION_ID", user="alice", check=False).stdout, "")

    def test_pam_knows_the_passwords_of_the_users(self):
        def check(user, password):
            return self.machine.run("/usr/sbin/unix_chkpwd", user, "nonull", user=user,
                                    input=password.encode() + b"\0", check=False).returncode
        for user, password in PASSWORDS.items():
            self.assertEqual(check(user, password), 0)
            self.assertNotEqual(check(user, password + "."), 0)


class IsolationTests(MachineTest):
    def test_no_mount_of_the_host_is_visible(self):
        # The /tmp of Debian 13 is a file system in memory, which systemd mounts.
        lines = [line for line in self.machine.read("/proc/self/mountinfo").splitlines() if " /tmp " not in line
                 or " - tmpfs tmpfs " not in line]
        places = [line.split()[4] for line in lines]
        self.assertEqual([place for place in places if not place.startswith(("/dev", "/proc", "/run", "/sys"))], ["/"])
        self.assertNotEqual(self.machine.run("test", "-e", CHECKOUT, check=False).returncode, 0)

    def test_the_network_is_the_loopback_interface(self):
        lines = self.machine.read("/proc/net/dev").splitlines()[2:]
        self.assertEqual([line.split(":")[0].strip() for line in lines], ["lo"])

    def test_settings_of_the_kernel_are_read_only(self):
        failed = self.machine.run("sh", "-c", "echo 1 >/proc/sys/vm/drop_caches", check=False)
        self.assertIn("Read-only file system", failed.stderr)

    def test_a_run_does_not_change_the_image(self):
        self.machine.write("/usr/share/written-by-a-test", "")
        self.assertFalse((pathlib.Path(self.image) / "usr/share/written-by-a-test").exists())

    def test_a_user_cannot_read_the_program_of_another_user(self):
        with self.machine.session("bob") as session:
            leader = self.machine.run("pgrep", "-u", "bob", "-x", "cat").stdout.split()[0]
            self.assertEqual(session.run("readlink", f"/proc/{leader}/exe").stdout, "/usr/bin/cat\n")
            denied = self.machine.run("readlink", f"/proc/{leader}/exe", user="alice", check=False)
            self.assertEqual((denied.returncode, denied.stdout), (1, ""))


class InstallationTests(MachineTest):
    def test_the_built_programs_run(self):
        built = [name for name in ("latchkey", "latchkeyd", "latchkey-prompt", "latchkey-authd")
                 if (pathlib.Path(self.programs) / name).exists()]
        if not built:
            fact("programs", "none built (`make build`)")
            self.skipTest("no programs: run `make build` first")
        version = self.machine.run("latchkey", "--version", user="alice").stdout.strip()
        self.assertNotEqual(version, "")
        fact("programs", f"{', '.join(built)}: {version}")

    def test_the_user_of_the_services_exists_and_cannot_log_in(self):
        entry = self.machine.run("getent", "passwd", "latchkey").stdout.strip().split(":")
        self.assertLess(int(entry[2]), 1000)
        self.assertTrue(entry[6].endswith("/nologin"))
