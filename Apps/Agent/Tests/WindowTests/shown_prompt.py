# SPDX-License-Identifier: Apache-2.0
"""Shows a prompt in the agent's window without a daemon, so that every field of it is that of the test."""

import os
import shutil
import socket
import tempfile

from accessible import PATIENCE, end_all
from agent_screen import AGENT, Prompt
from deterministic_cbor import decode, encode

# docs/reference/protocol.md: the version of frames, and the contents of a prompt.
WIRE_VERSION = 1
READ_SECRET = 15


def content(method=1, notice=0, tries=3, fallback=False, question=0, step=0, delay=0, code=b"", secret=0, message=("",)):
    """What the prompt asks for: a finger or a face, unless another method or step is given."""
    return [method, notice, tries, fallback, question, step, delay, code, secret, list(message)]


ASKS_FOR_FINGER = content()
ASKS_FOR_ANSWER = content(2, tries=0, step=7)


def prompt(content, caller="latchkey", program="/usr/bin/latchkey", reason="read github", purpose=0, sensor=1,
           started_by="", own_name="", fallback="", face=""):
    """A prompt of tier user, whose number is 1."""
    return [1, purpose, caller, program, own_name, 4711, reason, "Cancel", fallback, face, sensor, 3, 0, os.geteuid(),
            started_by, content]


class ShownPrompt:
    """The agent, which is connected to this program and shows a prompt if one is given. As a context manager, it ends the
    agent."""

    def __init__(self, shown=None, environment=None):
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
        if shown:
            self.send([3, [1, [0, shown]]])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            end_all([self.prompt])
        finally:
            self.connection.close()
            self.listening.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def send(self, frame):
        payload = encode(frame)
        self.connection.sendall(bytes([WIRE_VERSION]) + len(payload).to_bytes(4, "big") + payload)

    def ask(self, number, shown):
        """Shows a prompt under this number, and waits until it is visible."""
        self.send([3, [number, [0, [number, *shown[1:]]]]])
        while self.frame() != [3, [number, [3, [0]]]]:
            pass

    def show(self, content):
        """Replaces the content of the prompt."""
        self.send([3, [1, [1, content]]])

    def dismiss(self, number=1):
        self.send([3, [number, [2, {}]]])

    def receive(self, count):
        data = b""
        while len(data) < count:
            data += self.connection.recv(count - len(data)) or exit("the agent has closed the connection")
        return data

    def frame(self):
        return decode(self.receive(int.from_bytes(self.receive(5)[1:], "big")))

    def event(self):
        """The next event of the prompt, after those that it registers and becomes visible with."""
        while True:
            frame = self.frame()
            if frame[0] == 3 and frame[1][1][1] != [0]:
                return frame[1][1][1]
