# SPDX-License-Identifier: Apache-2.0
"""A person at a fingerprint reader, with the real fprintd on the system's message bus, through both services."""

import json

import pytest

from clients import CURRENT_SET, DONE, NO_INTERACTION, SECRET, SENSOR_REFUSED, ClientTest
from fingers import LOCKED_OUT, WithFingers
from fprint import UNIT, WithFprintd
from machine import eventually, fact
from services import RECORDS, own_log


NOT_AVAILABLE = 75
# What a careless administrator could write: a user may have the name of fprintd.
POLICY = "/etc/dbus-1/system.d/test-taker.conf"
ALLOWED = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy user="alice"><allow own="net.reactivated.Fprint"/></policy></busconfig>
"""
# Takes the name until its input ends.
TAKER = """
import sys
from gi.repository import Gio, GLib
bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName",
              GLib.Variant("(su)", ("net.reactivated.Fprint", 4)), None, 0, -1, None)
print("taken", flush=True)
sys.stdin.read()
"""
# libfprint's name of the reader.
NAME = "Virtual device for debugging"


class FprintTest(WithFprintd, WithFingers, ClientTest):
    def owner(self):
        """The process that owns fprintd's name on the bus."""
        answer = self.machine.run(
            "busctl", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s",
            "net.reactivated.Fprint").stdout
        return int(answer.split()[1])


class TouchTests(FprintTest):
    def test_a_touch_releases_an_item_and_the_program_behind_the_name_is_fprintd(self):
        self.assertEqual(self.read_with_a_touch("any"), SECRET)
        path = self.machine.run("readlink", f"/proc/{self.owner()}/exe").stdout.strip()
        self.assertEqual(path, "/usr/libexec/fprintd")
        self.assertEqual(self.machine.main_pid(UNIT), self.owner())
        fact("fprintd", f"{path} with a virtual reader: a touch released an item")

    def test_other_fingers_release_nothing_and_lock_the_sensor(self):
        for misses in (2, 2, 1):
            self.evaluate()
            self.asked()
            for _ in range(misses):
                self.finger("miss")
                self.prompts.do("agent.follow")
            self.prompts.do("agent.event", [3])
            self.assertEqual(self.first.end()[0], 0)
        self.evaluate()
        self.assertEqual(self.first.end()[1][0], LOCKED_OUT)

    def test_the_reader_is_free_after_each_end_of_a_prompt(self):
        for end in ("touch", "cancel", "agent", "app"):
            with self.subTest(end):
                self.first.begin("app.read", "any", None, True, None, 20)
                self.asked()
                if end == "touch":
                    self.finger("touch")
                elif end == "cancel":
                    self.prompts.do("agent.event", [3])
                elif end == "agent":
                    self.prompts.stop()
                else:
                    self.first.stop()
                if end != "app":
                    self.first.end()
                # Another program can use the reader: it enrols a finger of somebody else.
                eventually(lambda: self.free())
                if end == "app":
                    self.first = self.app()
                elif end == "agent":
                    self.prompts = self.agent()

    def free(self):
        done = self.machine.run(
            "busctl", "call", "net.reactivated.Fprint", "/net/reactivated/Fprint/Device/0",
            "net.reactivated.Fprint.Device", "Claim", "s", "bob", check=False)
        return done.returncode == 0

    @pytest.mark.promise("abuse.16")
    def test_a_restart_of_fprintd_ends_the_prompt_and_the_next_one_works_abuse16(self):
        self.first.begin("app.read", "any", None, True, None, 20)
        self.asked()
        self.finger("miss")
        self.prompts.do("agent.follow")
        self.machine.run("systemctl", "kill", "--signal=KILL", UNIT)
        self.assertNotEqual(self.first.end(), SECRET)
        self.await_end()
        self.machine.run("systemctl", "reset-failed", UNIT, check=False)
        self.assertEqual(self.read_with_a_touch("any"), SECRET)

    def test_an_unplugged_reader_ends_the_prompt(self):
        self.first.begin("app.read", "any", None, True, None, 20)
        self.asked()
        self.send("UNPLUG")
        self.assertNotEqual(self.first.end(), SECRET)


class VirtualReaderTests(FprintTest):
    @pytest.mark.promise("abuse.24")
    def test_a_virtual_reader_is_used_only_with_the_consent_of_root_and_every_status_says_so_abuse24(self):
        self.assertTrue(self.status()["biometryVirtual"])
        self.assertIn("virtual", self.latchkey("status").stdout)
        self.assertIn("virtual", self.latchkey("doctor", check=False).stdout)
        self.first.stop()
        self.prompts.stop()
        self.allow_virtual_hardware("no")
        self.stop_services()
        self.restart()
        status = self.status()
        self.assertEqual((status["biometry"], status["biometryVirtual"]), ("none", False))
        self.evaluate()
        self.assertEqual(self.first.end()[1][0], NOT_AVAILABLE)
        self.assertIn("allow-virtual-hardware = yes", own_log(self.machine, RECORDS))
        fact("a virtual reader of libfprint", "absent without the line of root, and named as virtual with it")


class ChangeTests(FprintTest):
    @pytest.mark.promise("abuse.30")
    def test_items_of_the_current_set_die_when_a_finger_is_replaced_under_the_same_name_abuse30(self):
        self.assertEqual(self.read("set", self.touched()), SECRET)
        self.finger("replace")
        eventually(lambda: self.read("set") not in (SECRET, NO_INTERACTION))
        self.assertEqual(self.read_with_a_touch("any"), SECRET)
        self.await_end()
        self.assertEqual(self.read("free"), SECRET)
        self.assertEqual(self.first.do("app.add", "new", SECRET, CURRENT_SET), DONE)
        self.assertEqual(self.read("new", self.touched()), SECRET)
        fact("a finger replaced in fprintd", "items of the current set are gone, also under the finger's old name")

    def test_a_proof_of_the_old_finger_opens_nothing(self):
        handle = self.touched()
        self.finger("replace")
        eventually(lambda: self.read("set", handle) != SECRET)
        self.assertNotEqual(self.read("any", handle), SECRET)

    def test_the_items_remain_after_restarts_of_everything(self):
        self.kill_both()
        self.machine.run("systemctl", "stop", UNIT)
        self.restart()
        self.assertEqual(self.read("set", self.touched()), SECRET)


class TrustTests(FprintTest):
    def test_a_program_of_a_user_cannot_take_the_name(self):
        self.machine.run("systemctl", "stop", UNIT)
        done = self.machine.run(
            "busctl", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName", "su",
            "net.reactivated.Fprint", "4", user="alice", check=False)
        self.assertNotEqual(done.returncode, 0)

    @pytest.mark.promise("abuse.14")
    def test_a_forged_match_of_a_user_opens_nothing_and_is_logged_abuse14(self):
        self.first.begin("app.read", "any", None, True, None, 20)
        self.asked()
        self.finger("miss")
        self.prompts.do("agent.follow")
        self.forge_match()
        eventually(lambda: "sensorRefused" in own_log(self.machine, RECORDS))
        self.prompts.do("agent.event", [3])
        self.assertNotEqual(self.first.end(), SECRET)
        eventually(lambda: self.refusals(self.first) == [[SENSOR_REFUSED, ""]])
        listed = self.latchkey("log").stdout
        self.assertIn("sensor refused", listed)
        fact("a forged match on the message bus", "opened nothing; one line in `latchkey log`")

    def test_many_forged_matches_are_one_entry_of_the_audit_log(self):
        for _ in range(4):
            self.evaluate()
            self.asked()
            noted = own_log(self.machine, RECORDS).count("sensorRefused")
            for _ in range(5):
                self.forge_match("bob")
            eventually(lambda: own_log(self.machine, RECORDS).count("sensorRefused") > noted)
            self.prompts.do("agent.event", [3])
            self.assertEqual(self.first.end()[0], 0)
            self.await_end()
        self.assertEqual(self.refusals(self.first), [[SENSOR_REFUSED, ""]])
        self.assertEqual(self.read_with_a_touch("any"), SECRET)

    @pytest.mark.promise("abuse.17")
    def test_a_program_of_a_user_that_has_the_name_is_no_reader_and_is_logged_abuse17(self):
        self.machine.run("systemctl", "stop", UNIT)
        self.machine.write(POLICY, ALLOWED)
        self.addCleanup(self.machine.run, "sh", "-c", f"rm -f {POLICY}; systemctl reload dbus")
        self.machine.run("systemctl", "reload", "dbus")
        thief = self.machine.start("/usr/bin/python3", "-c", TAKER, user="alice", stdin=-1, stdout=-1, text=True)
        self.addCleanup(thief.communicate)
        self.assertEqual(thief.stdout.readline(), "taken\n")
        self.evaluate()
        self.assertEqual(self.first.end()[1][0], NOT_AVAILABLE)
        eventually(lambda: "belongs to user 1001, not to root" in own_log(self.machine, RECORDS))
        eventually(lambda: self.refusals(self.first) == [[SENSOR_REFUSED, ""]])

    def forge_match(self, user="alice"):
        self.forge(self.sensors_process(), "/net/reactivated/Fprint/Device/0", "net.reactivated.Fprint.Device",
                   "VerifyStatus", "sb", "verify-match", "true", user=user)


class CommandTests(FprintTest):
    def test_the_command_lists_and_tries_fingers_as_their_user(self):
        self.assertEqual(self.fingerprint("list", user="root").stdout, "No finger is enrolled on " + NAME + ".\n")
        self.assertEqual(self.fingerprint("list").returncode, 77, "a session that is not local may not")
        self.allow_everyone()
        self.assertEqual(self.fingerprint("list").stdout, "right-index-finger\n")
        (reader,) = json.loads(self.fingerprint("list", "--json").stdout)
        self.assertEqual((reader["name"], reader["fingers"]), (NAME, ["right-index-finger"]))
        verifying = self.machine.start("latchkey", "fingerprint", "verify", user="alice")
        self.finger("touch")
        self.assertEqual(verifying.wait(20), 0)

    def test_an_enrolment_replaces_a_print_only_after_the_word(self):
        self.allow_everyone()
        before = self.machine.run("sh", "-c", "cat /var/lib/fprint/alice/*/*/7 | sha256sum").stdout
        refused = self.fingerprint("enroll", input="no\n")
        self.assertEqual((refused.returncode, "none remains" in refused.stdout), (77, True))
        self.assertEqual(self.machine.run("sh", "-c", "cat /var/lib/fprint/alice/*/*/7 | sha256sum").stdout, before)
        self.assertEqual(self.fingerprint("delete", "right-index-finger", "--yes").returncode, 0)
        eventually(lambda: self.read("set") not in (SECRET, NO_INTERACTION))

    def fingerprint(self, *argv, user="alice", **options):
        return self.machine.run("latchkey", "fingerprint", *argv, user=user, check=False, **options)


del FprintTest
