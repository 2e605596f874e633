# SPDX-License-Identifier: Apache-2.0
"""Records all messages on the accessibility bus."""

import subprocess

from accessible import check, until


class AccessibilityMonitor:
    """The messages are in a file of the folder. As a context manager, it ends dbus-monitor."""

    def __init__(self, folder):
        address = subprocess.run(
            ["dbus-send", "--session", "--print-reply=literal", "--dest=org.a11y.Bus", "/org/a11y/bus",
             "org.a11y.Bus.GetAddress"],
            capture_output=True, text=True, timeout=30).stdout.strip()
        check(address.startswith("unix:"), f"the accessibility bus has an address: {address}")
        self.path = folder + "/monitor.log"
        with open(self.path, "w") as file:
            self.process = subprocess.Popen(["dbus-monitor", "--address", address], stdout=file)

    def __enter__(self):
        self.heard("NameAcquired")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def messages(self):
        with open(self.path, errors="replace") as file:
            return file.read()

    def heard(self, words):
        """The messages recorded so far, once they contain `words`."""
        return until(
            lambda: messages if words in (messages := self.messages()) else None,
            lambda: f"no message contains {words}")
