# SPDX-License-Identifier: Apache-2.0
"""The dialogs and bars of the settings window in several languages: each fits its window and the display."""

import contextlib
import gettext
import subprocess

import pytest
from gi.repository import GLib

from accessible import check, until
from fprintd import Fprintd
from settings_screen import Keyring, Machine

# The height of a small display.
HIGHEST = 600


class Speech:
    """The texts of a window in a language."""

    def __init__(self, catalogue, is_right_to_left):
        self.catalogue = catalogue
        # Values are isolated there, so that they keep their own direction.
        self.value = "\u2068{}\u2069" if is_right_to_left else "{}"

    def __call__(self, text, *values):
        said = self.catalogue.gettext(text)
        for number, value in enumerate(values, 1):
            said = said.replace(f"%{number}$s", self.value.format(value))
        return said.replace("_", "")


@contextlib.contextmanager
def speaking(machine, language):
    """Its windows have this language from then on."""
    locale = machine.subfolder("locale")
    for step in "build", "pseudo":
        subprocess.run(["scripts/words", step, locale], check=True, stdout=subprocess.DEVNULL)
    machine.environment |= {"LATCHKEY_LOCALE_DIR": locale, "LANG": f"{language}.UTF-8", "LC_ALL": "", "LANGUAGE": ""}
    catalogue = gettext.NullTranslations()
    if language != "en":
        with open(f"{locale}/{language}/LC_MESSAGES/latchkey.mo", "rb") as file:
            catalogue = gettext.GNUTranslations(file)
    yield Speech(catalogue, language == "he")


class Tour:
    """A window whose dialogs are opened one after the other."""

    def __init__(self, window, language, words):
        self.window, self.language, self.words = window, language, words
        window.title = words("Latchkey Settings")
        self.faults = []

    def page(self, number, condition):
        self.window.keys(f"alt+{number}")
        return self.window.sees(condition)

    def press(self, name, title=None):
        """Presses a button, also one whose name begins with this one."""
        def button(tree):
            return next((n for n in tree.all() if n.role == "button" and n.sensitive and name in n.name), None)

        button(self.window.sees(button, title=title)).press()

    def look(self, name, title=None, decline="Cancel"):
        """Takes a picture of a dialog, or of the window, and notes what does not fit."""
        self.window.picture(f"dialog-{self.language}-{name}", title=title)
        faults = []

        def is_measured(tree):
            # A picture gives the window the focus, upon which a page may replace what it shows. Its widgets that are gone
            # do not reply; then all are read again.
            nonlocal faults
            _, _, width, height = tree.frame() or (0, 0, 0, 0)
            faults = [f"the dialog is {height} high"] if title and height > HIGHEST else []
            for node in tree.all():
                place = node.frame()
                if place and node.role in ("button", "label") and place[2] > 0 and (node.name or node.text):
                    if place[0] < 0 or place[0] + place[2] > width:
                        faults.append(f"{node.name!r} is at {place[0]} to {place[0] + place[2]} of {width}")
            return width > 0

        self.window.sees(is_measured, title=title)
        self.faults += [f"{name}: {fault}" for fault in faults]
        if title:
            self.press(self.words(decline), title=title)
            until(lambda: self.is_closed(title), lambda: f"the dialog {title} is still open")

    def is_closed(self, title):
        try:
            return not self.window.found(title)
        except GLib.Error:
            # The dialog was destroyed while it was read.
            return False


@pytest.mark.parametrize("language", ["en", "de", "qps", "he"])
def test_every_dialog_fits_the_window(language):
    with Machine() as machine, Keyring(machine) as keyring, Fprintd(machine.subfolder("bus")) as fprintd:
        machine.set_passcode()
        machine.latchkey("set", "card", "--protect", "passcode", "--device-only", input="4000\n", app="bank")
        machine.latchkey("set", "login", "--service", "bank.example", "--protect", "presence", input="5000\n", app="bank")
        keyring.answer(keyring.start("/usr/bin/sleep", "1000"), keyring.store("GitHub token"), "Always allow")
        with speaking(machine, language) as words:
            tour = Tour(machine.open_with_fingerprints(fprintd), language, words)
            fingers(tour, fprintd)
            passcode(tour)
            items(tour)
            if language == "en":
                # The same machine with the agent in English, whose prompt the test reads.
                locked(tour, machine)
        check(not tour.faults, "\n".join(tour.faults))


def fingers(tour, fprintd):
    words, finger = tour.words, tour.words("Right index finger")
    tour.page(2, words("No finger is enrolled"))
    tour.look("fingers-none")
    tour.press(words("_Enrol…"))
    tour.window.busy_with(finger)
    tour.look("fingers-begin")
    for scan in "SCAN A", "RETRY 1", "RETRY 2", "RETRY 3":
        fprintd.scan(scan)
        tour.window.sees(lambda t: t.named(words("Cancel"), "button"))
        tour.look("fingers-" + scan.lower().replace(" ", "-"))
    for _ in range(4):
        fprintd.scan("SCAN A")
    delete = words("Delete %1$s", finger)
    tour.window.sees(lambda t: t.named(delete, "button"))
    tour.look("fingers-enrolled")
    tour.press(delete)
    tour.look("fingers-delete", words("Delete %1$s?", finger))


def passcode(tour):
    words = tour.words
    tour.page(1, words("A Passcode Is Set"))
    tour.look("passcode")
    tour.window.press_row(words("_Remove the passcode"))
    tour.look("passcode-remove", words("Remove the Passcode?"))
    tour.window.press_row(words("I _forgot the passcode"))
    tour.look("passcode-forgotten", words("Delete the Passcode and What It Protects?"))


def items(tour):
    words = tour.words
    tour.page(4, "login (bank.example)")
    tour.look("apps")
    tour.window.press_row("login (bank.example)")
    tour.look("item", "login (bank.example)", "_Close")
    tour.window.press_row("login (bank.example)")
    tour.press(words("_Delete…"), title="login (bank.example)")
    tour.look("item-delete", words("Delete This Item?"))
    stored = words("%1$s stored %2$s", "bank", words("“%1$s”", "card"))
    tour.page(3, stored)
    tour.look("activity")
    tour.window.press_row(stored)
    tour.look("activity-details", stored, "_Close")
    tour.page(6, words("Create a backup"))
    tour.look("backup")


def locked(tour, machine):
    machine.latchkey("lock")
    tour.window.keys("F5")
    tour.window.sees(lambda t: t.named(tour.words("Unlock"), "button"))
    tour.look("locked")
