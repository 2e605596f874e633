# SPDX-License-Identifier: Apache-2.0
"""Tests of the window in German, with texts longer than English ones, and from right to left."""

import contextlib
import subprocess
import tempfile

import pytest

from accessible import check
from agent_screen import Machine


@contextlib.contextmanager
def speaking(language, *commands):
    """A machine whose agent, but no other program, has this language."""
    with tempfile.TemporaryDirectory(prefix="latchkey-words.") as locale:
        for step in "build", "pseudo":
            subprocess.run(["scripts/words", step, locale], check=True, stdout=subprocess.DEVNULL, timeout=60)
        environment = {"LATCHKEY_LOCALE_DIR": locale, "LANG": f"{language}.UTF-8", "LC_ALL": "", "LANGUAGE": ""}
        with Machine("sim enroll", *commands, environment=environment) as machine:
            yield machine


def test_german_prompt_has_german_texts_and_the_apps_own_words():
    with speaking("de_DE") as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "open the token store", "--fallback", "Use Passcode")
        first = prompt.reads("Berühren Sie den Sensor.")
        check(first.named("„latchkey-test-client“ fragt nach Ihrem Fingerabdruck"), f"the question: {first.names}")
        check(first.named("für „open the token store“"), f"the reason: {first.names}")
        check(first.buttons[0] == "Abbrechen", f"the buttons: {first.buttons}")
        prompt.picture("de-touch")
        line = prompt.shows_details("Es ist Prozess ")[1]
        check(line.name.startswith(f"Es ist Prozess {caller.process.pid}, „/"), f"the program: {line.name}")
        first.press_button(first.buttons[-1])
        missed = prompt.reads("Nicht erkannt. Noch 2 Versuche.")
        check(missed.buttons[:2] == ["Abbrechen", "Use Passcode"], f"the buttons: {missed.buttons}")
        prompt.picture("de-touch-missed")
        missed.press_button("Use Passcode")
        asking = prompt.reads("Geben Sie Ihren Gerätecode ein und drücken Sie die Eingabetaste.")
        check(asking.field and asking.field.name == "Gerätecode", f"the field: {asking.names}")
        check(asking.named("Gerätecode anzeigen"), f"the button in the field: {asking.names}")
        prompt.picture("de-passcode")
        prompt.enter("9999")
        prompt.sees(lambda t: t.announced.startswith("Der Gerätecode ist falsch."))
        prompt.picture("de-passcode-wrong")
        prompt.keys("Escape")
        caller.ends_with("userCancel")


@pytest.mark.parametrize("language", ["de_DE", "qps", "he_IL"])
def test_every_text_fits_the_window(language):
    with speaking(language, "sim sensor face", "sim enroll") as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "open the album", "--face", "finding your pictures", app="Album")
        asking = prompt.sees(lambda t: len(t.buttons) == 3)
        prompt.picture(f"{language}-face-permission")
        check(not any("\ufffd" in name or "%1$s" in name for name in asking.names), f"the texts: {asking.names}")
        is_inside(asking)
        asking.press_button(asking.buttons[-1])
        # Three buttons again: cancel, and two that play the sensor.
        looking = prompt.sees(lambda t: len(t.buttons) == 3 and t.buttons != asking.buttons)
        prompt.picture(f"{language}-face")
        if language == "he_IL":
            left, right = (button.across()[0] for button in looking.of("button")[-2:])
            check(left > right, "the first button is at the right")
        looking.press_button(looking.buttons[-1])
        prompt.sees(lambda t: t.announced)
        prompt.picture(f"{language}-face-missed")
        machine.sim("look", "--other")
        prompt.sees(lambda t: t.takes_text)
        prompt.picture(f"{language}-face-finished")
        prompt.keys("Escape")
        caller.ends_with("userCancel")
        prompt.is_gone()
        longest_instructions(machine, language)


def is_inside(tree):
    """No widget is clipped by the edges of the window."""
    frame = tree.frame()
    check(frame, "the window has a size")
    for part in tree.all():
        left, width = part.across()
        if width > 0:
            check(frame[0] <= left and left + width <= frame[0] + frame[2], f"{part.name} is clipped")


def longest_instructions(machine, language):
    """The longest instructions, and a request of the command."""
    prompt = machine.prompt
    command = machine.start("latchkey", "export", machine.folder + "/backup")
    prompt.sees(lambda t: t.takes_text)
    prompt.picture(f"{language}-export")
    prompt.enter("1234")
    shown = prompt.sees(lambda t: t.field is None and len(t.buttons) == 4)
    prompt.picture(f"{language}-recovery-code")
    is_inside(shown)
    prompt.keys("Escape")
    check(command.status != 0, "the backup is cancelled")
