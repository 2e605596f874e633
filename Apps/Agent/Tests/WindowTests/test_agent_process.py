# SPDX-License-Identifier: Apache-2.0
"""Tests of the agent as a process: its memory, what it sends on the accessibility bus, and reconnection."""

import subprocess
import time

import pytest
from gi.repository import Gio, GLib

import shown_prompt
from memory import copies
from monitor import AccessibilityMonitor
from accessible import Failed, check, front, to_front, until
from agent_screen import ASKS_FOR_PASSCODE, Machine
from shown_prompt import ShownPrompt

TYPED = "correcthorse7391staple"


def test_prompt_is_shown_and_cancelled():
    """Smoke test: starts, registers, shows one prompt and cancels it."""
    with Machine() as machine:
        caller = machine.ask("--reason", "pay")
        machine.prompt.reads(ASKS_FOR_PASSCODE).press_button("Cancel")
        caller.ends_with("userCancel")
        machine.prompt.is_gone()


@pytest.mark.promise("memory.agent")
@pytest.mark.parametrize("look", ["hidden", "shown"])
def test_typed_passcode_is_wiped_from_agent_memory(look):
    with Machine() as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "pay")
        asking = prompt.sees(lambda t: t.takes_text)
        if look == "shown":
            asking.toggle.press()
        prompt.type(TYPED)
        if look == "shown":
            prompt.sees(lambda t: t.is_revealed)
            prompt.picture("passcode-shown-long")
        # Emptying a text overwrites at least its first byte, so the search is for the rest.
        rest = "horse7391staple"
        agent = prompt.process.pid
        # Waits until the keys have arrived, which also proves that the search finds the text.
        until(lambda: copies(rest, agent) > 0, lambda: "the typed text is not in memory")
        prompt.keys("Return")
        # The field remains for another attempt.
        prompt.sees(lambda t: t.announced.startswith("The passcode is wrong."))
        found = copies(rest, agent)
        check(found == 0, f"{found} copies of the typed text are in memory")
        prompt.keys("Escape")
        caller.ends_with("userCancel")


@pytest.mark.promise("memory.assistive")
def test_typed_passcode_is_not_sent_to_assistive_technology():
    with Machine() as machine, AccessibilityMonitor(machine.folder) as monitor:
        prompt = machine.prompt
        caller = machine.ask("--reason", "pay")
        prompt.sees(lambda t: t.takes_text)
        # Text is deleted by the user and by the agent, both hidden and revealed.
        prompt.type(TYPED)
        prompt.keys("ctrl+a", "BackSpace")
        prompt.sees(lambda t: t.takes_text).toggle.press()
        prompt.sees(lambda t: t.is_revealed)
        prompt.type(TYPED)
        prompt.keys("Return")
        prompt.sees(lambda t: t.announced.startswith("The passcode is wrong."))
        heard = monitor.heard("The passcode is wrong.")
        check(TYPED not in heard, "the typed text is in no message")
        check('variant       string "c"' not in heard, "nor are single characters")
        prompt.keys("Escape")
        caller.ends_with("userCancel")


def test_agent_reconnects_after_daemon_is_killed():
    with Machine() as machine:
        caller = machine.ask("--reason", "pay", is_shown=False)
        machine.prompt.reads(ASKS_FOR_PASSCODE)
        machine.kill_daemon()
        caller.ends_with("daemonUnavailable")
        machine.prompt.is_gone()

        def asks_again():
            # The daemon cannot show a prompt until the agent has registered again.
            again = machine.ask("--reason", "pay", is_shown=False)
            until(lambda: again.ends_within(0) or machine.prompt.tree(), lambda: "it neither ends nor asks")
            return None if again.ends_within(0) and again.result == "notInteractive" else again

        again = until(asks_again, lambda: "the agent does not register again")
        machine.prompt.reads(ASKS_FOR_PASSCODE).press_button("Cancel")
        again.ends_with("userCancel")


def test_second_agent_exits_and_first_continues():
    with Machine() as machine:
        caller = machine.ask("--reason", "pay")
        machine.prompt.reads(ASKS_FOR_PASSCODE)
        status = machine.second_agent().status
        check(status == 75, f"the status of the second agent is {status}")
        machine.prompt.reads(ASKS_FOR_PASSCODE).press_button("Cancel")
        caller.ends_with("userCancel")


@pytest.mark.promise("attacker.raise")
def test_another_program_can_only_bring_the_prompt_to_the_front():
    with ShownPrompt() as shown, Bystander():
        prompt = shown.prompt
        check(raised("Shown") == 0 and raised("Raise", "") == 0, "no prompt is shown")
        shown.send([3, [1, [0, shown_prompt.prompt(shown_prompt.content(method=2))]]])
        before = list(prompt.sees(lambda t: t.takes_text).lines())
        to_front("Bystander", "Latchkey")
        check(raised("Raise", "x" * 5000) == 4711, "it says for which process the prompt is")
        until(lambda: front("Latchkey", "Bystander") == "Latchkey", lambda: "the prompt does not come to the front")
        # It is the same, after the second in which it takes no answer.
        prompt.sees(lambda t: list(t.lines()) == before)
        # A program that asks all the time does not keep it there.
        begin, times, seconds = time.monotonic(), 0, 0
        while seconds < 2.5:
            check(raised("Raise", "") == 4711, "the prompt is still shown")
            if front("Latchkey", "Bystander") == "Latchkey":
                times += 1
                to_front("Bystander", "Latchkey")
            seconds = time.monotonic() - begin
        # GTK asks the display twice for each.
        check(times <= 2 * (seconds / 2 + 1), f"it came {times} times in {seconds} s")
        shown.dismiss()
        prompt.is_gone()
        check(raised("Shown") == 0, "no prompt is shown any more")


@pytest.mark.promise("attacker.raise")
def test_what_is_typed_just_after_a_prompt_was_raised_is_not_sent():
    def waits(tree):
        # Of the buttons, Cancel can always be pressed.
        return [n.name for n in tree.of("button") if not n.sensitive] == ["Continue"]

    # A machine may be too slow to type within the second, which the button shows.
    for _ in range(5):
        with ShownPrompt() as shown:
            shown.send([3, [1, [0, shown_prompt.prompt(shown_prompt.content(method=2))]]])
            check(not waits(shown.prompt.sees(lambda t: t.takes_text)), "it does not wait before a raise")
            check(raised("Raise", "") == 4711, "the prompt is raised")
            shown.prompt.type("1")
            shown.prompt.keys("Return")
            tree = shown.prompt.tree()
            if not tree or not waits(tree):
                continue
            shown.prompt.sees(lambda t: t.takes_text and not waits(t))
            shown.prompt.type("2")
            shown.prompt.keys("Return")
            sent = ""
            while "b'" not in sent:
                sent = repr(shown.frame())
            check("b'12'" in sent, f"the first Enter sent nothing: {sent}")
            return
    raise Failed("this machine typed nothing within a second of a raise")


@pytest.mark.promise("attacker.raise")
def test_a_button_that_allows_has_no_focus_after_a_raise():
    question = shown_prompt.prompt(
        shown_prompt.ASKS_FOR_ANSWER, "gh", "/usr/bin/gh", "GitHub token", shown_prompt.READ_SECRET, sensor=0)
    with ShownPrompt(question) as shown:
        shown.prompt.sees(lambda t: t.named("Always allow", "button"))
        shown.prompt.focus()
        while not shown.prompt.sees(lambda t: t.focused_name).named("Always allow", "button").focused:
            shown.prompt.keys("Tab")
        check(raised("Raise", "") == 4711, "the prompt is raised")
        tree = shown.prompt.sees(lambda t: t.named("Always allow", "button").sensitive)
        check(not tree.named("Always allow", "button").focused, f"{tree.focused_name} has the focus")


def raised(method, *startup):
    """What the agent answers to a call of another program."""
    answer = Gio.bus_get_sync(Gio.BusType.SESSION).call_sync(
        "org.latchkey.Agent", "/org/latchkey/Agent", "org.latchkey.Raise", method,
        GLib.Variant("(s)", startup) if startup else None, GLib.VariantType("(i)"), Gio.DBusCallFlags.NO_AUTO_START, 5000)
    return answer.unpack()[0]


class Bystander:
    """A window of another program. As a context manager, it ends the program."""

    def __enter__(self):
        self.program = subprocess.Popen(["xmessage", "-title", "Bystander", "another window"])

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()
