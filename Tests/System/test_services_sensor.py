# SPDX-License-Identifier: Apache-2.0
"""Both services with a scripted sensor: `latchkey-authd-testing`, which is never installed, in place of the service."""

import pathlib

from machine import CHECKOUT, fact
from prompts import PASSCODE, PromptTest
from services import AUTHORITY, CONFIGURATION
from terminals import Terminal

PROGRAM, TESTING = "/usr/libexec/latchkey-authd", CHECKOUT / ".build/static/release/latchkey-authd-testing"
DROP_IN = f"/run/systemd/system/{AUTHORITY}.d/sensor.conf"
# The socket of the sensor is beside those of the service.
WRITABLE = "[Service]\nReadWritePaths=/run/latchkey\n"
SEND = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect('/run/latchkey/sensor.sock');"
        " s.sendall(sys.argv[1].encode()); print(s.recv(64).decode(), end='')")


class SensorTest(PromptTest):
    """A machine with a touch sensor that has one enrolled finger."""

    def setUp(self):
        if not pathlib.Path(TESTING).exists():
            self.skipTest("no programs: run `make system-programs` first")
        self.original = self.machine.read(CONFIGURATION)
        self.machine.run("cp", PROGRAM, PROGRAM + ".kept")
        self.machine.run("systemctl", "stop", AUTHORITY)
        self.machine.copy(TESTING, PROGRAM)
        self.machine.write(DROP_IN, WRITABLE)
        self.allow_virtual_hardware("yes")
        self.machine.run("systemctl", "daemon-reload")
        super().setUp()

    def tearDown(self):
        self.stop_services()
        self.machine.run("mv", PROGRAM + ".kept", PROGRAM)
        self.machine.run("rm", "-f", DROP_IN, "/run/latchkey/sensor.sock")
        self.machine.write(CONFIGURATION, self.original)
        self.machine.run("systemctl", "daemon-reload")

    def allow_virtual_hardware(self, answer):
        self.machine.write(CONFIGURATION, self.original + f"allow-virtual-hardware = {answer}\n")

    def finger(self, command):
        """Operates the sensor, as `touch` or `miss`."""
        self.assertEqual(self.machine.run("python3", "-c", SEND, command).stdout, "ok\n")

    def asked_for_a_finger(self):
        terminal = self.enterContext(Terminal(self.session, "latchkey", "get", "token"))
        terminal.expect("ouch")
        return terminal


class TouchTests(SensorTest):
    def test_a_touch_releases_an_item(self):
        terminal = self.asked_for_a_finger()
        self.finger("touch")
        self.assertEqual(terminal.end(), 0, terminal.output)
        self.assertTrue(terminal.output.rstrip().endswith("the secret"), terminal.output)
        fact("a scripted sensor", "a touch released an item")

    def test_another_finger_releases_nothing_and_is_counted(self):
        terminal = self.asked_for_a_finger()
        for _ in range(3):
            self.finger("miss")
        terminal.expect("asscode")
        self.assertReleases(terminal, PASSCODE)

    def test_a_virtual_sensor_releases_nothing_unless_an_administrator_allows_it_abuse24(self):
        self.allow_virtual_hardware("no")
        self.stop_services()
        terminal = self.asked_for_a_finger()
        self.finger("touch")
        self.assertNotEqual(terminal.end(), 0, terminal.output)
        self.assertNotIn("the secret", terminal.output)


del SensorTest
