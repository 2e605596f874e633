# SPDX-License-Identifier: Apache-2.0
"""A TPM that is a program, swtpm, as a service of the machine, and a configuration with which keys are made in it."""

import struct

from machine import eventually
from sensors import WithSensor
from services import CONFIGURATION

UNIT, STATE, PLACE = "test-tpm.service", "/var/lib/test-tpm", "/run/test-tpm/socket"
# The configuration of tier tpm with this TPM.
TIER = f"tier = tpm\ntpm = {PLACE}\n"


class Chip:
    """A TPM without keys; for a class that derives from a `ServiceTest` too."""

    def add_chip(self):
        if self.machine.run("test", "-x", "/usr/bin/swtpm", check=False).returncode != 0:
            self.skipTest("the image of the machine has no swtpm")
        group = self.machine.run("id", "-g", "latchkey").stdout.strip()
        self.machine.add_unit(UNIT, (
            "[Service]\nRuntimeDirectory=test-tpm\nExecStart=/usr/bin/swtpm socket --tpm2 "
            f"--server type=unixio,path={PLACE},mode=0660,uid=0,gid={group} --tpmstate dir={STATE} "
            "--flags not-need-init,startup-clear\n"))
        self.replace_chip()

    def start_chip(self):
        """Turns the TPM on, with what it has stored."""
        self.machine.run("systemctl", "reset-failed", UNIT, check=False)
        self.machine.run("systemctl", "start", UNIT)
        eventually(lambda: self.machine.run("test", "-S", PLACE, check=False).returncode == 0)

    def stop_chip(self):
        self.machine.run("systemctl", "stop", UNIT)

    def extend_secure_boot(self):
        """Extends PCR 7, as a firmware with other keys does."""
        self.send(0x182, 7, bytes.fromhex("00000001" "000b") + bytes([0x33] * 32))

    def set_owner_password(self, password):
        """Gives the owner hierarchy a password, as another program does."""
        self.send(0x129, 0x40000001, struct.pack(">H", len(password)) + password.encode())

    def send(self, code, handle, parameters):
        """Sends a command with the empty password. The TPM takes one connection at a time."""
        body = struct.pack(">IIIIHBH", code, handle, 9, 0x40000009, 0, 0, 0) + parameters
        self.exchange(struct.pack(">HI", 0x8002, 6 + len(body)) + body)

    def exchange(self, command):
        """Sends a command to the TPM itself, and returns what follows the code of its response."""
        done = self.machine.run("python3", "-c", (
            "import socket\nconnection = socket.socket(socket.AF_UNIX)\n"
            f"connection.connect({PLACE!r})\nconnection.sendall(bytes.fromhex({command.hex()!r}))\n"
            "print(connection.recv(4096)[6:].hex())"))
        answer = bytes.fromhex(done.stdout)
        if answer[:4] != bytes(4):
            raise AssertionError(done.stdout)
        return answer[4:]

    def left(self):
        """How many objects, loaded sessions and saved sessions there are (TPM2_GetCapability of TPM_CAP_HANDLES)."""
        answers = [self.exchange(struct.pack(">HIIIII", 0x8001, 22, 0x17A, 1, kind, 64))
                   for kind in (0x80000000, 0x02000000, 0x03000000)]
        return [struct.unpack(">I", answer[5:9])[0] for answer in answers]

    def replace_chip(self):
        """Another TPM, which has never been used; a cleared one is the same to its users."""
        self.stop_chip()
        self.machine.run("sh", "-c", f"rm -rf {STATE} && mkdir -m 700 {STATE}")
        self.start_chip()


class WithChip(Chip, WithSensor):
    """A TPM without keys, and a touch sensor with one finger; for a class that derives from a `ServiceTest` too."""

    def setUp(self):
        self.addCleanup(self.stop_chip)
        self.add_chip()
        super().setUp()

    def allow_virtual_hardware(self, answer):
        self.machine.write(CONFIGURATION, (
            f"{self.original}enclave = tpm\ntpm = {PLACE}\nallow-virtual-hardware = {answer}\n"))
