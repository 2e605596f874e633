# SPDX-License-Identifier: Apache-2.0
"""Both services with an older kernel, and with a wall clock that is moved: a library is preloaded into them."""

import subprocess
import time

import pytest

from clients import NOT_FOUND, SECRET, ClientTest
from machine import eventually, fact
from modules import install_library
from services import KEYCHAIN, SERVICES

MINE, LIBRARY, SETTINGS = "/usr/bin/notes", "/usr/local/lib/latchkey/preloaded.so", "/run/preloaded"
DAY = 86_400
DELAY = 6


class PreloadedTest(ClientTest):
    def setUp(self):
        self.addCleanup(self.remove_library)
        install_library(self, "preloaded.c", LIBRARY)
        for unit in SERVICES:
            self.machine.write(f"/run/systemd/system/{unit}.d/preloaded.conf",
                               f"[Service]\nEnvironment=LD_PRELOAD={LIBRARY}\n")
        self.machine.run("mkdir", "-p", SETTINGS)
        self.machine.run("systemctl", "daemon-reload")
        super().setUp()

    def remove_library(self):
        self.stop_services()
        self.machine.run("rm", "-rf", SETTINGS, *(f"/run/systemd/system/{unit}.d/preloaded.conf" for unit in SERVICES))
        self.machine.run("systemctl", "daemon-reload")

    def set(self, name, text=""):
        self.machine.write(f"{SETTINGS}/{name}", text)


class OldKernelTests(PreloadedTest):
    def options(self):
        """The options that latchkeyd asks for when a program connects. Earlier versions of strace print one as a number."""
        pid = self.process_of(KEYCHAIN)
        with self.machine.start("strace", "-f", "-qq", "-p", pid, "-e", "trace=getsockopt", "-o", "/run/options",
                                stderr=subprocess.DEVNULL) as tracer:
            lines = f"grep -h TracerPid /proc/{pid}/task/*/status"
            eventually(lambda: "\t0\n" not in self.machine.run("sh", "-c", lines).stdout)
            self.app()
            tracer.kill()
        return self.machine.read("/run/options").replace("0x4d", "SO_PEERPIDFD")

    @pytest.mark.promise("abuse.4")
    def test_without_the_process_descriptor_of_a_peer_the_verdicts_are_the_same_abuse4(self):
        mine = self.app(program=self.program(MINE))
        self.assertIn("SO_PEERPIDFD", self.options())
        self.set("no-pidfd")
        self.stop_services()
        mine, script = self.app(program=MINE), self.app()
        seen = self.options()
        self.assertIn("SO_PEERCRED", seen)
        self.assertNotIn("SO_PEERPIDFD", seen)
        self.assertEqual((mine.do("app.group"), script.do("app.group")), (MINE, "user:1001"))
        mine.do("app.add", "token", SECRET)
        self.assertEqual(mine.do("app.read", "token"), SECRET)
        for other in (script, self.app("bob", program=MINE)):
            self.assertEqual(other.do("app.read", "token"), NOT_FOUND)
        fact("without SO_PEERPIDFD", "the same identities")

    def test_without_it_a_process_that_has_ended_gives_nothing_abuse3_abuse4(self):
        mine = self.app(program=self.program(MINE))
        mine.do("app.add", "token", SECRET)
        self.set("no-pidfd")
        self.stop_services()
        self.app()
        service, holder = self.process_of(KEYCHAIN), self.client(program=MINE)
        self.machine.run("kill", "-STOP", service)
        try:
            holder.do("connect_in_a_child")
        finally:
            self.machine.run("kill", "-CONT", service)
        seen = holder.do("use_of_the_child")
        self.assertTrue(seen == ["ended"] or seen[:2] == ["user:1001", NOT_FOUND], seen)


class ClockTests(PreloadedTest):
    def delay(self):
        """The seconds for which the prompt delays the entry of a passcode."""
        prompt = self.ask()
        self.cancel()
        return prompt[15][DELAY]

    def ask(self):
        self.first.begin("app.read", "presence", None, True, None, 20)
        return self.prompts.do("agent.await_prompt")

    def cancel(self):
        self.prompts.do("agent.event", [3])
        self.first.end()
        while self.prompts.do("agent.follow", 5)[0] != 2:
            pass

    @pytest.mark.promise("abuse.28")
    def test_moving_the_wall_clock_does_not_change_a_delay_abuse28(self):
        self.first, self.prompts = self.person()
        self.ask()
        for passcode in (b"wrong 1", b"wrong 2", b"wrong 3"):
            self.prompts.do("agent.event", [5, passcode])
            kind, content = self.prompts.do("agent.follow")
        # The third one ends the prompt, which says the delay before; after a fourth one it is long enough for this test.
        self.assertEqual((kind, content[DELAY] > 0), (1, True))
        kind, _ = self.prompts.do("agent.follow")
        self.assertEqual((kind, self.first.end() != SECRET), (2, True))
        content = self.ask()[15]
        while content[DELAY] > 0:
            _, content = self.prompts.do("agent.follow")
        self.prompts.do("agent.event", [5, b"wrong 4"])
        self.prompts.do("agent.follow")
        self.cancel()
        begin, first = time.monotonic(), self.delay()
        self.assertGreater(first, 30)
        for moved in (DAY, -DAY, 400 * DAY):
            for restarts in (False, True):
                self.set("moved", str(moved))
                if restarts:
                    self.kill_both()
                    self.first, self.prompts = self.app(), self.agent()
                expected = first - (time.monotonic() - begin)
                self.assertAlmostEqual(self.delay(), expected, delta=3, msg=(moved, restarts))
        # The audit log shows that the services see the moved clock.
        self.first.do("app.add", "later", SECRET)
        year = self.latchkey("log", "--json", "--limit", "1").stdout
        self.assertIn(time.strftime("%Y", time.gmtime(time.time() + 400 * DAY)), year)
        fact("a moved wall clock", f"leaves a delay of {first} s as it is")


del PreloadedTest
