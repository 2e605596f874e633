# SPDX-License-Identifier: Apache-2.0
"""Tier `user` with the real fprintd and the real logind: the daemon of alice and the process of its sensors, at her seat."""

import functools

from clients import (
    CURRENT_SET, DONE, NO_INTERACTION, PASSCODE, PRESENCE, SECRET, SENSOR_REFUSED, SESSIONS_REFUSED,
    WHEN_PASSCODE_SET, ClientTest)
from fingers import ANY_FINGER, TOUCHED, WithFingers
from fprint import UNIT, WithFprintd
from locks import LocksOfEveryTier, WithSession
from machine import eventually, fact
from sleeping import SleepOfEveryTier

HOME = "/home/alice/own-sensors"
ENVIRONMENT = ("env", f"LATCHKEY_HOME={HOME}", "HOME=/home/alice")
NOT_AVAILABLE, NO_BINDING = 75, 50


class UserTest(WithSession, WithFprintd, WithFingers, ClientTest):
    RULES = (("any", ANY_FINGER),)

    def person(self):
        """The app and the agent of alice, whose own daemon was started in her session at the machine."""
        self.addCleanup(self.machine.run, "rm", "-rf", HOME)
        self.addCleanup(self.end_own_daemon)
        self.own("passcode", "set", input=PASSCODE + b"\n")
        self.place = self.machine.read(f"{HOME}/daemon.lock").split("\n")[1]
        app, agent = self.app(), self.agent()
        for name, constraints in (("presence", PRESENCE), ("free", 0)):
            self.assertEqual(app.do("app.add", name, SECRET, constraints), DONE)
        return app, agent

    @property
    def starter(self):
        """Starts the first program of alice, and with it her daemon."""
        return self.seat.start

    def own(self, *argv, input=None):
        program = self.starter(*ENVIRONMENT, "latchkey", *argv, stdin=-1, stdout=-1, stderr=-1)
        output, errors = program.communicate(input, timeout=30)
        self.assertEqual(program.returncode, 0, errors)
        return output.decode()

    def app(self, user="alice", **options):
        client = self.client(user, **options)
        client.do("App", path=self.place, kept="app")
        return client

    def agent(self, user="alice", **options):
        client = self.client(user, **options)
        client.do("Agent", path=self.place, kept="agent")
        self.assertEqual(client.do("agent.registered"), DONE)
        return client

    def sensors(self):
        """The process numbers of alice's sensor processes."""
        return self.machine.run("pgrep", "-u", "alice", "-f", "latchkey-authd --user", check=False).stdout.split()


class SensorTests(UserTest):
    def test_a_touch_answers_policies_and_any_finger_and_binds_nothing_to_the_enrolled_ones(self):
        self.assertEqual(self.read_with_a_touch("any"), SECRET)
        self.await_end()
        self.touched()
        refused = self.first.do("app.add", "set", SECRET, CURRENT_SET)
        self.assertEqual(refused[1][0], NO_BINDING)
        fact("fprintd in tier user", "a touch released an item; no item is bound to the enrolled fingers")

    def test_another_finger_releases_nothing(self):
        self.first.begin("app.read", "any", None, True, None, 20)
        self.asked()
        self.finger("miss")
        self.prompts.do("agent.follow")
        self.prompts.do("agent.event", [3])
        self.assertNotEqual(self.first.end(), SECRET)
        eventually(self.reader_is_free)

    def test_the_process_has_no_privilege_and_no_environment_and_ends_with_the_daemon(self):
        [process] = self.sensors()
        status = self.machine.status(process)
        self.assertEqual((status["CapEff"], status["Uid"].split()[0]), ("0" * 16, "1001"))
        self.assertEqual(self.machine.read(f"/proc/{process}/environ"), "")
        self.first.stop()
        self.prompts.stop()
        self.end_own_daemon()
        eventually(lambda: not self.sensors())

    def test_a_process_that_is_killed_during_a_scan_fails_it_and_the_next_one_works(self):
        self.evaluate()
        self.asked()
        eventually(lambda: not self.reader_is_free())
        self.machine.run("kill", "-KILL", *self.sensors())
        self.assertNotEqual(self.first.end(), TOUCHED)
        eventually(self.reader_is_free)
        eventually(lambda: not self.is_locked())
        # The next process reports the sensor and the sessions one after the other.
        eventually(lambda: "enrolled" in self.own("status"))
        self.assertEqual(self.read_with_a_touch("any"), SECRET)

    def test_a_remote_session_uses_no_sensor_abuse22(self):
        remote = self.enterContext(self.machine.session("alice"))
        self.prompts.stop()
        self.first, self.prompts = self.app(session=remote), self.agent(session=remote)
        self.assertEqual(self.refused(), NOT_AVAILABLE)


class LockTests(LocksOfEveryTier, UserTest):
    def test_a_restart_of_fprintd_ends_the_prompt_and_the_next_one_works(self):
        self.evaluate()
        self.asked()
        self.finger("miss")
        self.prompts.do("agent.follow")
        self.machine.run("systemctl", "kill", "--signal=KILL", UNIT)
        self.assertNotEqual(self.first.end(), TOUCHED)
        self.await_end()
        self.machine.run("systemctl", "reset-failed", UNIT, check=False)
        self.assertEqual(self.read_with_a_touch("any"), SECRET)


class SleepTests(SleepOfEveryTier, UserTest):
    WHERE = "tier user"

    def test_sleep_waits_for_the_process_of_the_sensors(self):
        [process] = self.sensors()
        delays = self.machine.run("systemd-inhibit", "--list", "--no-legend", "--no-pager").stdout
        [line] = [line for line in delays.splitlines() if process in line.split()]
        self.assertIn("sleep", line)
        self.assertIn("delay", line)


class LogoutTests(UserTest):
    def test_the_daemon_of_the_session_ends_with_it_and_the_next_one_asks_for_the_passcode(self):
        self.assertEqual(self.first.do("app.add", "guarded", SECRET, 0, WHEN_PASSCODE_SET), DONE)
        self.assertEqual(self.read("guarded"), SECRET)
        self.evaluate()
        self.asked()
        eventually(lambda: not self.reader_is_free())
        self.machine.run("loginctl", "terminate-session", self.seat.id)
        eventually(lambda: not self.own_daemons() and not self.sensors())
        eventually(self.reader_is_free)
        self.seat = self.enterContext(self.machine.seat("alice"))
        # A session does not end before its programs.
        self.addCleanup(self.end_own_daemon)
        self.own("status")
        self.place = self.machine.read(f"{HOME}/daemon.lock").split("\n")[1]
        self.restart()
        self.assertEqual(self.read("guarded"), NO_INTERACTION)
        self.assertEqual(self.read("free"), SECRET)
        self.assertEqual(self.read_with_a_touch("any"), SECRET)
        fact("logout in tier user", "daemon and sensor process ended, the reader was free, the passcode is asked for")


class OutsideTests(UserTest):
    """The daemon was started by a program without a session, as by a timer of the user, and outlives the session. polkit
    lets it use no reader."""

    RULES = ()

    @property
    def starter(self):
        return functools.partial(self.machine.start, user="alice")

    def test_the_end_of_the_last_session_removes_keys_and_locks_nothing(self):
        self.assertEqual(self.first.do("app.add", "guarded", SECRET, 0, WHEN_PASSCODE_SET), DONE)
        outside = super(WithFprintd, self).client()
        outside.do("App", path=self.place, kept="app")
        self.assertEqual(outside.do("app.read", "guarded", None, False), SECRET)
        self.machine.run("loginctl", "terminate-session", self.seat.id)
        eventually(lambda: outside.do("app.read", "guarded", None, False) == NO_INTERACTION)
        self.assertEqual(outside.do("app.read", "free", None, False), SECRET)
        self.assertEqual(len(self.own_daemons()), 1)


class TrustTests(UserTest):
    """Any program can send signals to the process of the sensors."""

    def test_a_forged_match_opens_nothing_and_is_in_the_audit_log(self):
        [process] = self.sensors()
        self.first.begin("app.read", "any", None, True, None, 20)
        self.asked()
        eventually(lambda: not self.reader_is_free())
        for _ in range(5):
            self.forge(process, "/net/reactivated/Fprint/Device/0", "net.reactivated.Fprint.Device", "VerifyStatus", "sb",
                       "verify-match", "true", user="bob")
        eventually(lambda: "sensorRefused" in self.machine.read(f"{HOME}/daemon.log"))
        self.prompts.do("agent.event", [3])
        self.assertNotEqual(self.first.end(), SECRET)
        eventually(lambda: self.refusals(self.first) == [[SENSOR_REFUSED, ""]])

    def test_a_forged_unlock_is_ignored_and_is_in_the_audit_log(self):
        [process] = self.sensors()
        self.seat.set_locked(True)
        eventually(self.is_locked)
        for _ in range(5):
            self.forge(process, "/org/freedesktop/login1/session/_3" + self.seat.id, "org.freedesktop.login1.Session",
                       "Unlock", user="bob")
        eventually(lambda: "sessionsRefused" in self.machine.read(f"{HOME}/daemon.log"))
        self.assertTrue(self.is_locked())
        eventually(lambda: self.refusals(self.first) == [[SESSIONS_REFUSED, ""]])


del UserTest
