# SPDX-License-Identifier: Apache-2.0
"""Tests of the window: drives it by keyboard through every state, and checks each over the accessibility bus."""

import json
import os
import subprocess
import time

from accessible import check, everything_has_a_name, text_of, until
from notes_screen import Machine, NOTE_WRITER, QUICKNOTE


def opened(machine, *texts):
    """A window after its first run, unlocked, with these notes."""
    window = machine.open()
    window.sees("Choose a Password")
    window.enter("pw", "pw")
    window.sees(lambda t: t.named("New Note"))
    for text in texts:
        write(window, text)
    return window


def write(window, text):
    window.keys("ctrl+n")
    window.sees(lambda t: (n := t.named("Text of the note")) and n.focused and n.text == "")
    window.type(text)
    window.sees(lambda t: t.named("Text of the note").text == text and t.says("Saved"))


def locked(window, *secrets):
    tree = window.sees("Your Notes Are Locked")
    for secret in secrets:
        check(not tree.holds(secret), f"a widget holds {secret!r} while the notes are locked")
    return tree


def titles(tree):
    # A row that is being made has no text yet.
    rows = [node.children[0] for node in tree.all() if node.role == "list item" and node.children]
    return [row.children[0].name for row in rows if row.children]


def test_first_run_sets_a_password_and_shows_no_notes():
    with Machine() as machine:
        window = machine.open()
        tree = window.sees("Choose a Password")
        everything_has_a_name(tree)
        check(tree.named("Password", "password text").focused, "the first field has the focus")
        window.picture("first-run")
        window.enter("pw", "other")
        tree = window.sees("The two passwords are not the same.")
        check(tree.named("Password", "password text").focused, "the first field has the focus again")
        check(not any(n.text for n in tree.all() if n.role == "password text"), "the fields are empty")
        window.picture("first-run-differs")
        window.enter("pw", "pw")
        tree = window.sees(lambda t: t.says("Write one: only you can read it.") and t.says("From now on, your finger unlocks"))
        check(not tree.says("The two passwords"), "the error is no longer shown")
        everything_has_a_name(tree)
        window.picture("no-notes")
        # One button is in the placeholder of the text, one in the header bar.
        check([n.name for n in tree.all() if n.role == "button"].count("New Note") == 2, "it offers a new note")
        place = next(n for n in tree.all() if any(c.name == "Write one: only you can read it." for c in n.children))
        next(n for n in place.all() if n.name == "New Note").press()
        window.sees(lambda t: (n := t.named("Text of the note")) and n.focused)


def test_new_note_is_saved_and_hidden_while_locked():
    with Machine() as machine:
        window = opened(machine)
        write(window, "milk and bread")
        tree = window.sees("Saved")
        everything_has_a_name(tree)
        check(titles(tree) == ["milk and bread"], f"{titles(tree)}")
        window.picture("note")
        window.keys("ctrl+l")
        tree = locked(window, "milk")
        everything_has_a_name(tree)
        check(tree.named("Unlock with Fingerprint", "button").focused, "the button has the focus")
        # It is behind the page, so the first in the tree: a widget that is clipped, and in that no bar.
        picture = next(n for n in tree.all() if n.role == "scroll pane")
        panels = [n for n in picture.all() if n.role == "panel"]
        check(len(panels) == 1 and not panels[0].children, "the blurred picture is not exposed:\n" + "\n".join(picture.lines()))
        window.picture("locked")


def test_wrong_password_shows_no_note_and_right_one_unlocks():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        window.keys("ctrl+l")
        locked(window)
        window.press_button("Use Password")
        window.sees(lambda t: (n := t.named("Password", "password text")) and n.focused)
        window.picture("password")
        window.enter("wrong")
        tree = window.sees(
            lambda t: (n := t.named("Password", "password text")) and "That is not the password" in n.description)
        check(not tree.holds("milk"), "no note after a wrong password")
        check(any(n.role == "alert" and n.name.startswith("That is not") for n in tree.all()), "the error is announced")
        window.picture("password-wrong")
        window.keys("Escape")
        locked(window, "milk")
        window.press_button("Use Password")
        window.sees(lambda t: (n := t.named("Password", "password text")) and n.focused)
        window.enter("pw")
        check(titles(window.sees("milk and bread")) == ["milk and bread"], "the note is listed")


def test_fingerprint_unlocks_and_failure_leads_to_password():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        window.keys("ctrl+l")
        locked(window)
        window.keys("Return")
        tree = window.sees("Put your finger on the sensor.")
        check(not tree.holds("Face ID") and not tree.holds("milk"), "neither Face ID nor a note is mentioned")
        window.picture("asking-finger")
        window.press_button("Play Finger")
        window.sees("milk and bread")
        window.keys("ctrl+l")
        locked(window, "milk")
        window.keys("ctrl+l")
        window.sees("Put your finger on the sensor.")
        window.press_button("Cancel the Prompt")
        window.sees(lambda t: t.named("Password", "password text"))
        window.keys("Escape")
        locked(window)
        window.keys("ctrl+l")
        window.sees("Put your finger on the sensor.")
        for tries in range(3):
            window.press_button("Play Another Finger")
            machine.happens("another finger", tries + 1)
        tree = window.sees(lambda t: t.named("Password", "password text"))
        check(tree.says("Your finger did not unlock your notes."), "the failure is reported")
        window.picture("finger-refused")
        window.enter("pw")
        window.sees("milk and bread")


def test_changed_enrolment_requires_password_once():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        window.keys("ctrl+l")
        locked(window)
        window.press_button("Enroll Another")
        window.sees(lambda t: t.named("Unlock with Your Password", "button"))
        window.keys("ctrl+l")
        window.sees("What the sensor recognises, or the passcode, has changed.")
        window.picture("enrolment-changed")
        window.enter("pw")
        window.sees("milk and bread")
        window.keys("ctrl+l")
        window.sees(lambda t: t.named("Unlock with Fingerprint", "button"))


def test_face_device_shows_warning_and_never_mentions_fingerprint():
    with Machine(sensor="face") as machine:
        window = opened(machine, "milk and bread")
        window.keys("ctrl+l")
        tree = locked(window, "milk", "Fingerprint")
        check(tree.says("Face ID scans your face as soon as you press the button."), "the warning is shown")
        check("scans your face" in tree.named("Unlock with Face ID", "button").description, "it is exposed, too")
        window.picture("locked-face")
        window.keys("Return")
        tree = window.sees("Look at the sensor.")
        check(not tree.holds("Fingerprint") and not tree.holds("inger"), "a finger is not mentioned")
        window.picture("asking-face")
        window.press_button("Allow")
        machine.happens("prompt: faceID, tries left", 1)
        window.press_button("Play Face")
        window.sees("milk and bread")


# With double text the header bar needs more than the width of a telephone.
NARROW = 360 if int(os.environ.get("LATCHKEY_TEXT") or 100) < 200 else 480


def fits(window, condition):
    """Waits for a state of the narrow window, and checks that no widget exceeds it."""
    tree = window.sees(condition)
    for node in tree.all():
        left, width = node.across()
        # The panel of the simulated sensor, which real machines do not have, can be scrolled.
        if any(node.name.startswith(words) for words in (
                "How to Leave", "Play ", "Cancel the Prompt", "Enroll Another", "Allow")):
            continue
        if node.role in ("button", "password text", "text", "label") and width > 0 and (node.name or node.text):
            # GTK reserves a pixel for the cursor in the content of an editable text, which its scrolled place does not show.
            limit = NARROW + 1 if node.role == "text" else NARROW
            check(left >= 0 and left + width <= limit, f"{node.role} {node.name!r} is at {left} to {left + width}")
    return tree


def test_a_locked_keychain_is_told_and_no_password_is_offered():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        machine.latchkey("lock")
        window.keys("ctrl+l")
        tree = window.sees("The keychain is locked, and your notes are in it.")
        check(not tree.named("Use Password", "button") and not tree.named("Unlock with Your Password", "button"),
              "nothing is offered that cannot work")
        window.picture("keychain-locked")
        window.keys("Return")
        check(window.sees("Your Notes Are Locked").named("Try Again", "button"), "the page stays")


def test_the_password_opens_the_notes_after_the_passcode_was_forgotten():
    """The key for the finger is deleted with the passcode, that for the app's own password is not."""
    with Machine() as machine:
        opened(machine, "milk and bread").end()
        before = machine.latchkey("list", "--all")
        check("Key of all notes, for the finger or face" in before, before)
        machine.latchkey("reset", input="reset\n")
        left = machine.latchkey("list", "--all")
        check("for the finger or face" not in left and "Key of all notes, for the password" in left, left)
        window = machine.open()
        locked(window, "milk")
        window.picture("passcode-forgotten")
        window.press_button("Unlock with Your Password")
        window.sees(lambda t: (n := t.named("Password", "password text")) and n.focused)
        window.enter("1234")
        window.sees("That is not the password of QuickNote.")
        window.enter("pw")
        check(titles(window.sees("milk and bread")) == ["milk and bread"], "the note is listed")


def test_a_narrow_window_shows_the_list_or_the_text():
    with Machine() as machine:
        window = machine.open()
        window.sees("Choose a Password")
        window.resize(NARROW, 600)
        fits(window, "Choose a Password")
        window.picture("narrow-first-run")
        window.enter("pw", "pw")
        fits(window, "Write one: only you can read it.")
        window.picture("narrow-no-notes")
        write(window, "milk and bread")
        tree = fits(window, "Saved")
        check(not tree.named("Search notes"), "the list is not shown beside the text")
        window.picture("narrow-note")
        window.press_button("Back to the Notes")
        # The list replaces the text.
        fits(window, lambda t: t.says("milk and bread") and t.named("Search notes") and not t.named("Text of the note"))
        window.picture("narrow-list")
        open_first(window)
        window.keys("Escape")
        window.sees(lambda t: t.named("Search notes"))
        window.keys("ctrl+l")
        fits(window, "Your Notes Are Locked")
        window.picture("narrow-locked")
        window.press_button("Use Password")
        fits(window, "Unlock Your Notes")
        window.picture("narrow-password")
        window.enter("pw")
        window.sees("milk and bread")
        open_menu(window, "Change Password…")
        fits(window, "Your notes stay as they are.")
        # In the wide window, both are shown.
        window.keys("Escape")
        window.resize(860, 600)
        window.sees(lambda t: t.named("Search notes") and t.named("Text of the note") is None)


def in_sight(tree, *found):
    """Whether these widgets are between the header bar and the panel of the simulated sensor."""
    first = tree.named("Menu", "button").frame()
    end = tree.named("How to Leave", "button").frame()[1]
    return all(first[1] + first[3] <= top and top + height <= end for _, top, _, height in (node.frame() for node in found))


def test_double_text_keeps_the_button_and_the_error_of_a_page_in_sight():
    with text_of(200), Machine() as machine:
        window = machine.open()
        tree = window.sees("Choose a Password")
        check(in_sight(tree, tree.named("Set Password", "button")), "the button is in sight")
        window.enter("pw", "other")
        words = "The two passwords are not the same. Type them again."
        window.sees(lambda t: (error := t.named(words)) and in_sight(
            t, error, t.named("Set Password", "button"), t.named("Password", "password text")))
        window.picture("double-text-differs")
        write_first(window)
        open_menu(window, "Change Password…")
        tree = window.sees("Your notes stay as they are.")
        check(in_sight(tree, tree.named("Change Password", "button"), tree.named("Cancel", "button")), "both are in sight")
        window.keys("Tab", "Tab")
        window.sees(lambda t: (n := t.named("New password again", "password text")) and n.focused and in_sight(t, n))
        window.picture("double-text-change")


def write_first(window):
    window.enter("pw", "pw")
    window.sees(lambda t: t.named("New Note"))
    write(window, "milk and bread")


def test_search_lists_matches_and_reports_none():
    with Machine() as machine:
        window = opened(machine, "milk and bread", "call the bank")
        window.keys("ctrl+f")
        window.type("MILK")
        window.sees(lambda t: titles(t) == ["milk and bread"])
        window.picture("search")
        window.keys("ctrl+a")
        window.type("nowhere")
        window.sees("No note has these words.")
        window.picture("search-nothing")
        window.keys("ctrl+l")
        locked(window, "nowhere", "milk", "bank")


def test_typing_and_deleting_are_undone():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        window.keys("ctrl+z")
        window.sees(lambda t: t.named("Text of the note").text == "")
        window.keys("ctrl+shift+z")
        window.sees(lambda t: t.named("Text of the note").text == "milk and bread")
        window.keys("ctrl+Delete")
        tree = window.sees("Note deleted")
        check(titles(tree) == [], "the note is no longer listed")
        window.picture("deleted")
        window.press_button("Undo")
        window.sees(lambda t: titles(t) == ["milk and bread"])
        window.keys("ctrl+Delete")
        window.sees("Note deleted")
        window.keys("ctrl+l")
        locked(window, "milk")


def test_two_windows_keep_both_texts():
    with Machine() as machine:
        first = opened(machine, "milk")
        second = machine.open()
        second.sees("Your Notes Are Locked")
        second.press_button("Use Password")
        second.sees(lambda t: (n := t.named("Password", "password text")) and n.focused)
        second.enter("pw")
        second.sees("milk")
        open_first(second)
        second.type(" and bread")
        second.sees(lambda t: "milk and bread" in titles(t) and t.says("Saved"))
        first.type(" and eggs")
        # The first window has either read the other's text by then, or its save conflicts and creates a separate note.
        both = lambda t: all(any(words in title for title in titles(t)) for words in ("bread", "eggs"))
        first.sees(lambda t: both(t) and t.says("Saved"))
        first.picture("two-windows")
        second.keys("ctrl+f")
        second.sees(both)


def test_a_window_that_becomes_active_reads_nothing():
    with Machine() as machine:
        first = opened(machine, "milk")
        first.keys("ctrl+l")
        locked(first, "milk")
        second = machine.open()
        locked(second)
        # Each of them looks whether the finger is still trusted.
        for _ in range(3):
            first.focus()
            second.focus()
        second.press_button("Use Password")
        second.sees(lambda t: (n := t.named("Password", "password text")) and n.focused)
        second.enter("pw")
        second.sees("milk")
        log = [json.loads(line) for line in machine.latchkey("log", "--json").splitlines()]
        names = [entry["name"] for entry in log if entry["event"] == "used"]
        check(any("password-key" in name for name in names), f"the log has what was read: {names}")
        check(not any("enrolled" in name for name in names), f"which fingers are trusted is no secret: {names}")


def open_first(window):
    window.keys("ctrl+f", "Tab", "Return")
    window.sees(lambda t: (n := t.named("Text of the note")) and n.focused)
    window.keys("ctrl+End")


def test_the_password_is_changed():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        open_menu(window, "Change Password…")
        tree = window.sees("Your notes stay as they are.")
        everything_has_a_name(tree)
        window.picture("change-password")
        window.enter("wrong", "new", "new")
        window.sees("That is not the password of QuickNote.")
        window.enter("pw", "new", "new")
        window.sees(lambda t: titles(t) == ["milk and bread"])
        window.keys("ctrl+l")
        locked(window)
        window.press_button("Use Password")
        window.sees(lambda t: (n := t.named("Password", "password text")) and n.focused)
        window.enter("pw")
        window.sees("That is not the password of QuickNote. Try again.")
        window.enter("new")
        window.sees("milk and bread")


def test_note_shortcuts_do_nothing_on_other_pages():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        for command, page in (
            ("Change Password…", "Your notes stay as they are."),
            ("Reset Everything… (debug builds)", "Delete Every Note?"),
        ):
            open_menu(window, command)
            window.sees(page)
            window.keys("ctrl+z", "ctrl+n", "ctrl+Delete", "Escape")
            window.sees(lambda t: titles(t) == ["milk and bread"])
            tree = window.sees(lambda t: (n := t.named("Text of the note")) and n.text == "milk and bread")
            check(not tree.says("Note deleted"), "no note was deleted")


def open_menu(window, command):
    window.sees(lambda t: t.named("Menu"))
    window.keys("F10")
    window.sees(lambda t: t.named(command, "button"))
    window.press_button(command)


def test_reset_asks_and_returns_to_first_run():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        open_menu(window, "Reset Everything… (debug builds)")
        window.sees("Delete Every Note?")
        window.picture("reset")
        window.keys("Escape")
        window.sees("milk and bread")
        open_menu(window, "Reset Everything… (debug builds)")
        window.press_button("Delete Everything")
        tree = window.sees("Choose a Password")
        check(not tree.holds("milk"), "no note remains")


def test_shortcuts_are_listed():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        window.keys("ctrl+question")
        tree = window.sees("New note", title="Keyboard Shortcuts")
        for words in ("Search", "Lock, or unlock", "Undo", "Delete note"):
            check(tree.says(words), f"no shortcut is named {words}")
        window.picture("shortcuts", title="Keyboard Shortcuts")


def test_keychain_of_another_tier_is_reported():
    with Machine() as machine:
        opened(machine).end()
        machine.sim("stop")
        until(lambda: not machine.serves(), lambda: "the daemon does not end")
        with open(machine.folder + "/latchkeyd.conf", "w") as file:
            file.write("tier = user\n")
        window = machine.open()
        tree = window.sees("The Notes Cannot Be Opened")
        check(not tree.says("Choose a Password"), "this is not a first run")
        check(not tree.says("tier"), "words of developers are among the details only")
        window.picture("unavailable")
        window.press_button("Details")
        window.sees("tier")


def test_closing_locks_saves_and_exits():
    with Machine() as machine:
        window = opened(machine, "milk and bread")
        window.type(" and eggs")
        window.keys("ctrl+q")
        check(window.process.wait(20) == 0, "the exit status is 0")
        window = machine.open()
        locked(window, "milk")
        window.press_button("Use Password")
        window.sees(lambda t: (n := t.named("Password", "password text")) and n.focused)
        window.enter("pw")
        window.sees("milk and bread and eggs")


def test_missing_display_is_reported():
    with Machine() as machine:
        environment = {k: v for k, v in machine.environment.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        done = subprocess.run([QUICKNOTE], env=environment, capture_output=True, text=True, timeout=20)
        check(done.returncode == 69, f"status {done.returncode}")
        check("error: there is no display" in done.stderr and "graphical session" in done.stderr, done.stderr)


def test_a_note_survives_kills_while_the_app_saves():
    """Ten kills, each later than the one before: every note opens, and every line is complete."""
    with Machine() as machine:
        opened(machine, "milk and bread").end()
        for tenths in range(1, 11):
            with subprocess.Popen([NOTE_WRITER, "lines", "50000"], env=machine.environment) as app:
                time.sleep(tenths / 10)
                check(app.poll() is None, "the app had already ended")
                app.kill()
        shown = subprocess.run([NOTE_WRITER, "show", "0"], env=machine.environment, stdout=subprocess.PIPE, text=True, check=True)
        lines = set(shown.stdout.splitlines())
        check(lines - {""} == {"milk and bread", "a whole line"}, f"{lines}")


def test_an_argument_that_is_no_text_is_refused():
    check(subprocess.run([QUICKNOTE, b"caf\xe9"], capture_output=True).returncode == 64, "the exit status is 64")


def test_the_status_tells_of_a_missing_output():
    closed = subprocess.run([QUICKNOTE, "--help"], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE)
    check(closed.returncode == 74, f"status {closed.returncode}")
