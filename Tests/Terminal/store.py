# SPDX-License-Identifier: Apache-2.0
"""A store in a temporary folder with the built daemon, and tests of commands that use it on a terminal."""

import os
import pathlib
import select
import shutil
import signal
import subprocess
import tempfile
import unittest

from terminal_model import Screen
from terminal import Terminal

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = os.environ["LATCHKEY_PROGRAMS"]
SIMULATED = "tier = simulated\n"


class Store:
    """A store whose daemon is started by its clients and killed at the end of the block."""

    def __init__(self, settings=""):
        self.folder = tempfile.mkdtemp(prefix="latchkey-test.", dir="/tmp")
        self.write("latchkeyd.conf", settings)
        self.environment = {
            "LATCHKEY_HOME": self.folder, "LATCHKEY_DAEMON": PROGRAMS + "/latchkeyd", "HOME": self.folder,
            "PATH": "/usr/bin:/bin", "LATCHKEY_APP_ID": "test", "SWIFT_BACKTRACE": "enable=no",
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.daemon:
            try:
                os.kill(self.daemon, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def file(self, name):
        return f"{self.folder}/{name}"

    def write(self, name, text):
        pathlib.Path(self.file(name)).write_text(text)

    @property
    def daemon(self):
        """The daemon's process, from its lock file; None if no daemon has started."""
        try:
            lines = pathlib.Path(self.file("daemon.lock")).read_text().split("\n")
            return int(lines[2])
        except (FileNotFoundError, IndexError):
            return None

    def crash(self, number=signal.SIGKILL):
        """Ends the daemon by a signal, and waits until it has ended."""
        process = os.pidfd_open(self.daemon)
        signal.pidfd_send_signal(process, number)
        select.select([process], [], [], 20)
        os.close(process)

    def run(self, *arguments, input="", variables=None):
        """Runs `latchkey` without a terminal."""
        return subprocess.run(
            [PROGRAMS + "/latchkey", *arguments], env={**self.environment, **(variables or {})}, input=input, text=True,
            capture_output=True, timeout=60, start_new_session=True)

    def latchkey(self, *arguments, input="", variables=None):
        """Runs `latchkey`, which has to succeed; returns its output."""
        done = self.run(*arguments, input=input, variables=variables)
        if done.returncode != 0:
            raise AssertionError(f"latchkey {arguments} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout


class StoreTest(unittest.TestCase):
    """A test with a store of its own. `prepare` makes its contents."""

    settings = SIMULATED

    def setUp(self):
        self.store = self.enterContext(Store(self.settings))
        self.latchkey = self.store.latchkey
        self.prepare()

    def prepare(self):
        """Enrols a finger and sets the passcode 1234."""
        self.latchkey("sim", "enroll")
        self.latchkey("sim", "passcode", "set", input="1234\n")

    def start(self, *command, variables=None, columns=None, rows=30, program="latchkey", **options):
        """Starts a command on a terminal; with `columns` the terminal has a screen of this size."""
        return self.enterContext(Terminal(
            [program if program.startswith("/") else f"{PROGRAMS}/{program}", *command],
            {**self.store.environment, **(variables or {})}, screen=Screen(columns, rows) if columns else None, **options))


class ProtectedItemTest(StoreTest):
    """The store has the item `protected`, whose secret `value` requires authentication."""

    def prepare(self):
        super().prepare()
        self.latchkey("set", "protected", "--protect", "presence", input="value")
