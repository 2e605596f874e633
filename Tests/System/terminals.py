# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of a user's session, and the person who reads it and types."""

import subprocess

from machine import Failure
from terminal import Conversation


class Terminal(Conversation):
    """A command of a session at a terminal of its own, which the session makes."""

    failure = Failure

    def __init__(self, session, *argv):
        self.process = session.start(*argv, tty=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT)
        super().__init__(self.process.stdout.fileno(), self.process.stdin.fileno())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
