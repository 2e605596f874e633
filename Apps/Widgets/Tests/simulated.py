# SPDX-License-Identifier: Apache-2.0
"""Starts an app with a simulated keychain, and drives its windows by keyboard and accessibility bus."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading

from accessible import Windows, check, end_all, until
from terminal import Terminal

# Seconds, longer than a test.
DAY = 86_400
PROGRAMS = os.environ["LATCHKEY_PROGRAMS"]


class Machine:
    """A store with a simulated daemon. As a context manager, it ends the processes that it started. A subclass sets
    `program`, the path of the app; `name`, its identifier; and `title`, that of its main window. Without a `sensor`, no
    program is started and nothing is enrolled yet."""

    program = ""
    name = ""
    title = ""

    def __init__(self, sensor="touch", tier="simulated"):
        self.folder = tempfile.mkdtemp(prefix=self.name + ".")
        self.windows = []
        with open(self.folder + "/latchkeyd.conf", "w") as file:
            file.write(f"tier = {tier}\n")
        self.environment = dict(
            os.environ, LATCHKEY_HOME=self.folder, HOME=self.folder,
            LATCHKEY_DAEMON=PROGRAMS + "/latchkeyd", LATCHKEY_APP_ID=self.name)
        if tier == "simulated" and sensor:
            self.sim("sensor", sensor)
            if sensor != "none":
                self.sim("enroll")
            self.sim("passcode", "set", input="1234\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            end_all(self.windows)
        finally:
            if self.serves():
                os.kill(self.daemon(), signal.SIGTERM)
                # Until it has ended, it writes to the folder.
                until(lambda: not self.serves(), lambda: "the daemon still runs")
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
            [PROGRAMS + "/latchkey", *arguments], env=self.environment, input=input, text=True, capture_output=True,
            timeout=60)
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
    """A process of the app and its window."""

    def __init__(self, machine, arguments):
        self.machine = machine
        self.title = machine.title
        self.log = machine.folder + f"/window.{len(machine.windows)}.log"
        # The system's prompt is shown on the terminal of the process; the test answers it through the panel.
        with open(self.log, "w") as log:
            self.terminal = Terminal([machine.program, *arguments], machine.environment, log=log)
        self.process = self.terminal.process
        # Reads the terminal's output, so that a writer never blocks on a full buffer.
        threading.Thread(target=self.terminal.rest, args=(DAY,), daemon=True).start()
