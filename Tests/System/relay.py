# SPDX-License-Identifier: Apache-2.0
"""A relay between latchkeyd and the TPM, which writes down what passes the bus, and a reader of that."""

import struct

from chips import PLACE
from machine import eventually

UNIT, SOCKET, LOG = "test-relay.service", "/run/test-tpm/relay", "/run/test-tpm/bus"
SESSIONS = 0x8002
START_SESSION, NO_KEY, PASSWORD = 0x176, 0x40000007, 0x40000009
# Attributes of a session: the parameter of the command, or of the response, is encrypted.
COMMAND_ENCRYPTED, RESPONSE_ENCRYPTED = 0x20, 0x40
# Commands with secrets: the number of their handles, and what has to be encrypted.
SECRET_COMMANDS = {0x153: ("Create", 1, COMMAND_ENCRYPTED), 0x12A: ("NV_DefineSpace", 1, COMMAND_ENCRYPTED),
                   0x13B: ("NV_ChangeAuth", 1, COMMAND_ENCRYPTED), 0x15E: ("Unseal", 1, RESPONSE_ENCRYPTED)}
RELAY = f"""
import os, shutil, socket, threading
listener = socket.socket(socket.AF_UNIX)
listener.bind({SOCKET!r})
shutil.chown({SOCKET!r}, "root", "latchkey")
os.chmod({SOCKET!r}, 0o660)
listener.listen()
def pass_on(source, target, mark, log):
    while data := source.recv(1 << 16):
        log.write(mark + len(data).to_bytes(4, "big") + data)
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)
with open({LOG!r}, "ab", 0) as log:
    while True:
        user = listener.accept()[0]
        with user, socket.socket(socket.AF_UNIX) as chip:
            chip.connect({PLACE!r})
            back = threading.Thread(target=pass_on, args=(chip, user, b"<", log))
            back.start()
            pass_on(user, chip, b">", log)
            back.join()
"""


class WithRelay:
    """For a class that derives from a `TierTest` too."""

    def add_chip(self):
        super().add_chip()
        self.machine.write("/usr/local/lib/latchkey/relay", RELAY)
        self.machine.add_unit(UNIT, "[Service]\nExecStart=/usr/bin/python3 /usr/local/lib/latchkey/relay\n")
        self.machine.run("sh", "-c", f"rm -f {LOG} {SOCKET}; systemctl start {UNIT}")
        self.addCleanup(self.machine.run, "systemctl", "stop", UNIT)
        eventually(lambda: self.machine.run("test", "-S", SOCKET, check=False).returncode == 0)

    def bus(self):
        """Everything that passed: what was sent to the TPM, and what it answered."""
        log = self.machine.run("cat", LOG, input=b"").stdout
        streams = {b">": b"", b"<": b""}
        while log:
            size = int.from_bytes(log[1:5], "big")
            streams[log[:1]] += log[5:5 + size]
            log = log[5 + size:]
        return streams[b">"], streams[b"<"]


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
