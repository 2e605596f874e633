# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal, and the person who reads it and types. All tests in Python that drive a terminal use this."""

import codecs
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time

PATIENCE = 20
# The index of the local modes in what the module termios returns.
LOCAL = 3


class Failure(AssertionError):
    """The terminal does not show what was expected."""


class Conversation:
    """A process on a terminal, which is read and typed on over two descriptors. `output` is everything that it has
    shown."""

    failure = Failure
    process = None

    def __init__(self, reading, writing):
        self._reading, self._writing = reading, writing
        self._read = 0
        self._bytes = b""

    @property
    def output(self):
        return self._bytes.decode(errors="replace")

    @property
    def unread(self):
        """What was shown after the text that was expected last."""
        return self._bytes[self._read:].decode(errors="replace")

    def _receive(self, deadline):
        """Waits for more output; false after the end of every program and at the deadline."""
        ready, _, _ = select.select([self._reading], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._reading, 1 << 16)
        except OSError:
            # EIO: no program has the terminal open any more.
            return False
        self._bytes += data
        return data != b""

    def expect(self, *texts, seconds=PATIENCE):
        """Reads until each text was shown after the one before; returns what was shown before the last one."""
        deadline = time.monotonic() + seconds
        before = ""
        for text in texts:
            while (place := self._bytes.find(text.encode(), self._read)) < 0:
                if not self._receive(deadline):
                    raise self.failure(f"the terminal does not show {text!r} but\n{self.unread!r}\nafter\n{self.output}")
            before = self._bytes[self._read:place].decode(errors="replace")
            self._read = place + len(text.encode())
        return before

    def drain(self, seconds):
        """Reads for a time and returns what was shown, for what must not be shown."""
        deadline = time.monotonic() + seconds
        while self._receive(deadline):
            pass
        return self.unread

    def rest(self, seconds=PATIENCE):
        """Reads until every program has closed the terminal; returns what was shown after the text expected last."""
        text = self.drain(seconds)
        self._read = len(self._bytes)
        return text

    def type(self, text):
        """Types text; `\\r` is the Enter key."""
        rest = text.encode()
        while rest:
            rest = rest[os.write(self._writing, rest):]


    def end(self, seconds=PATIENCE):
        """Waits for the end of the program; returns its exit status, or the negative number of a signal."""
        deadline = time.monotonic() + seconds
        while self._receive(deadline):
            pass
        try:
            return self.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise self.failure(f"the program does not end; it has shown\n{self.output}") from None


class Terminal(Conversation):
    """A program that was started on a pseudoterminal of its own, which is its controlling terminal. `screen`, a model of
    the terminal, is drawn while `shows` waits. With `log`, an open file, only its prompts write to the terminal. It inherits
    the descriptors `passed`."""

    def __init__(self, argv, environment=None, *, screen=None, edits_lines=False, user=None, log=None, passed=()):
        near, far = os.openpty()
        super().__init__(near, near)
        self.screen = screen
        self._drawn = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._resize(screen.columns if screen else 100, screen.rows if screen else 40)
        self.first_modes = self.modes
        if edits_lines:
            # As a line editor that reads single keys.
            self.first_modes[LOCAL] &= ~termios.ICANON
            self.modes = self.first_modes
        if user is not None:
            # A prompt uses a terminal of the caller only.
            os.fchown(far, user, -1)
        self.process = subprocess.Popen(
            argv, env=environment, stdin=far, stdout=log or far, stderr=log or far, start_new_session=True, user=user,
            group=user, extra_groups=None if user is None else [], pass_fds=passed,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(far)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hang_up()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    @property
    def modes(self):
        """The modes of the terminal (termios(3))."""
        return termios.tcgetattr(self._reading)

    @modes.setter
    def modes(self, modes):
        termios.tcsetattr(self._reading, termios.TCSANOW, modes)

    def _resize(self, columns, rows):
        fcntl.ioctl(self._reading, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        self._resize(columns, rows)

    def hang_up(self):
        """Closes the terminal, as the end of a window does."""
        if self._reading is not None:
            os.close(self._reading)
            self._reading = self._writing = None

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)

    def shows(self, what, seconds=PATIENCE):
        """Reads until a line of the screen contains a text, or the screen fulfils a condition."""
        deadline = time.monotonic() + seconds
        fulfils = what if callable(what) else lambda screen: any(what in line for line in screen.lines)
        while True:
            self.screen.write(self._decoder.decode(self._bytes[self._drawn:]))
            self._drawn = len(self._bytes)
            if fulfils(self.screen):
                return
            if not self._receive(deadline):
                shown = "\n".join(self.screen.lines)
                raise self.failure(f"the screen does not show {what!r} but\n{shown}\nof\n{self.output!r}")
