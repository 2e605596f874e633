# SPDX-License-Identifier: Apache-2.0
"""A machine that sleeps as far as logind and every program are concerned. Only the kernel goes on: it is shared with the
host, and its state is not what these tests are about."""

import contextlib
import textwrap

from machine import eventually

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
