# SPDX-License-Identifier: Apache-2.0
"""Starts a program with windows, and waits until it reports that it is ready."""

import socket
import subprocess

from accessible import PATIENCE, Failed, Windows, check, until


class Process(Windows):
    """A program with windows, whose output is in a file."""

    def __init__(self, title, command, environment, log):
        self.title = title
        self.log = log
        with open(log, "w") as file:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)

    def has_ended(self):
        until(lambda: self.process.poll() is not None, lambda: "the program still runs")
        return self.process.returncode


def start_when_ready(start, path):
    """Returns what `start` returns for a value of NOTIFY_SOCKET, once the program that it starts has reported on this
    socket that it is ready (sd_notify(3))."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
        ready.bind(path)
        ready.settimeout(PATIENCE)
        started = start(path)
        try:
            check(ready.recv(64) == b"READY=1", "the program reports that it is ready")
        except (TimeoutError, Failed) as error:
            started.end()
            raise Failed(f"the program is not ready: {error}\n{started.said()}") from error
    return started
