# SPDX-License-Identifier: Apache-2.0
"""Measures one user's daemon and the system's daemon in turn, inside the machine; bench_services.py calls it.

usage: bench_client.py FOLDER     the folder of a store for the user's own daemon
"""

import json
import os
import re
import socket
import statistics
import struct
import subprocess
import sys
import time

from attack_client import PUBLIC, encode

ITEMS, BATCHES, READS, EVALUATIONS = 50, 15, 1000, 200
NO_PROMPT = {1: False, 2: {0: "", 3: True}}


class Connection:
    """A connection that has sent hello (docs/reference/protocol.md)."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.number = 0
        welcome = self.call(1, {0: "bench"})
        # The services demand a second hello, with the challenge that is the last 16 bytes of the reply.
        if welcome[-17:-16] == b"\x50":
            self.call(1, {0: "bench", 3: welcome[-16:]})

    def call(self, operation, parameters):
        self.number += 1
        payload = encode([0, self.number, [operation, parameters]])
        self.socket.sendall(b"\x01" + struct.pack(">I", len(payload)) + payload)
        return self.receive(struct.unpack(">I", self.receive(5)[1:])[0])

    def receive(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise SystemExit("error: the daemon ended the connection")
            data += part
        return data


def median(count, call):
    """The median of the batches' mean duration of a call, in microseconds."""
    batches = []
    for _ in range(BATCHES):
        begin = time.perf_counter()
        for number in range(count):
            call(number)
        batches.append((time.perf_counter() - begin) / count * 1e6)
    return statistics.median(batches)


def measure(path):
    connection = Connection(path)
    for number in range(ITEMS):
        connection.call(10, {0: 1, 1: {2: f"a{number}"}, 2: [4, 0], 3: b"secret", 4: 0, 5: NO_PROMPT})
    context = connection.call(3, {})[-16:]
    return {
        "read": median(READS, lambda number: connection.call(
            11, {0: {0: 1, 1: {2: f"a{number % ITEMS}"}}, 1: 1, 2: 2, 3: NO_PROMPT})),
        # Refused without a prompt: no passcode is set.
        "evaluation": median(EVALUATIONS, lambda _: connection.call(6, {0: context, 1: 2, 2: {0: "x", 3: False}})),
    }


def main():
    home = sys.argv[1]
    environment = dict(os.environ, LATCHKEY_HOME=home)
    subprocess.run(["latchkey", "status"], env=environment, stdout=subprocess.DEVNULL, check=True)
    with open(home + "/daemon.lock") as lock:
        own = re.search(r"(/[^\s\0]*\.sock)", lock.read()).group(1)
    rounds = [(measure(own), measure(PUBLIC)) for _ in range(3)]
    print(json.dumps(rounds))


if __name__ == "__main__":
    main()
