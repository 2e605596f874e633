# SPDX-License-Identifier: Apache-2.0
"""A login by finger, as pam_fprintd makes one, after which programs read their secrets without a password."""

import shlex

from fprint import WithFprintd
from machine import fact
from prompts import PASSCODE, PromptTest
from terminals import Terminal

LOGIN = "/etc/pam.d/login"
# The seat, which a display manager would name; shadow's login passes no variable on.
SEAT = "/etc/security/test-seat.conf"
MODULES = f"auth sufficient pam_fprintd.so timeout=30\nsession required pam_env.so conffile={SEAT}\n"
SCRIPT = "/usr/local/bin/after-login"
# What a person and their programs do on the first terminal.
COMMANDS = """#!/bin/sh
latchkey secrets enable
printf 'the token' | secret-tool store --label=forge service forge
echo "forge: $(secret-tool lookup service forge)"
latchkey secrets protect presence
printf 'the number' | secret-tool store --label=bank service bank
echo "bank: $(secret-tool lookup service bank)"
"""


class Console:
    """A terminal of the machine at which nobody is logged in, at its own seat."""

    def __init__(self, machine):
        self.machine = machine

    def start(self, *argv, tty, **options):
        assert tty
        # `login` takes the terminal of the session that it leads.
        return self.machine.start("script", "--quiet", "--return", "--command", f"exec {shlex.join(argv)}", "/dev/null",
                                  **options)


class FingerprintLoginTests(WithFprintd, PromptTest):
    def setUp(self):
        super().setUp()
        original = self.machine.read(LOGIN)
        self.machine.write(SEAT, "XDG_SEAT DEFAULT=seat0\nXDG_SESSION_TYPE DEFAULT=wayland\n")
        self.addCleanup(self.machine.run, "rm", "-f", SEAT)
        self.machine.write(LOGIN, MODULES + original)
        self.addCleanup(self.machine.write, LOGIN, original)
        self.machine.write(SCRIPT, COMMANDS, mode=0o755)
        self.addCleanup(self.machine.run, "rm", "-f", SCRIPT)
        self.addCleanup(self.machine.run, "rm", "-rf", "/home/alice/.local", "/home/alice/.config/systemd")

    def test_after_a_login_by_finger_secrets_are_read_under_their_rules_and_no_keyring_asks_to_be_unlocked(self):
        login = self.enterContext(Terminal(Console(self.machine), "login", "alice"))
        login.expect("finger")
        self.finger("touch")
        login.expect("$ ")
        login.type(f"exec dbus-run-session {SCRIPT}\r")
        login.expect("forge: the token")
        # The quotation marks are those that the terminal's character set has.
        for text in ("change what new secrets of programs demand", "read the secret"):
            login.expect(text, "started by", "dash", "started by", "dbus-run-session", "Touch")
            self.finger("touch")
        login.expect("bank: the number")
        self.assertEqual(login.end(), 0, login.output)
        for text in ("Password", "unlock", PASSCODE):
            self.assertNotIn(text, login.output)
        fact("a login by finger", "pam_fprintd, then secret-tool: one secret without a prompt, one with a touch")
