# SPDX-License-Identifier: Apache-2.0
"""The window of the program that shows prompts, in a session at the machine."""

import os
import pathlib

from clients import FOLDER, Client
from machine import CHECKOUT, RELEASE

AGENT, INSTALLED = RELEASE / "latchkey-agent", "/usr/libexec/latchkey-agent"
FILES = ("Tests/System/attack_client.py", "Tests/System/desktop_client.py", "Tests/System/keyboard.py",
         "Tests/Wire/deterministic_cbor.py", "Apps/Widgets/Tests/accessible.py", "scripts/with-display")
# The message bus of the session and its services write to the standard output and error with which the bus was started.
START = """export LATCHKEY_SCREEN="$2"; exec 8>&1 9>&2 >/dev/null 2>&1
display=$1; shift 2
exec sh "$display" sh -c 'exec "$@" >&8 2>&9 8>&- 9>&-' start "$@\""""


class WithDesktop:
    """For a class that derives from a `ServiceTest` too."""

    screen = "480x370x24"

    def setUp(self):
        if not AGENT.exists():
            self.skipTest("no program that shows prompts: run `make build PART=agent` first")
        super().setUp()
        self.machine.copy(AGENT, INSTALLED)
        self.addCleanup(self.machine.run, "rm", "-f", INSTALLED)
        for path in FILES:
            self.machine.copy(CHECKOUT / path, f"{FOLDER}/{pathlib.Path(path).name}")

    def desktop(self, session):
        """The agent of a session, which has a display until the end of the test."""
        def start(*argv, **options):
            return session.start("sh", "-c", START, "start", f"{FOLDER}/with-display", self.screen, *argv, **options)
        desktop = Client(start, "/usr/bin/python3", f"{FOLDER}/desktop_client.py")
        self.addCleanup(desktop.leave)
        desktop.do("Desktop", kept="desktop")
        self.addCleanup(desktop.do, "desktop.end")
        return desktop

    def picture(self, desktop, name, moves=False):
        """Writes a picture of the display to the folder $LATCHKEY_SCREENSHOTS, and asserts that something is on it."""
        width, height, pixels = desktop.do("desktop.pixels", moves)
        colours = {pixels[place:place + 3] for place in range(0, len(pixels), 3)}
        self.assertGreater(len(colours), 50, f"{width} by {height} pixels have {len(colours)} colours")
        if folder := os.environ.get("LATCHKEY_SCREENSHOTS"):
            pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
            (pathlib.Path(folder) / f"{name}.png").write_bytes(desktop.do("desktop.picture", moves))
