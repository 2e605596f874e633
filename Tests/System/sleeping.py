# SPDX-License-Identifier: Apache-2.0
"""A machine that sleeps as far as logind and every program are concerned. Only the kernel goes on: it is shared with the
host, and its state is not what these tests are about."""

import contextlib
import textwrap

from clients import DONE, NO_INTERACTION, SECRET, SYSTEM_CANCEL, WHEN_PASSCODE_SET
from machine import eventually, fact

STATES, WAKE, UNIT = "/run/test-power-state", "/run/test-wake", "systemd-suspend.service"
DROP_IN = f"/run/systemd/system/{UNIT}.d/test.conf"


class WithSleep:
    """For a class that derives from a `ServiceTest` too."""

    def setUp(self):
        # logind asks this file what the kernel can do; its view of the file system is that of its start.
        self.machine.write(STATES, "mem\n")
        self.machine.run("mount", "--bind", STATES, "/sys/power/state")
        self.addCleanup(self.machine.run, "umount", "/sys/power/state")
        self.machine.run("systemctl", "restart", "systemd-logind")
        super().setUp()
        self.machine.write(DROP_IN, textwrap.dedent(f"""\
            [Service]
            ExecStart=
            ExecStart=/bin/sh -c 'until [ -e {WAKE} ]; do sleep 0.02; done'
            """))
        self.machine.run("systemctl", "daemon-reload")
        self.addCleanup(self.machine.run, "sh", "-c", f"rm -rf {DROP_IN}; systemctl daemon-reload")

    @contextlib.contextmanager
    def asleep(self):
        """The machine sleeps while the block runs: logind has announced it, has waited for all who delay it, and has
        started the unit that suspends."""
        self.machine.run("rm", "-f", WAKE)
        self.machine.run("systemctl", "suspend")
        try:
            eventually(lambda: self.machine.unit(UNIT)["ActiveState"] == "activating")
            yield
        finally:
            self.machine.write(WAKE, "")
            eventually(lambda: self.machine.unit(UNIT)["ActiveState"] == "inactive")


class SleepOfEveryTier(WithSleep):
    """The test that a tier with sessions passes. For a class that derives from `WithSession` of `locks` too."""

    WHERE = ""

    def test_sleep_ends_the_prompt_and_removes_keys_and_proofs(self):
        self.assertEqual(self.first.do("app.add", "guarded", SECRET, 0, WHEN_PASSCODE_SET), DONE)
        handle = self.touched()
        self.first.begin("app.read", "any", None, True, None, 20)
        self.asked()
        eventually(lambda: not self.reader_is_free())
        with self.asleep():
            self.assertEqual(self.first.end(), SYSTEM_CANCEL)
            self.assertTrue(self.is_locked())
        eventually(self.reader_is_free)
        eventually(lambda: self.read("free") == SECRET)
        self.assertEqual(self.read("guarded"), NO_INTERACTION)
        self.assertNotEqual(self.read("any", handle), SECRET)
        self.assertTouchable()
        fact(f"suspend in {self.WHERE}", "logind's: keys and proofs were gone before it, and the reader works after it")
