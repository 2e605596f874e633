# SPDX-License-Identifier: Apache-2.0
"""Writes the picture of a prompt that the README shows.

The prompt comes from this program instead of a daemon, so that the process that it names is always the same one. The same
agent, fonts and theme give the same file.

usage: scripts/with-display /usr/bin/python3 -B Apps/Agent/Tests/WindowTests/readme_picture.py FILE
"""

import os
import shutil
import socket
import sys
import tempfile

from accessible import PATIENCE
from agent_screen import AGENT, Prompt
from deterministic_cbor import encode

# docs/reference/protocol.md: the version of frames, the content of a prompt that asks for a finger, and a prompt of tier user.
WIRE_VERSION = 2
CONTENT = [1, 0, 3, False, 0, 0, 0, b"", 0, ""]
PROMPT = [1, 0, "latchkey", "/usr/bin/latchkey", "", 4711, "read github", "Cancel", "", "", 1, 3, 0, os.geteuid(), CONTENT]


def send(connection, frame):
    payload = encode(frame)
    connection.sendall(bytes([WIRE_VERSION]) + len(payload).to_bytes(4, "big") + payload)


def main(file):
    folder = tempfile.mkdtemp(prefix="latchkey-picture.")
    environment = dict(os.environ, LATCHKEY_HOME=folder, HOME=folder)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(folder + "/socket")
            listening.listen()
            listening.settimeout(PATIENCE)
            # The address at which the agent finds a daemon.
            with open(folder + "/daemon.lock", "w") as lock:
                lock.write(f"1\n{folder}/socket\n{os.getpid()}\n")
            prompt = Prompt("Latchkey", [AGENT], environment, folder + "/agent.log")
            try:
                connection, _ = listening.accept()
                send(connection, [1, {}])
                send(connection, [3, [1, [0, PROMPT]]])
                prompt.reads("Touch the sensor.")
                # A palette and no date: a small file, and the same one each time.
                prompt.screenshot(
                    f"PNG8:{file}", "-strip", "+dither", "-colors", "64", "-define", "png:exclude-chunks=date,time")
            finally:
                prompt.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main(sys.argv[1])
