# SPDX-License-Identifier: Apache-2.0
"""A fingerprint reader of libfprint that is played by the test, behind the real fprintd, polkit and message bus."""

import textwrap

from services import CONFIGURATION

UNIT, HARDWARE = "fprintd.service", "/etc/latchkey/hardware.conf"
DROP_IN = f"/run/systemd/system/{UNIT}.d/virtual.conf"
SOCKET = "/run/fprint-test/finger.sock"
VIRTUAL = textwrap.dedent(f"""\
    [Service]
    RuntimeDirectory=fprint-test
    Environment=FP_DRIVERS_WHITELIST=virtual_device FP_VIRTUAL_DEVICE={SOCKET}
    """)


def sender(path):
    """The text of a function in Python that gives bytes to a reader, and tells it with `ends` that there are no more.

    The socket exists while the reader is claimed. The reader closes a connection when it has taken the bytes.
    """
    return textwrap.dedent(f"""\
        import socket, sys, time
        def send(data, ends=False, seconds=10):
            deadline = time.monotonic() + seconds
            while True:
                try:
                    with socket.socket(socket.AF_UNIX) as reader:
                        reader.connect({path!r})
                        reader.sendall(data)
                        if ends:
                            reader.shutdown(socket.SHUT_WR)
                        while reader.recv(64):
                            pass
                        return
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.005)
        """)


SEND = sender(SOCKET)
# Enrols the finger `finger` of argv[1], as a person at a terminal does; `touch` puts it on the reader.
# The end of a prompt can precede that of the scan, which uses the reader.
ENROLMENT = textwrap.dedent("""\
    import subprocess
    command = ["stdbuf", "-oL", "fprintd-enroll", "-f", finger, sys.argv[1]]
    deadline = time.monotonic() + 10
    while True:
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = []
        for line in program.stdout:
            said.append(line)
            if line.startswith("Enrolling") or "enroll-stage-passed" in line or "enroll-retry" in line:
                touch()
            elif "enroll-completed" in line:
                break
        code = program.wait()
        if code == 0 or not any("AlreadyInUse" in line for line in said) or time.monotonic() > deadline:
            sys.exit(code and "".join(said))
        time.sleep(0.05)  # fprintd does not announce that a reader is free.
    """)
# Enrols argv[2] as the finger argv[3] of argv[1].
ENROL = SEND + textwrap.dedent("""\
    finger = sys.argv[3]
    def touch():
        send(b"SCAN " + sys.argv[2].encode())
    """) + ENROLMENT


RULE = """polkit.addRule(function(action, subject) {
    if (action.id.indexOf("net.reactivated.fprint.") === 0) return polkit.Result.YES;
});
"""


class WithFprintd:
    """alice is at the machine and has one enrolled finger; for a class that derives from a `ServiceTest` too."""

    reader = VIRTUAL

    def setUp(self):
        self.seat = self.enterContext(self.machine.seat("alice"))
        self.addCleanup(self.remove_reader)
        self.machine.write(DROP_IN, self.reader)
        self.machine.run("systemctl", "daemon-reload")
        self.configuration = self.machine.read(CONFIGURATION)
        self.addCleanup(self.machine.write, CONFIGURATION, self.configuration)
        self.addCleanup(self.machine.run, "rm", "-f", HARDWARE)
        self.allow_virtual_hardware("yes")
        self.remove_fingers()
        self.enroll("first")
        super().setUp()

    def remove_reader(self):
        self.stop_services()
        self.remove_fingers()
        self.machine.run("rm", "-f", DROP_IN)
        self.machine.run("systemctl", "daemon-reload")

    def client(self, user="alice", program="/usr/bin/python3", session=None):
        """A process of alice is one of her session at the machine, unless another one is given."""
        return super().client(user, program, session or (self.seat if user == "alice" else None))

    def allow_virtual_hardware(self, answer):
        line = f"allow-virtual-hardware = {answer}\n"
        self.machine.write(CONFIGURATION, self.configuration + line)
        # For the sensors of tier user.
        self.machine.write(HARDWARE, line)

    def remove_fingers(self):
        self.machine.run("systemctl", "stop", UNIT)
        self.machine.run("sh", "-c", "rm -rf /var/lib/fprint/*")

    def enroll(self, finger, user="alice"):
        """Enrols a finger under the same name, which replaces an earlier one."""
        self.enrol_more("right-index-finger", finger, user)
        self.enrolled = finger

    def enrol_more(self, name, finger, user="alice"):
        """Enrols a finger under a name of fprintd."""
        self.machine.run("/usr/bin/python3", "-c", ENROL, user, finger, name, timeout=30)

    def send(self, command):
        self.machine.run("/usr/bin/python3", "-c", SEND + "send(sys.argv[1].encode())\n", command)

    def finger(self, command):
        """Plays the finger, as `touch`, `miss` or `replace`."""
        if command == "replace":
            self.enroll(self.enrolled + "+")
        else:
            self.send("SCAN " + (self.enrolled if command == "touch" else "of another finger"))

    def allow_everyone(self):
        """A rule of polkit, as an administrator writes it for users who log in over SSH."""
        path = "/etc/polkit-1/rules.d/10-fprint.rules"
        self.machine.write(path, RULE)
        self.machine.run("systemctl", "restart", "polkit")
        self.addCleanup(self.machine.run, "rm", "-f", path)
