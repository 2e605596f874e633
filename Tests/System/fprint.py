# SPDX-License-Identifier: Apache-2.0
"""A fingerprint reader of libfprint that is played by the test, behind the real fprintd, polkit and message bus."""

import textwrap

UNIT = "fprintd.service"
DROP_IN = f"/run/systemd/system/{UNIT}.d/virtual.conf"
SOCKET = "/run/fprint-test/finger.sock"
VIRTUAL = textwrap.dedent(f"""\
    [Service]
    RuntimeDirectory=fprint-test
    Environment=FP_DRIVERS_WHITELIST=virtual_device FP_VIRTUAL_DEVICE={SOCKET}
    """)
# The socket exists while the reader is claimed. The reader closes a connection when it has taken the command.
SEND = textwrap.dedent(f"""\
    import socket, sys, time
    def send(command, seconds=10):
        deadline = time.monotonic() + seconds
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as finger:
                    finger.connect({SOCKET!r})
                    finger.sendall(command.encode())
                    while finger.recv(64):
                        pass
                    return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
    """)
# Enrols argv[2] as the right index finger of argv[1], as a person at a terminal does.
ENROL = SEND + textwrap.dedent("""\
    import subprocess
    command = ["stdbuf", "-oL", "fprintd-enroll", "-f", "right-index-finger", sys.argv[1]]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in program.stdout:
        if line.startswith("Enrolling") or "enroll-stage-passed" in line:
            send("SCAN " + sys.argv[2])
        elif "enroll-completed" in line:
            break
    sys.exit(program.wait())
    """)


class WithFprintd:
    """alice has one enrolled finger; for a class that derives from a `ServiceTest` too."""

    def setUp(self):
        self.machine.write(DROP_IN, VIRTUAL)
        self.machine.run("systemctl", "daemon-reload")
        self.remove_fingers()
        self.enrol("first")
        super().setUp()

    def tearDown(self):
        self.stop_services()
        self.remove_fingers()
        self.machine.run("rm", "-f", DROP_IN)
        self.machine.run("systemctl", "daemon-reload")

    def remove_fingers(self):
        self.machine.run("systemctl", "stop", UNIT)
        self.machine.run("sh", "-c", "rm -rf /var/lib/fprint/*")

    def enrol(self, finger, user="alice"):
        """Enrols a finger under the same name, which replaces an earlier one."""
        self.machine.run("/usr/bin/python3", "-c", ENROL, user, finger, timeout=30)
        self.enrolled = finger

    def send(self, command):
        self.machine.run("/usr/bin/python3", "-c", SEND + "send(sys.argv[1])\n", command)

    def finger(self, command):
        """Plays the finger, as `touch`, `miss` or `replace`."""
        if command == "replace":
            self.enrol(self.enrolled + "+")
        else:
            self.send("SCAN " + (self.enrolled if command == "touch" else "of another finger"))
