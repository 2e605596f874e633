# SPDX-License-Identifier: Apache-2.0
"""Every state of the prompt in several languages: no widget is outside the window, and the window fits its display."""

import contextlib
import os
import subprocess
import tempfile

import pytest

from accessible import check
from shown_prompt import ShownPrompt, content, prompt
from test_agent_languages import is_inside

CODE = b"7KQ2M-9XH4T-B6WDE-1RZ8V-CN3AP-5GYFJ0"
CHAIN = "bash ← claude ← node ← gnome-terminal-server"
TOUCH, FACE, EYES = 1, 2, 4
BIOMETRY, PASSCODE = 1, 2
# docs/reference/protocol.md: the purposes of a prompt that Latchkey describes itself, and those of the Secret Service.
OWN, SECRETS = range(1, 15), range(15, 18)
WITH_A_NAME = {11: "keys.example.org", 14: "Mail password (mail.example)"}
RECOVER, EXPORT, ACCEPT, SET, CHANGE = 12, 2, 7, 8, 4
ACCOUNT, PREVIOUS = 1, 2
WIDTH, HEIGHT = map(int, os.environ.get("LATCHKEY_SCREEN", "1000x800x24").split("x")[:2])
TEXT = int(os.environ.get("LATCHKEY_TEXT") or 100)
# A prompt is no higher than a small display; the display of a telephone, or large text, can take the whole one.
HIGHEST = 600 if TEXT == 100 and WIDTH >= 1000 else HEIGHT


def app(shown, sensor=TOUCH, **fields):
    """A prompt of an app."""
    return prompt(shown, "quicknote", "/usr/lib/quicknote/quicknote", "open your notes", sensor=sensor,
                  fallback="Use Password", **fields)


def states():
    """Each state of a prompt, by a name for its picture."""
    yield "finger", app(content())
    for notice, name in (
        (1, "missed"), (10, "unclear"), (11, "short"), (12, "not-centred"), (13, "remove"), (14, "fast"),
        (15, "disconnected"), (21, "in-use"),
    ):
        yield f"finger-{name}", app(content(notice=notice, tries=2, fallback=True))
    yield "finger-stopped", app(content(notice=1, tries=0, fallback=True))
    yield "face-permission", app(content(question=1), FACE, face="finding your pictures")
    yield "face-scan", app(content(question=2), FACE)
    yield "face", app(content(), FACE)
    yield "face-missed", app(content(notice=1, tries=1, fallback=True), FACE)
    yield "eyes", app(content(), EYES)
    for notice, name in (
        (0, "asked"), (2, "wrong"), (3, "locked"), (4, "no-more-tries"), (5, "same"), (6, "restart"), (7, "long-ago"),
    ):
        yield f"passcode-{name}", app(content(PASSCODE, notice))
    yield "passcode-delayed", app(content(PASSCODE, 2, delay=3599))
    yield "account", app(content(PASSCODE, secret=ACCOUNT))
    yield "account-unverified", app(content(PASSCODE, 16, secret=ACCOUNT))
    yield "account-refused", app(content(PASSCODE, 17, secret=ACCOUNT, message=["The account is locked."]))
    yield "account-previous", app(content(PASSCODE, 18, secret=PREVIOUS))
    yield "account-delayed", app(content(PASSCODE, 2, delay=59, secret=ACCOUNT))
    yield "account-expired", app(content(PASSCODE, 22, step=6, secret=ACCOUNT))
    yield "ssh", prompt(content(), "ssh", "/usr/bin/ssh", "sign in at git.example.org as git with the key “laptop”",
                        sensor=TOUCH, started_by=CHAIN)
    yield "own-name", app(content(PASSCODE), own_name="Album of everything and more")
    for purpose in OWN:
        yield f"purpose-{purpose}", own(content(PASSCODE), purpose)
    for purpose in SECRETS:
        for step in 7, 8:
            shown = prompt(content(PASSCODE, step=step), "gh", "/usr/bin/gh", "GitHub token of the build server", purpose,
                           sensor=0, started_by=CHAIN)
            yield f"purpose-{purpose}-answer-{step}", shown
    for purpose in EXPORT, RECOVER:
        yield f"code-{purpose}", own(content(step=1, code=CODE), purpose)
        yield f"code-{purpose}-again", own(content(notice=20, step=1, code=CODE), purpose)
        yield f"code-{purpose}-end", own(content(step=5), purpose)
    for purpose in 3, RECOVER:
        # The code of a backup is tried when the prompt is over.
        for notice in (0, 19, 23) if purpose == RECOVER else (0, 23):
            yield f"code-{purpose}-asked-{notice}", own(content(notice=notice, step=2), purpose)
    yield "accept", own(content(step=2), ACCEPT)
    for purpose in SET, CHANGE:
        for notice in 0, 8, 9:
            yield f"new-{purpose}-{notice}", own(content(notice=notice, step=3), purpose)
        yield f"new-{purpose}-again", own(content(step=4), purpose)


def own(shown, purpose):
    """A prompt of Latchkey itself."""
    return prompt(shown, "latchkey-settings", "/usr/bin/latchkey-settings", WITH_A_NAME.get(purpose, ""), purpose)


@contextlib.contextmanager
def agent(language):
    with tempfile.TemporaryDirectory(prefix="latchkey-words.") as locale:
        for step in "build", "pseudo":
            subprocess.run(["scripts/words", step, locale], check=True, stdout=subprocess.DEVNULL, timeout=60)
        environment = {"LATCHKEY_LOCALE_DIR": locale, "LANG": f"{language}.UTF-8", "LC_ALL": "", "LANGUAGE": ""}
        with ShownPrompt(environment=environment) as shown:
            yield shown


@pytest.mark.parametrize("language", ["en_GB", "de_DE", "qps", "he_IL"])
def test_every_state_fits_its_window(language):
    with agent(language) as shown:
        faults = []
        for number, (name, asked) in enumerate(states(), 1):
            shown.ask(number, asked)
            tree = shown.prompt.sees(lambda t: t.buttons)
            shown.prompt.picture(f"state-{language}-{name}")
            faults += [f"{name}: {fault}" for fault in faults_of(tree)]
            shown.dismiss(number)
            shown.prompt.is_gone()
        check(not faults, "\n".join(faults))


def faults_of(tree):
    """What is wrong with a prompt that is shown."""
    texts = [text for node in tree.all() for text in (node.name, node.text)]
    wrong = [f"the text {text!r}" for text in texts if "\ufffd" in text or "%1$s" in text]
    if tree.frame()[3] > HIGHEST:
        wrong.append(f"the window is {tree.frame()[3]} high")
    try:
        is_inside(tree)
    except AssertionError as fault:
        wrong.append(str(fault))
    return wrong
