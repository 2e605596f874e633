# SPDX-License-Identifier: Apache-2.0
"""Tests of the agent with the real daemon: each state of its window over the accessibility bus and by pixels, and the
keys that change the state. The files beside it test its process, other sensors and other languages."""

import re
import subprocess

import pytest

import shown_prompt
from accessible import check, text_of
from agent_screen import ASKS_FOR_PASSCODE, Machine
from screenshot import changes_from, contrast, pixels

PLAYS = ["Play enrolled finger", "Play another finger"]


def test_prompts_for_fingerprint_and_reports_failed_attempts():
    with Machine("sim enroll") as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "open the token store", "--fallback", "Use Passcode")
        first = prompt.reads("Touch the sensor.")
        prompt.picture("touch")
        check(first.role in ("alert", "dialog"), f"the role is {first.role}")
        check(first.named("“latchkey-test-client” asks for your fingerprint"), f"the question: {first.names}")
        check(first.named("to “open the token store”"), f"the reason: {first.names}")
        check(first.named("This machine is simulated, for tests only."), f"the warning: {first.names}")
        check(first.buttons == ["Cancel", *PLAYS], f"the buttons: {first.buttons}")
        check(first.announced == "" and first.field is None, "attempts left are shown only after a failed one")
        first, line = prompt.shows_details()
        check(line.name.startswith(f"It is process {caller.process.pid}, “/"), f"the program: {line.name}")
        prompt.picture("touch-details")
        first.press_button("Play another finger")
        missed = prompt.reads("Not recognised. 2 tries left.")
        prompt.picture("touch-missed")
        check(missed.buttons[:2] == ["Cancel", "Use Passcode"], f"the buttons: {missed.buttons}")
        check(missed.announced == "Not recognised. 2 tries left.", f"announced: {missed.announced!r}")
        missed.press_button("Play enrolled finger")
        caller.ends_with("granted")
        prompt.is_gone()


def test_wrong_passcode_is_reported_and_right_one_is_accepted():
    with Machine("sim enroll") as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "open the token store")
        prompt.reads("Touch the sensor.").press_button("Play another finger")
        prompt.reads("Not recognised. 2 tries left.")
        # The order of the focus is: text, Details, Cancel, Enter Passcode.
        prompt.keys("Tab", "Tab", "Tab", "space")
        asking = prompt.sees(lambda t: t.takes_text)
        check(asking.named(ASKS_FOR_PASSCODE) and asking.field.name == "Passcode", f"the field: {asking.names}")
        check(asking.buttons == ["Cancel", "Continue"] and not asking.announced, f"the buttons: {asking.buttons}")
        prompt.picture("passcode")
        prompt.type("43")
        prompt.sees(lambda t: t.field and t.field.text == "••")
        prompt.keys("4", "3", "Return")
        wrong = prompt.sees(lambda t: t.announced.startswith("The passcode is wrong. "))
        check(wrong.takes_text and wrong.field.text == "", "the field is empty and has the focus")
        prompt.picture("passcode-wrong")
        prompt.type("1234")
        # A stopped daemon keeps the prompt in the state of checking.
        with machine.stopped_daemon():
            prompt.keys("Return")
            checking = prompt.reads("Checking the passcode.")
            check(checking.field and not checking.field.sensitive and checking.field.text == "",
                  "the field is empty and takes no text")
            prompt.picture("passcode-checking")
        caller.ends_with("granted")
        prompt.is_gone()


def test_feedback_of_two_lines_moves_no_button():
    # docs/reference/protocol.md: the method passcode, and the notice of the same wrong passcode.
    content = shown_prompt.content(method=2)
    with shown_prompt.ShownPrompt(shown_prompt.prompt(content)) as agent:
        before = agent.prompt.reads(ASKS_FOR_PASSCODE).named("Cancel", "button").frame()
        content[1] = 5
        agent.show(content)
        after = agent.prompt.sees(lambda t: t.announced.startswith("That is the same wrong passcode as before"))
        check(after.named("Cancel", "button").frame() == before, f"the button was at {before}")


@pytest.mark.promise("memory.dots")
def test_toggle_reveals_passcode_and_focus_stays_in_field():
    with Machine("sim enroll", "sim unenroll") as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "open the token store")
        asking = prompt.sees(lambda t: t.takes_text)
        # Digits could occur in the number of the process, which the window shows.
        prompt.type("qz")
        dots = pixels(machine)
        asking.toggle.press()
        prompt.sees(lambda t: t.is_revealed)
        # The typed text is drawn.
        changes_from(machine, dots)
        prompt.type("3")
        shown = prompt.sees(lambda t: t.takes_text)
        check(shown.field.text == "•••" and not any("qz" in node.name or "qz" in node.text for node in shown.all()),
              "the typed text is not exposed")
        prompt.picture("passcode-shown")
        # A character that is deleted is not drawn any more.
        drawn = pixels(machine)
        prompt.keys("BackSpace")
        prompt.sees(lambda t: t.field and t.field.text == "••")
        changes_from(machine, drawn)
        # A wrong passcode clears the field and conceals what is typed next.
        prompt.keys("Return")
        wrong = prompt.sees(lambda t: t.announced.startswith("The passcode is wrong. "))
        check(wrong.toggle and not wrong.toggle.pressed, "what is typed next is concealed")
        prompt.enter("1234")
        caller.ends_with("granted")


@pytest.mark.parametrize("look", ["light", "dark"])
def test_program_path_has_sufficient_contrast_in_both_colour_schemes(look):
    with Machine(environment={"ADW_DEBUG_COLOR_SCHEME": f"prefer-{look}"}) as machine:
        caller = machine.ask("--reason", "pay")
        machine.prompt.reads(ASKS_FOR_PASSCODE)
        path = machine.prompt.shows_details()[1]
        check(path.name.endswith("/latchkey-test-client”"), "the end of a path is its file")
        # WCAG 2.1, success criterion 1.4.3.
        found = contrast(machine, path)
        check(found >= 4.5, f"the contrast is {found}")
        machine.prompt.keys("Escape")
        caller.ends_with("userCancel")


def test_details_leave_the_cursor_in_the_passcode_field():
    with Machine() as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "pay")
        asking = prompt.sees(lambda t: t.takes_text)
        prompt.type("1")
        prompt.click(asking.details)
        opened = prompt.sees(lambda t: t.details.expanded)
        check(opened.takes_text, f"the focus: {opened.focused_name}")
        prompt.picture("passcode-details")
        prompt.type("2")
        prompt.sees(lambda t: t.takes_text and t.field.text == "••")
        # Reached by keyboard, the button keeps the focus; a character goes to the field, and does not replace what is there.
        prompt.keys("shift+Tab", "space")
        prompt.sees(lambda t: t.focused_name == "Details" and not t.details.expanded)
        prompt.keys("Return")
        prompt.sees(lambda t: t.focused_name == "Details" and t.details.expanded)
        prompt.keys("ctrl+3", "alt+3", "3")
        prompt.sees(lambda t: t.takes_text and t.field.text == "•••")
        prompt.keys("4", "Return")
        caller.ends_with("granted")


def test_characters_change_nothing_while_no_passcode_is_asked_for():
    with Machine("sim enroll") as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "pay")
        prompt.reads("Touch the sensor.")
        prompt.keys("Tab", "1", "2")
        prompt.sees(lambda t: t.focused_name == "Details" and t.field is None)
        prompt.keys("Escape")
        caller.ends_with("userCancel")


def test_the_last_wrong_passcode_is_told():
    with Machine() as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "pay")
        for wrong in "4321", "4322", "4323":
            prompt.sees(lambda t: t.takes_text and not t.field.text)
            prompt.enter(wrong)
        over = prompt.sees(lambda t: t.buttons[:1] == ["Close"])
        caller.ends_with("authenticationFailed")
        check(over.named("Too many wrong passcodes. Try again in 5 seconds."), f"the texts: {over.names}")
        prompt.picture("passcode-over")
        prompt.is_gone()


def test_a_prompt_that_is_over_is_closed_or_replaced():
    last = shown_prompt.content(method=2, notice=2, tries=0, delay=5)
    with shown_prompt.ShownPrompt() as agent:
        for number, key in enumerate(("Return", "Escape"), 1):
            agent.ask(number, shown_prompt.prompt(last))
            agent.dismiss(number)
            agent.prompt.sees(lambda t: t.buttons == ["Close"])
            agent.prompt.keys(key)
            agent.prompt.is_gone()
        agent.ask(3, shown_prompt.prompt(last))
        agent.dismiss(3)
        agent.prompt.sees(lambda t: t.buttons == ["Close"])
        agent.ask(4, shown_prompt.prompt(shown_prompt.content(method=2)))
        agent.prompt.reads(ASKS_FOR_PASSCODE)
        agent.dismiss(4)
        agent.prompt.is_gone()


def test_biometry_only_item_offers_no_fallback():
    with Machine("sim enroll") as machine:
        machine.latchkey("set", "token", "--protect", "biometry", input="secret")
        caller = machine.start("latchkey", "get", "token")
        machine.prompt.reads("Touch the sensor.").press_button("Play another finger")
        missed = machine.prompt.reads("Not recognised. 2 tries left.")
        check(missed.buttons == ["Cancel", *PLAYS], f"the buttons: {missed.buttons}")
        missed.press_button("Play enrolled finger")
        check(caller.said == "secret" and caller.status == 0, f"the output is {caller.said!r}")
        machine.prompt.is_gone()


def test_only_escape_answers_before_focus_is_moved():
    with Machine("sim enroll") as machine:
        prompt = machine.prompt
        for tabs in range(2):
            caller = machine.ask("--reason", "pay")
            first = prompt.reads("Touch the sensor.")
            # Keys meant for another window must not answer the prompt.
            prompt.keys("Return", "y", "a", "space")
            check(prompt.reads("Touch the sensor.").announced == first.announced, "the keys change nothing")
            prompt.keys(*["Tab"] * tabs, "Escape")
            caller.ends_with("userCancel")
            prompt.is_gone()


def test_tab_moves_through_buttons_in_order():
    with Machine("sim enroll") as machine:
        caller = machine.ask("--reason", "pay")
        machine.prompt.reads("Touch the sensor.").press_button("Play another finger")
        machine.prompt.reads("Not recognised. 2 tries left.")
        for title in "Details", "Cancel", "Enter Passcode", *PLAYS:
            machine.prompt.keys("Tab")
            machine.prompt.sees(lambda t: t.focused_name == title)
        machine.prompt.keys("shift+Tab", "Return")
        caller.ends_with("granted")


def test_screen_reader_starts_with_caller_and_reason():
    with Machine("sim enroll") as machine:
        caller = machine.ask("--reason", "pay")
        machine.prompt.reads("Touch the sensor.")
        machine.prompt.focus()
        first = machine.prompt.sees(lambda t: t.focused_name is not None)
        words = first.focused_name
        check(words.startswith("“latchkey-test-client” asks for your fingerprint. to “pay”. Touch the sensor."), words)
        check("asks for your fingerprint to “pay” Touch the sensor." in first.description, first.description)
        first.press_button("Cancel")
        caller.ends_with("userCancel")


def test_long_text_is_truncated_and_markup_is_not_interpreted():
    with Machine("sim enroll") as machine:
        prompt = machine.prompt
        reason = "<b>pay</b> &amp; <span size='9999'>" + "a very long reason " * 40
        title = "Cancel it now " * 10
        caller = machine.ask("--reason", reason, "--cancel", title, "--fallback", title,
                             app="<u>Bank</u> of everything and more")
        shown = prompt.sees(
            lambda t: any(name.startswith("to “<b>pay</b> &amp; <span") for name in t.names))
        check(shown.named("It calls itself “<u>Bank</u> of everything and more”"), f"the own name: {shown.names}")
        check(len(shown.buttons[0]) <= 49, f"the buttons: {shown.buttons}")
        shown.press_button("Play another finger")
        prompt.reads("Not recognised. 2 tries left.")
        prompt.picture("long")
        prompt.keys("Escape")
        caller.ends_with("userCancel")


def test_request_of_the_command_names_it_and_its_action():
    with Machine() as machine:
        prompt = machine.prompt
        machine.latchkey("lock")
        unlocking = machine.start("latchkey", "unlock")
        asking = prompt.reads("“latchkey” wants to")
        check(asking.named("unlock this keychain."), f"the action: {asking.names}")
        check(not any("It calls itself" in name for name in asking.names), f"the command has one name: {asking.names}")
        prompt.picture("unlock")
        check(prompt.shows_details()[1].name.endswith("/latchkey”"), "the path is among the details")
        prompt.enter("1234")
        check(unlocking.status == 0, "the keychain is unlocked")


def test_recovery_code_of_a_backup_is_copied_and_its_end_is_asked_for():
    with Machine() as machine:
        prompt = machine.prompt
        command = machine.start("latchkey", "export", machine.folder + "/backup")
        prompt.sees(lambda t: t.takes_text)
        prompt.enter("1234")
        shown = prompt.sees(lambda t: "Copy" in t.buttons)
        code_form = "([0-9A-Z]{5}-){4}[0-9A-Z]{6}"
        check(not any(re.search(code_form, text) for node in shown.all() for text in (node.name, node.text, node.description)),
              "the code is drawn, and in no text")
        check(shown.named("Recovery code of 26 characters, drawn as a picture"), f"the drawing has a name: {shown.names}")
        prompt.picture("recovery-code")
        shown.press_button("Show for Screen Readers")
        shown = prompt.sees(lambda t: any(re.fullmatch(code_form, name) for name in t.names))
        code = next(name for name in shown.names if re.fullmatch(code_form, name))
        prompt.sees(lambda t: t.focused_name == code)
        prompt.picture("recovery-code-text")
        shown.press_button("Copy")
        copied = prompt.sees(lambda t: t.announced == "Copied. The clipboard is cleared in 60 seconds.")
        prompt.picture("recovery-code-copied")
        pasted = subprocess.run(["xclip", "-selection", "clipboard", "-o"], capture_output=True, text=True, timeout=20)
        check(pasted.stdout == code, "the clipboard has the code")
        copied.press_button("I have written it down")
        asking = prompt.sees(lambda t: t.takes_text)
        check(not any(code in name for name in asking.names), "the code is not shown while its end is typed")
        prompt.picture("recovery-code-end")
        prompt.enter("000000")
        again = prompt.sees(lambda t: t.announced == "That is not the end of the code. Here it is once more.")
        check(again.named(code), f"the code is shown: {again.names}")
        prompt.picture("recovery-code-again")
        again.press_button("I have written it down")
        prompt.sees(lambda t: t.takes_text)
        prompt.enter(code.split("-")[-1].lower())
        check(command.status == 0, "the backup is written")


def test_a_recovery_code_is_seen_on_a_small_display():
    """The code itself without scrolling, all of the rest by keyboard."""
    with text_of(350):
        agent = shown_prompt.ShownPrompt(shown_prompt.prompt(
            shown_prompt.content(step=1, code=b"7KQ2M-9XH4T-B6WDE-1RZ8V-CN3AP-5GYFJ0"), purpose=12, reason=""))
    with agent:
        def bottom(tree, name):
            frame = tree.named(name).frame()
            return frame[1] + frame[3]

        shown = agent.prompt.sees(lambda t: "Copy" in t.buttons)
        # The place of the texts ends where the first button of an answer begins.
        end = shown.named("Cancel", "button").frame()[1]
        check(0 < bottom(shown, "Recovery code of 26 characters, drawn as a picture") <= end, "the code is seen")
        question = "“latchkey” wants to"
        check(bottom(shown, question) > end, "it is not seen without scrolling who asks")
        agent.prompt.picture("recovery-code-small")
        agent.prompt.keys("Page_Down", "Page_Down", "Page_Down")
        agent.prompt.sees(lambda t: 0 < bottom(t, question) <= end)
        agent.prompt.picture("recovery-code-small-scrolled")


def test_user_tier_prompts_for_passcode_without_simulation_buttons():
    with Machine(tier="user") as machine:
        caller = machine.ask("--reason", "open the token store")
        asking = machine.prompt.sees(lambda t: t.takes_text)
        check(asking.buttons == ["Cancel", "Continue"], f"the buttons: {asking.buttons}")
        check(not any("simulated" in name for name in asking.names), f"the texts: {asking.names}")
        machine.prompt.picture("user")
        machine.prompt.enter("1234")
        caller.ends_with("granted")
