# SPDX-License-Identifier: Apache-2.0
"""A relay between latchkeyd and the TPM, which writes down what passes the bus, and a reader of that."""

import json
import struct
import subprocess

from chip_log import TIMES, milliseconds
from chips import PLACE, TIER
from machine import CHECKOUT, Failure, eventually
from prompts import PASSCODE

UNIT, LOG, FOLDER = "test-relay.service", "/run/test-tpm/bus", "/usr/local/lib/latchkey"
SOCKET, DEVICE = "/run/test-tpm/relay", "/dev/test-tpm"
SESSIONS = 0x8002
START_SESSION, NO_KEY, PASSWORD = 0x176, 0x40000007, 0x40000009
# Attributes of a session: the parameter of the command, or of the response, is encrypted.
COMMAND_ENCRYPTED, RESPONSE_ENCRYPTED = 0x20, 0x40
# Commands with secrets: the number of their handles, and what has to be encrypted.
SECRET_COMMANDS = {0x153: ("Create", 1, COMMAND_ENCRYPTED), 0x12A: ("NV_DefineSpace", 1, COMMAND_ENCRYPTED),
                   0x13B: ("NV_ChangeAuth", 1, COMMAND_ENCRYPTED), 0x15E: ("Unseal", 1, RESPONSE_ENCRYPTED)}


class Passed:
    """A command that the TPM got: its bytes, those of the answer, and nanoseconds of the monotonic clock."""

    def __init__(self, line):
        fields = json.loads(line)
        self.begin, self.end, self.is_of_manager = fields["begin"], fields["end"], fields["manager"]
        self.sent, self.answered = bytes.fromhex(fields["sent"]), bytes.fromhex(fields["answered"])
        self.code = int.from_bytes(self.sent[6:10], "big")


class WithRelay:
    """For a class that derives from a `TierTest` too."""

    place, arguments = SOCKET, ("socket",)

    def add_chip(self):
        super().add_chip()
        for path in ("System/chip_relay.py", "System/chip_log.py", "Vectors/tpm-times.tsv"):
            self.machine.copy(CHECKOUT / "Tests" / path, f"{FOLDER}/{path.rsplit('/', 1)[1]}")
        words = " ".join((self.arguments[0], self.place, PLACE, LOG, *self.arguments[1:]))
        self.machine.add_unit(UNIT, f"[Service]\nExecStart=/usr/bin/python3 {FOLDER}/chip_relay.py {words}\n"
                                    f"ExecStopPost=-/bin/umount -l {self.place}\nExecStopPost=/bin/rm -f {self.place}\n")
        self.machine.run("sh", "-c", f"rm -f {LOG}; systemctl start {UNIT}")
        self.addCleanup(self.machine.run, "systemctl", "stop", UNIT)
        eventually(self.is_there)

    def is_there(self):
        return self.machine.run("test", "-S", SOCKET, check=False).returncode == 0

    def configure(self, *lines, tier=TIER):
        super().configure(*lines, tier=tier.replace(PLACE, self.place))

    def passed(self):
        """The commands so far."""
        return [Passed(line) for line in self.machine.read(LOG).splitlines()]

    def bus(self):
        """Everything that passed: what was sent to the TPM, and what it answered."""
        passed = self.passed()
        return b"".join(command.sent for command in passed), b"".join(command.answered for command in passed)


class WithSlowChip(WithRelay):
    """A TPM behind a resource manager that takes as long as a published firmware TPM."""

    place, arguments = DEVICE, ("device", f"{FOLDER}/{TIMES.name}")

    def is_there(self):
        return self.machine.run("mountpoint", "-q", DEVICE, check=False).returncode == 0

    def felt(self, seat, rounds=1, pause=0):
        """Has alice sign by finger and by passcode, each time after a pause of that many seconds; returns what she waited for,
        as `Felt`."""
        for name in ("felt_client.py", "person_client.py"):
            self.machine.copy(CHECKOUT / "Tests/System" / name, f"{FOLDER}/{name}")
        with self.machine.start("/usr/bin/python3", f"{FOLDER}/felt_client.py", rounds, pause, PASSCODE, LOG,
                                group=seat.group, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as client:
            output = client.stdout.read()
        if client.returncode != 0:
            raise Failure(f"the person could not sign; see the standard error\n{self.machine.journal()}")
        passed = self.passed()
        return [Felt(*turn, passed) for turn in json.loads(output)]


class Felt:
    """What was felt of a signature: milliseconds, those that the TPM took, and the codes of the commands that it got."""

    def __init__(self, use, turn, begin, end, passed):
        passed = [command for command in passed if begin <= command.begin <= end]
        self.use, self.turn, self.milliseconds = use, turn, (end - begin) / 1e6
        self.of_chip = sum(command.end - command.begin for command in passed) / 1e6
        self.codes = [command.code for command in passed]

    @property
    def bill(self):
        """The number of commands, and the milliseconds that they are priced at."""
        return len(self.codes), milliseconds(self.codes)


def commands(sent):
    """The commands in a stream: code, what follows it, and whether sessions do."""
    while sent:
        tag, size, code = struct.unpack(">HII", sent[:10])
        yield code, sent[10:size], tag == SESSIONS
        sent = sent[size:]


def part(data):
    size = int.from_bytes(data[:2], "big")
    return data[2:2 + size], data[2 + size:]


def authorizations(body, handles):
    """The sessions of a command, handle, attributes and code of each; and its parameters."""
    rest = body[4 * handles:]
    size, rest = int.from_bytes(rest[:4], "big"), rest[4:]
    area, parameters, found = rest[:size], rest[size:], []
    while area:
        handle = int.from_bytes(area[:4], "big")
        _, area = part(area[4:])
        attributes, area = area[0], area[1:]
        code, area = part(area)
        found.append((handle, attributes, code))
    return found, parameters
