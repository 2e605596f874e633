# SPDX-License-Identifier: Apache-2.0
"""A reader that forms images, behind the real fprintd: libfprint finds the minutiae of what is laid on it and compares
them. The fingers never existed; each time one is laid on the reader, its picture is another one."""

import os
import pathlib
import subprocess
import textwrap

from fprint import ENROLMENT, WithFprintd, sender

MAKER = pathlib.Path(os.environ["LATCHKEY_PROGRAMS"]) / "synthetic-finger"
SOCKET, FOLDER = "/run/fprint-test/image.sock", "/srv/fingers"
VIRTUAL = textwrap.dedent(f"""\
    [Service]
    RuntimeDirectory=fprint-test
    Environment=FP_DRIVERS_WHITELIST=virtual_image FP_VIRTUAL_IMAGE={SOCKET}
    """)
LAY = sender(SOCKET) + textwrap.dedent("""\
    def lay(path):
        with open(path, "rb") as file:
            send(file.read(), ends=True)
    """)
# Enrols the pictures argv[2] and so on as the right index finger of argv[1].
ENROL = LAY + textwrap.dedent("""\
    finger, pictures = "right-index-finger", iter(sys.argv[2:])
    def touch():
        lay(next(pictures))
    """) + ENROLMENT
# The last one of a finger is laid on the reader when it is asked for; the enrolment takes at most the others.
PICTURES = 9


class WithFingerImages(WithFprintd):
    """alice is at the machine, and her finger, which is a number, is enrolled."""

    reader = VIRTUAL

    def setUp(self):
        if not MAKER.exists():
            self.skipTest("no program that makes fingers: run `make build PART='services testing'` first")
        super().setUp()

    def pictures(self, finger):
        """The files inside of a finger's pictures."""
        paths = [f"{FOLDER}/{finger}-{number}" for number in range(PICTURES)]
        if self.machine.run("test", "-e", paths[-1], check=False).returncode != 0:
            made = subprocess.run([MAKER, str(finger), str(PICTURES)], check=True, capture_output=True).stdout
            size = len(made) // PICTURES
            for number, path in enumerate(paths):
                self.machine.write(path, made[number * size:(number + 1) * size], 0o600)
        return paths

    def enroll(self, finger, user="alice"):
        """Enrols a finger under the same name, which replaces an earlier one."""
        finger = 1 if finger == "first" else finger
        self.machine.run("/usr/bin/python3", "-c", ENROL, user, *self.pictures(finger)[:-1], timeout=60)
        self.enrolled = finger

    def lay(self, finger):
        """Lays a finger on the reader."""
        self.machine.run("/usr/bin/python3", "-c", LAY + "lay(sys.argv[1])\n", self.pictures(finger)[-1])
