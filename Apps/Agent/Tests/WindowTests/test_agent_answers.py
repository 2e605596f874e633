# SPDX-License-Identifier: Apache-2.0
"""Tests of the window that asks whether a program may read an item which another program stored."""

import contextlib
import subprocess
import tempfile

import pytest

from accessible import check
from shown_prompt import ASKS_FOR_ANSWER, READ_SECRET, ShownPrompt, prompt
from test_agent_languages import is_inside

ANSWERS = {"Allow once": b"once", "Allow until logout": b"session", "Always allow": b"always", "Never allow": b"never"}
CHAIN = "bash ← claude ← node ← gnome-terminal-server"
SPOKEN = "“bash”, started by “claude”, started by “node”, started by “gnome-terminal-server”"
CANCEL = [3]


@contextlib.contextmanager
def asking(label="GitHub token", chain=CHAIN, language=None):
    """The agent with the question, in a language if one is given."""
    shown = prompt(ASKS_FOR_ANSWER, "gh", "/usr/bin/gh", label, READ_SECRET, sensor=0, started_by=chain)
    with tempfile.TemporaryDirectory(prefix="latchkey-words.") as locale:
        environment = {}
        if language:
            for step in "build", "pseudo":
                subprocess.run(["scripts/words", step, locale], check=True, stdout=subprocess.DEVNULL, timeout=60)
            environment = {"LATCHKEY_LOCALE_DIR": locale, "LANG": f"{language}.UTF-8", "LC_ALL": "", "LANGUAGE": ""}
        with ShownPrompt(shown, environment) as agent:
            agent.prompt.sees(lambda t: len(t.buttons) == 5)
            agent.prompt.focus()
            yield agent


def test_question_says_who_asks_for_what_and_what_an_answer_means():
    with asking() as agent:
        shown = agent.prompt.reads("May it read this item?")
        check(shown.named("“gh” wants to"), f"the question: {shown.names}")
        check(shown.named("read “GitHub token”, which another program stored."), f"the item: {shown.names}")
        check(shown.buttons == [*ANSWERS, "Cancel"], f"the buttons: {shown.buttons}")
        check(any("This is a courtesy among your own programs" in name for name in shown.names), f"{shown.names}")
        agent.prompt.picture("answer")
        is_inside(shown)
        shown = agent.prompt.shows_details()[0]
        check(shown.names.count("It was started by " + SPOKEN) == 2, f"the chain: {shown.names}")
        agent.prompt.picture("answer-details")


@pytest.mark.parametrize("title", ANSWERS)
def test_button_sends_its_answer_once(title):
    with asking() as agent:
        agent.prompt.sees(lambda t: len(t.buttons) == 5).press_button(title)
        answer = agent.event()
        check(answer == [10, ANSWERS[title]], f"the event: {answer}")
        sent = agent.prompt.reads("The answer was sent.")
        check(not any(sent.named(other, "button").sensitive for other in ANSWERS), "no second answer can be given")
        agent.dismiss()
        agent.prompt.is_gone()


def test_no_key_answers_before_focus_is_moved_and_tab_reaches_every_answer():
    with asking() as agent:
        agent.prompt.keys("Return", "space", "o", "u", "a", "n")
        check(len(agent.prompt.reads("May it read this item?").buttons) == 5, "the keys change nothing")
        for title in "Details", *ANSWERS, "Cancel":
            agent.prompt.keys("Tab")
            agent.prompt.sees(lambda t: t.focused_name == title)
        agent.prompt.keys("shift+Tab", "shift+Tab", "Return")
        # The first event: no key before has answered.
        answer = agent.event()
        check(answer == [10, b"always"], f"the event: {answer}")


def test_escape_cancels():
    with asking() as agent:
        agent.prompt.keys("Escape")
        answer = agent.event()
        check(answer == CANCEL, f"the event: {answer}")


def test_screen_reader_starts_with_the_question_and_reads_no_arrows():
    with asking() as agent:
        words = agent.prompt.sees(lambda t: t.focused_name is not None).focused_name
        check(words.startswith("“gh” wants to. read “GitHub token”, which another program stored.. It was started by "
                               + SPOKEN), words)
        check("May it read this item?" in words and "are stored for this item" in words, words)
        shown = agent.prompt.sees(lambda t: len(t.buttons) == 5)
        check(not any("←" in name for name in shown.names), f"the names: {shown.names}")


def test_long_label_and_chain_are_cut_and_markup_is_not_interpreted():
    chain = " ← ".join(f"<b>program{number}</b>" for number in range(30))[:240]
    with asking("<u>" + "a very long label " * 13, chain) as agent:
        shown = agent.prompt.reads("May it read this item?")
        check(any(name.startswith("read “<u>a very long label") and name.endswith("…”, which another program stored.")
                  for name in shown.names), f"the item: {shown.names}")
        is_inside(shown)
        agent.prompt.picture("answer-long")


@pytest.mark.parametrize("language", ["de_DE", "qps", "he_IL"])
def test_question_fits_the_window_in_other_languages(language):
    with asking(language=language) as agent:
        shown = agent.prompt.sees(lambda t: len(t.buttons) == 5)
        agent.prompt.picture(f"{language}-answer")
        check(not any("\ufffd" in name or "%1$s" in name for name in shown.names), f"the texts: {shown.names}")
        is_inside(shown)
