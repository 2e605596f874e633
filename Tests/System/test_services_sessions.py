# SPDX-License-Identifier: Apache-2.0
"""Login sessions of the real logind: who may use the sensor, what a lock ends, and what the end of a session does."""

import json
import re
import subprocess

import pytest

from clients import (
    DONE, EVALUATE, LOCK, NO_INTERACTION, SECRET, SESSIONS_REFUSED, UNLOCK, WHEN_PASSCODE_SET,
    ClientTest)
from fingers import OWNER, TOUCHED, TYPED, WithFingers
from fprint import WithFprintd
from locks import LocksOfEveryTier, WithSession
from machine import eventually, fact
from services import AUTHORITY, KEYCHAIN, ServiceTest
from sleeping import SleepOfEveryTier

NOT_AVAILABLE = 75
LOG = "/var/lib/latchkey-authd/daemon.log"


class SessionTest(WithSession, WithFprintd, WithFingers, ClientTest):
    def elsewhere(self, session):
        """The app and the agent run in another session."""
        self.prompts.stop()
        self.first, self.prompts = self.app(session=session), self.agent(session=session)


class SensorTests(SessionTest):
    @pytest.mark.promise("abuse.22")
    def test_a_remote_session_uses_no_sensor_abuse22(self):
        self.assertTouchable()
        self.elsewhere(self.enterContext(self.machine.session("alice")))
        self.assertEqual(self.refused(), NOT_AVAILABLE)
        self.first.begin("app.read", "presence", None, True, None, 20)
        self.asked()
        self.assertTrue(self.reader_is_free())
        self.prompts.do("agent.event", [3])
        self.assertNotEqual(self.first.end(), SECRET)
        self.await_end()
        handle = self.context(self.first)
        with self.typing(self.prompts):
            reply = self.first.do("app.call", EVALUATE, {0: handle, 1: OWNER, 2: {0: "a test", 3: True}}, 20)
        self.assertEqual(reply, TYPED)
        fact("a session over SSH", "no fingerprint reader; the passcode works")

    def test_a_process_without_a_session_uses_no_sensor_abuse22(self):
        self.prompts.stop()
        self.first, self.prompts = super(WithFprintd, self).client(), super(WithFprintd, self).client()
        self.first.do("App", kept="app")
        self.prompts.do("Agent", kept="agent")
        self.assertEqual(self.prompts.do("agent.registered"), DONE)
        self.assertEqual(self.refused(), NOT_AVAILABLE)

    @pytest.mark.promise("abuse.22")
    def test_an_inactive_session_uses_no_sensor_until_it_is_active_again_abuse22(self):
        self.assertTouchable()
        with self.machine.seat("bob"):
            eventually(lambda: self.refused() == NOT_AVAILABLE)
            self.machine.run("loginctl", "activate", self.seat.id)
            eventually(lambda: self.touchable())
        self.assertTouchable()

    def touchable(self):
        handle = self.evaluate()
        try:
            self.prompts.do("agent.await_prompt", 2)
        except RuntimeError:
            self.first.end()
            return False
        self.finger("touch")
        self.assertEqual(self.first.end(), TOUCHED)
        self.await_end()
        return handle

    def test_a_switch_of_the_user_leaves_the_passcode(self):
        self.first.begin("app.read", "presence", None, True, None, 20)
        self.asked()
        with self.machine.seat("bob"):
            eventually(self.reader_is_free)
            self.prompts.do("agent.event", [5, b"a passcode 4711"])
            self.assertEqual(self.first.end(), SECRET)

    def test_a_program_of_the_user_manager_belongs_to_the_session_at_the_machine(self):
        group = "user.slice/user-1001.slice/user@1001.service/init.scope"
        self.seat.group, own = group, self.seat.group
        self.elsewhere(self.seat)
        self.seat.group = own
        self.assertTouchable()


class LockTests(LocksOfEveryTier, SessionTest):
    def test_a_lock_removes_the_key_of_the_passcode_from_memory(self):
        self.assertEqual(self.first.do("app.add", "guarded", SECRET, 0, WHEN_PASSCODE_SET), DONE)
        self.assertEqual(self.read("guarded"), SECRET)
        self.seat.set_locked(True)
        eventually(self.is_locked)
        self.seat.set_locked(False)
        eventually(lambda: self.read("free") == SECRET)
        self.assertEqual(self.read("guarded"), NO_INTERACTION)

    @pytest.mark.promise("abuse.12")
    def test_proofs_end_with_the_lock_abuse12(self):
        handle = self.touched()
        self.assertEqual(self.read("any", handle), SECRET)
        self.seat.set_locked(True)
        eventually(self.is_locked)
        self.seat.set_locked(False)
        eventually(lambda: self.read("free") == SECRET)
        self.assertNotEqual(self.read("any", handle), SECRET)

    def test_a_lock_that_was_asked_for_survives_the_unlock_of_the_screen(self):
        self.assertEqual(self.first.do("app.call", LOCK), DONE)
        self.seat.set_locked(True)
        self.seat.set_locked(False)
        # The last signal has arrived when a session that begins after it is known.
        with self.machine.seat("bob"):
            eventually(lambda: self.refused() in (NOT_AVAILABLE, 84))
        self.assertTrue(self.is_locked())

    def test_the_lock_survives_kills_of_both_services_and_of_logind(self):
        self.seat.set_locked(True)
        eventually(self.is_locked)
        self.kill_service(KEYCHAIN)
        self.first = self.app()
        self.assertTrue(self.is_locked())
        self.kill_service(AUTHORITY)
        self.restart()
        self.assertTrue(self.is_locked())
        self.machine.run("systemctl", "kill", "--signal=KILL", "systemd-logind")
        eventually(lambda: self.machine.unit("systemd-logind")["ActiveState"] == "active")
        self.assertTrue(self.is_locked())
        self.machine.run("loginctl", "unlock-session", self.seat.id)
        eventually(lambda: self.read("free") == SECRET)

    def test_the_passcode_unlocks_over_ssh_while_the_screen_is_locked(self):
        self.seat.set_locked(True)
        eventually(self.is_locked)
        self.elsewhere(self.enterContext(self.machine.session("alice")))
        with self.typing(self.prompts):
            self.assertEqual(self.first.do("app.call", UNLOCK, {0: "", 3: True}, 20), DONE)
        self.assertEqual(self.read("free"), SECRET)

    def test_the_screen_of_another_user_locks_nothing(self):
        with self.machine.seat("bob") as bob:
            bob.set_locked(True)
            self.machine.run("loginctl", "activate", self.seat.id)
            eventually(lambda: self.refused_or_asked())
            self.assertEqual(self.read("free"), SECRET)

    def refused_or_asked(self):
        self.evaluate()
        try:
            self.prompts.do("agent.await_prompt", 2)
        except RuntimeError:
            self.first.end()
            return False
        self.prompts.do("agent.event", [3])
        self.first.end()
        self.await_end()
        return True


class EndTests(SessionTest):
    def test_the_end_of_the_last_session_removes_keys_and_proofs_and_locks_nothing(self):
        self.assertEqual(self.first.do("app.add", "guarded", SECRET, 0, WHEN_PASSCODE_SET), DONE)
        outside = super(WithFprintd, self).client()
        outside.do("App", kept="app")
        self.assertEqual(outside.do("app.read", "guarded", None, False), SECRET)
        self.machine.run("loginctl", "terminate-session", self.seat.id)
        eventually(lambda: outside.do("app.read", "guarded", None, False) == NO_INTERACTION)
        self.assertEqual(outside.do("app.read", "free", None, False), SECRET)

    def test_a_prompt_ends_with_the_session_that_asked(self):
        with self.machine.session("alice") as session:
            client = self.app(session=session)
            client.begin("app.read", "presence", None, True, None, 20)
            self.asked()
            self.machine.run("loginctl", "terminate-session", session.id)
            eventually(lambda: self.prompts.do("agent.follow", 5)[0] == 2)


class DoctorTests(ServiceTest):
    def row(self, name, session):
        """A row of `latchkey doctor`, as a program of a session gets it."""
        program = session.start("latchkey", "doctor", "--json", stdout=subprocess.PIPE, text=True)
        (row,) = [row for row in json.loads(program.communicate()[0])["rows"] if row["name"] == name]
        return row

    def test_the_row_of_the_session_says_where_the_reader_is_used(self):
        with self.machine.seat("alice") as seat, self.machine.session("alice") as remote:
            self.assertEqual(self.row("login session", seat)["state"], "ok")
            self.assertIn("remote", self.row("login session", remote)["found"])
            with self.machine.seat("bob"):
                row = self.row("login session", seat)
                self.assertIn("not active", row["found"])
                self.machine.run("sh", "-c", row["hint"])
                self.assertEqual(self.row("login session", seat)["state"], "ok")

    def test_a_stopped_socket_is_named_and_mended(self):
        with self.machine.seat("alice") as seat:
            self.assertEqual(self.row("units", seat)["state"], "ok")
            self.stop_services()
            self.machine.run("systemctl", "stop", "latchkeyd.socket")
            row = self.row("units", seat)
            self.assertEqual((row["state"], row["root"]), ("attention", True))
            self.machine.run("sh", "-c", row["hint"])
            self.assertEqual(self.row("units", seat)["state"], "ok")

    def test_a_locked_session_is_named_and_mended(self):
        with self.machine.seat("alice") as seat:
            self.assertEqual(self.row("lock", seat)["state"], "ok")
            seat.set_locked(True)
            row = eventually(lambda: (row := self.row("lock", seat))["state"] == "attention" and row)
            self.assertIn("loginctl unlock-session", row["hint"])
            # The command of the row ends the request; the hint of the desktop ends with its lock screen.
            seat.set_locked(False)
            self.machine.run("sh", "-c", row["hint"])
            eventually(lambda: self.row("lock", seat)["state"] == "ok")


class SleepTests(SleepOfEveryTier, SessionTest):
    WHERE = "tier file"


class TrustTests(SessionTest):
    def test_a_forged_unlock_of_a_user_is_ignored_and_logged(self):
        self.seat.set_locked(True)
        eventually(self.is_locked)
        path, interface = "/org/freedesktop/login1/session/_3" + self.seat.id, "org.freedesktop.login1.Session"
        self.machine.run("busctl", "emit", path, interface, "Unlock", user="alice")
        for _ in range(5):
            self.forge(self.sensors_process(), path, interface, "Unlock")
        eventually(lambda: "sessionsRefused" in self.machine.read(LOG))
        self.assertTrue(self.is_locked())
        eventually(lambda: self.refusals(self.first) == [[SESSIONS_REFUSED, ""]])

    def test_a_program_of_a_user_cannot_take_the_name_of_logind(self):
        done = self.machine.run(
            "busctl", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName", "su",
            "org.freedesktop.login1", "4", user="alice", check=False)
        self.assertNotEqual(done.returncode, 0)

    def test_sleep_waits_for_the_service(self):
        held = eventually(lambda: re.search(
            r"latchkey-authd +0 +root +\d+ +latchkey-authd? +sleep .* delay",
            self.machine.run("systemd-inhibit", "--list", "--no-legend", "--no-pager").stdout))
        fact("sleep", "delayed by latchkey-authd until keys are removed")
        self.assertTrue(held)


del SessionTest
