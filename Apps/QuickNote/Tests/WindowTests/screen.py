# SPDX-License-Identifier: Apache-2.0
"""Starts quicknote with a simulated keychain, and drives its windows by keyboard and accessibility bus."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../Widgets/Tests"))
from accessible import Windows, check, everything_has_a_name, run, until  # noqa: E402, F401

PROGRAMS = os.environ["LATCHKEY_PROGRAMS"]
QUICKNOTE = os.environ["QUICKNOTE"]


class Machine:
    """A store with a simulated daemon. As a context manager, it ends the processes that it started."""

    def __init__(self, sensor="touch", tier="simulated"):
        self.folder = tempfile.mkdtemp(prefix="quicknote.")
        self.windows = []
        with open(self.folder + "/latchkeyd.conf", "w") as file:
            file.write(f"tier = {tier}\n")
        self.environment = dict(
            os.environ, LATCHKEY_HOME=self.folder, HOME=self.folder,
            LATCHKEY_DAEMON=PROGRAMS + "/latchkeyd", LATCHKEY_APP_ID="quicknote")
        if tier == "simulated":
            self.sim("sensor", sensor)
            self.sim("enrol")
            self.sim("passcode", "set", input="1234\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for window in self.windows:
            window.end()
        daemon = self.daemon()
        if daemon:
            os.kill(daemon, signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def daemon(self):
        """The daemon's process id, from its lock file."""
        try:
            with open(self.folder + "/daemon.lock") as file:
                lines = file.read().split()
            return int(lines[-1]) if lines else None
        except (OSError, ValueError):
            return None

    def serves(self):
        """Whether the daemon is running."""
        try:
            return (daemon := self.daemon()) is not None and os.kill(daemon, 0) is None
        except ProcessLookupError:
            return False

    def latchkey(self, *arguments, input=""):
        done = subprocess.run(
            [PROGRAMS + "/latchkey", *arguments], env=self.environment, input=input, text=True, capture_output=True)
        check(done.returncode == 0, f"latchkey {arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def sim(self, *arguments, input=""):
        return self.latchkey("sim", *arguments, input=input)

    def happens(self, words, times):
        """Waits until the daemon's transcript contains `words` at least `times` times."""
        until(
            lambda: self.sim("transcript").count(words) >= times,
            lambda: f"{words!r} is not {times} times in the transcript:\n{self.sim('transcript')}")

    def open(self, *arguments):
        window = Window(self, arguments)
        self.windows.append(window)
        return window


class Window(Windows):
    """A quicknote process and its window."""

    title = "QuickNote"

    def __init__(self, machine, arguments):
        self.machine = machine
        self.log = machine.folder + f"/window.{len(machine.windows)}.log"
        # The system's prompt is shown on the terminal of the process; the test answers it through the panel.
        self.terminal, end = os.openpty()
        threading.Thread(target=self.drain, daemon=True).start()
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [QUICKNOTE, *arguments], env=machine.environment, stdout=log, stderr=log, stdin=end,
                start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(end)

    def drain(self):
        """Reads the terminal's output, so that a writer never blocks on a full buffer."""
        try:
            while os.read(self.terminal, 4096):
                pass
        except OSError:
            pass
