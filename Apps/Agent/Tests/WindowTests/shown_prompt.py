# SPDX-License-Identifier: Apache-2.0
"""Shows a prompt in the agent's window without a daemon, so that every field of it is that of the test."""

import os
import shutil
import socket
import tempfile

from accessible import PATIENCE
from agent_screen import AGENT, Prompt
from deterministic_cbor import decode, encode

# docs/reference/protocol.md: the version of frames, and the contents of a prompt.
WIRE_VERSION = 1
ASKS_FOR_FINGER = [1, 0, 3, False, 0, 0, 0, b"", 0, [""]]
ASKS_FOR_ANSWER = [2, 0, 0, False, 0, 7, 0, b"", 0, [""]]
READ_SECRET = 15


def prompt(content, caller="latchkey", program="/usr/bin/latchkey", reason="read github", purpose=0, sensor=1,
           started_by=""):
    """A prompt of tier user, whose number is 1."""
    return [1, purpose, caller, program, "", 4711, reason, "Cancel", "", "", sensor, 3, 0, os.geteuid(), started_by, content]


class ShownPrompt:
    """The agent, which is connected to this program and shows a prompt. As a context manager, it ends the agent."""

    def __init__(self, shown, environment=None):
        self.folder = tempfile.mkdtemp(prefix="latchkey-picture.")
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listening.bind(self.folder + "/socket")
        self.listening.listen()
        self.listening.settimeout(PATIENCE)
        # The address at which the agent finds a daemon.
        with open(self.folder + "/daemon.lock", "w") as lock:
            lock.write(f"1\n{self.folder}/socket\n{os.getpid()}\n")
        environment = dict(os.environ, LATCHKEY_HOME=self.folder, HOME=self.folder, **(environment or {}))
        self.prompt = Prompt("Latchkey", [AGENT], environment, self.folder + "/agent.log")
        self.connection, _ = self.listening.accept()
        self.connection.settimeout(PATIENCE)
        self.send([1, {}])
        self.send([3, [1, [0, shown]]])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.prompt.end()
        self.connection.close()
        self.listening.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, frame):
        payload = encode(frame)
        self.connection.sendall(bytes([WIRE_VERSION]) + len(payload).to_bytes(4, "big") + payload)

    def show(self, content):
        """Replaces the content of the prompt."""
        self.send([3, [1, [1, content]]])

    def dismiss(self):
        self.send([3, [1, [2, {}]]])

    def receive(self, count):
        data = b""
        while len(data) < count:
            data += self.connection.recv(count - len(data)) or exit("the agent has closed the connection")
        return data

    def event(self):
        """The next event of the prompt, after those that it registers and becomes visible with."""
        while True:
            frame = decode(self.receive(int.from_bytes(self.receive(5)[1:], "big")))
            if frame[0] == 3 and frame[1][1][1] != [0]:
                return frame[1][1][1]
