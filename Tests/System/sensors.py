# SPDX-License-Identifier: Apache-2.0
"""A scripted sensor: `latchkey-authd-testing`, which is never installed, in place of the service."""

from machine import RELEASE
from services import AUTHORITY, CONFIGURATION

PROGRAM, TESTING = "/usr/libexec/latchkey-authd", RELEASE / "latchkey-authd-testing"
DROP_IN = f"/run/systemd/system/{AUTHORITY}.d/sensor.conf"
# The socket of the sensor is beside those of the service.
WRITABLE = "[Service]\nReadWritePaths=/run/latchkey\n"
SEND = ("import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect('/run/latchkey/sensor.sock');"
        " s.sendall(sys.argv[1].encode()); print(s.recv(64).decode(), end='')")


class WithSensor:
    """A touch sensor with one enrolled finger; for a class that derives from a `ServiceTest` too."""

    def setUp(self):
        if not TESTING.exists():
            self.skipTest("no programs: run `make build PART='services testing'` first")
        self.original = self.machine.read(CONFIGURATION)
        # Also after a failure of what follows: the next test would have this sensor.
        self.addCleanup(self.remove_sensor)
        self.machine.run("cp", PROGRAM, PROGRAM + ".kept")
        self.stop_services()
        self.machine.copy(TESTING, PROGRAM)
        self.allow_virtual_hardware("yes")
        self.install_sensor()
        super().setUp()

    def install_sensor(self):
        """Installs what a boot forgets."""
        self.machine.write(DROP_IN, WRITABLE)
        self.machine.run("systemctl", "daemon-reload")

    def remove_sensor(self):
        self.stop_services()
        self.machine.run("mv", PROGRAM + ".kept", PROGRAM)
        self.machine.run("rm", "-f", DROP_IN, "/run/latchkey/sensor.sock")
        self.machine.write(CONFIGURATION, self.original)
        self.machine.run("systemctl", "daemon-reload")

    def allow_virtual_hardware(self, answer):
        self.machine.write(CONFIGURATION, self.original + f"allow-virtual-hardware = {answer}\n")

    def finger(self, command):
        """Operates the sensor, as `touch`, `miss` or `replace`."""
        self.assertEqual(self.machine.run("python3", "-c", SEND, command).stdout, "ok\n")
