# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of a user's session, and the person who reads it and types."""

import os
import select
import subprocess
import time

from machine import Failure


class Terminal:
    """A command of a session at a terminal of its own. `output` is everything that it has shown."""

    def __init__(self, session, *argv):
        self._process = session.start(*argv, tty=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
        self._read = 0
        self._bytes = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    @property
    def output(self):
        return self._bytes.decode(errors="replace")

    @property
    def unread(self):
        """What was shown after the text that was expected last."""
        return self._bytes[self._read:].decode(errors="replace")

    def _receive(self, deadline):
        """Waits for more output; false after the end of the program and at the deadline."""
        ready, _, _ = select.select([self._process.stdout], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return False
        data = os.read(self._process.stdout.fileno(), 1 << 16)
        self._bytes += data
        return data != b""

    def expect(self, *texts, seconds=15):
        """Reads until each text was shown after the one before."""
        deadline = time.monotonic() + seconds
        for text in texts:
            while (place := self._bytes.find(text.encode(), self._read)) < 0:
                if not self._receive(deadline):
                    raise Failure(f"the terminal does not show {text!r} but\n{self.unread!r}\nafter\n{self.output}")
            self._read = place + len(text.encode())

    def drain(self, seconds):
        """Reads for a time and returns what was shown, for what must not be shown."""
        deadline = time.monotonic() + seconds
        while self._receive(deadline):
            pass
        return self.unread

    def type(self, text):
        """Types text; `\\r` is the Enter key."""
        self._process.stdin.write(text.encode())
        self._process.stdin.flush()

    def end(self, seconds=15):
        """Waits for the end of the program and returns its status."""
        deadline = time.monotonic() + seconds
        while self._receive(deadline):
            pass
        try:
            return self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure(f"the program does not end; it has shown\n{self.output}") from None
