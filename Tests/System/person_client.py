# SPDX-License-Identifier: Apache-2.0
"""A person of a machine, alice, at a terminal and at the scripted sensor; for programs that run inside as root."""

import os
import pty
import re
import select
import socket
import subprocess
import time

SECONDS = 60


def environment():
    return {"PATH": "/usr/bin:/bin", "HOME": "/home/alice", "LANG": "C.UTF-8", "TERM": "xterm"}


def as_alice():
    os.initgroups("alice", 1001)
    os.setgid(1001)
    os.setuid(1001)


def latchkey(*argv, input=None):
    done = subprocess.run(["latchkey", *argv], env=environment(), input=input, capture_output=True, text=True,
                          timeout=SECONDS, preexec_fn=as_alice)
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout


class Terminal:
    """`latchkey` on a terminal of its own; `output` is what it has shown."""

    def __init__(self, *argv):
        self.output, self.read = "", 0
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                # A prompt uses a terminal of the caller only.
                os.fchown(0, 1001, 5)
                as_alice()
                os.execvpe("latchkey", ["latchkey", *argv], environment())
            finally:
                os._exit(127)

    def expect(self, *texts):
        for text in texts:
            deadline = time.monotonic() + SECONDS
            while (place := self.output.find(text, self.read)) < 0:
                if not self.receive(deadline):
                    raise AssertionError(f"not shown: {text!r} but {self.output[self.read:]!r}")
            self.read = place + len(text)

    def receive(self, deadline):
        ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
        try:
            data = os.read(self.terminal, 1 << 16) if ready else b""
        except OSError:
            data = b""  # The last program on the terminal has ended.
        self.output += data.decode(errors="replace")
        return data != b""

    def type(self, text):
        os.write(self.terminal, text.encode() + b"\r")

    def end(self):
        while self.receive(time.monotonic() + SECONDS):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.terminal)
        assert status == 0, self.output
        return self.output


def finger(command):
    with socket.socket(socket.AF_UNIX) as sensor:
        sensor.connect("/run/latchkey/sensor.sock")
        sensor.sendall(command.encode())
        assert sensor.recv(64) == b"ok\n"


def new_passcode(terminal, passcode):
    for question in ("Type a new passcode", "Type the new passcode again"):
        terminal.expect(question)
        terminal.type(passcode)
    terminal.expect("Write this recovery code down", "Enter")
    code = re.findall(r"[0-9A-Z]{5}(?:-[0-9A-Z]{5}){3}-[0-9A-Z]{6}", terminal.output)[-1]
    terminal.type("")
    terminal.expect("last group")
    terminal.type(code[-6:])
    return code


def prepare_files():
    """Makes the text that is signed, and a folder of alice for what is made of it."""
    with open("/tmp/text", "w") as file:
        file.write("the text that is signed")
    os.makedirs("/tmp/alice", exist_ok=True)
    os.chown("/tmp/alice", 1001, 1001)


def signing(name):
    """A terminal on which alice signs the text with a key."""
    return Terminal("key", "sign", name, "/tmp/text", "--output", "/tmp/alice/signature", "--replace")


def assert_signed(name):
    latchkey("key", "public", name, "--output", "/tmp/alice/public", "--replace")
    done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", "/tmp/alice/public", "-signature",
                           "/tmp/alice/signature", "/tmp/text"], capture_output=True, text=True)
    assert done.stdout == "Verified OK\n", done.stderr
