# SPDX-License-Identifier: Apache-2.0
"""Tests of the settings window: drives it by keyboard and over the accessibility bus, with the real daemon and the real
prompt."""

import contextlib
import gettext
import json
import os
import re
import signal
import subprocess
import threading

import pytest
from gi.repository import Gio, GLib

from fprintd import Fprintd
from accessible import check, everything_has_a_name, front, text_of, to_front, until
from settings_screen import AGENT, Keyring, Machine, PROGRAMS


def test_a_passcode_is_set_at_the_prompt():
    with Machine() as machine:
        window = machine.open()
        tree = window.sees("No Passcode Is Set")
        everything_has_a_name(tree)
        window.picture("passcode-none")
        window.keys("alt+s")
        window.busy_with("Answer the prompt")
        # The prompt has taken the focus of the display.
        machine.prompt.sees("New passcode")
        window.focus()
        window.sees(lambda t: t.named("Cancel", "button").focused)
        window.picture("passcode-asking")
        machine.prompt.enter("135790", "135790")
        tree = window.sees("A Passcode Is Set")
        everything_has_a_name(tree)
        window.sees("The passcode is set.")
        check('"passcode":true' in machine.latchkey("status", "--json"), "the daemon has a passcode")
        window.picture("passcode-set")


def test_the_passcode_is_changed_tried_and_removed():
    with Machine() as machine:
        machine.set_passcode("135790")
        machine.latchkey("set", "card", "--protect", "passcode", "--device-only", input="4000\n", app="bank")
        machine.latchkey("set", "login", "--protect", "passcode", input="5000\n", app="bank")
        window = machine.open()
        window.sees("A Passcode Is Set")
        window.keys("alt+c")
        machine.prompt.enter("135790", "246802", "246802")
        window.sees("The passcode was changed.")
        window.keys("alt+e")
        machine.prompt.asks("check that you know the passcode")
        machine.prompt.enter("135790")
        machine.prompt.sees("The passcode is wrong.")
        machine.prompt.enter("246802")
        window.sees("The passcode is right.")
        window.keys("alt+r")
        tree = window.sees("One item is deleted, because it needs a passcode.", title="Remove the Passcode?")
        check(tree.says("One item stays and cannot be read until a passcode is set again."), "the other item is counted")
        check(tree.says("bank: “card”"), "the item is named")
        window.picture("passcode-remove", title="Remove the Passcode?")
        window.answer("Remove the Passcode?", "Remove")
        machine.prompt.enter("246802")
        window.sees("No Passcode Is Set")
        check('"items":1' in machine.latchkey("status", "--json"), "the other item is kept")


def test_what_a_first_passcode_leaves_open_is_listed_and_marked():
    with Machine() as machine, Keyring(machine) as keyring:
        keyring.store("GitHub token")
        machine.latchkey("set", "--protect", "none", "login", input="topsecret\n", app="mail")
        window = machine.open()
        window.sees("No Passcode Is Set")
        window.keys("alt+s")
        machine.prompt.enter("135790", "135790")
        # A screen reader says the first line of the list, which no toast repeats.
        tree = window.sees(lambda t: (n := t.named("The passcode is set.", "list item")) and n.focused)
        check(not tree.named("Dismiss"), "there is no toast")
        row = "2 items still open without a question."
        check(tree.named(row, "list item"), "\n".join(tree.lines()))
        check(tree.says("mail: “login”") and tree.says("“GitHub token”"), "they are named")
        check(tree.says("delete in Apps, and type it in its app") and tree.says("Choose it in Apps"), "it says what helps")
        everything_has_a_name(tree)
        window.picture("passcode-set-open")
        # What is stored from now on without a rule is so on purpose.
        machine.latchkey("set", "--protect", "none", "theme", input="dark\n", app="mail")
        machine.latchkey("set", "--protect", "presence", "pin", input="topsecret\n", app="mail")
        window.press_row(row)
        tree = window.sees(lambda t: t.says("theme") and t.says("pin"))
        check(sum(n.name == "No Question" for n in tree.all()) == 3, "\n".join(tree.lines()))
        everything_has_a_name(tree)
        window.picture("apps-open")
        window.open("Passcode")
        window.sees(lambda t: t.says("A Passcode Is Set") and not t.says(row))
        window.open("Health")
        tree = window.sees("2 items open without a question")
        check(tree.says("Stored while no passcode was set."), "\n".join(tree.lines()))
        everything_has_a_name(tree)
        window.picture("health-open")
        window.press_row("2 items open without a question")
        window.sees("theme")
        window.press_row("login")
        window.sees("Only mail can have Latchkey ask before it is read.", title="login")
        window.picture("item-open", title="login")
        window.answer("login", "Close")


ASK = "Ask before it is read"


def test_the_rule_of_a_secret_of_a_program_is_changed_in_its_dialog():
    with Machine() as machine, Keyring(machine) as keyring:
        token = keyring.store("GitHub token")
        machine.set_passcode()
        window = machine.open("apps")
        window.sees(lambda t: t.says("GitHub token") and t.says("No Question"))

        def switch(title="GitHub token", asks=True):
            """Turns the switch of the dialog, which closes it and asks, unless not `asks`."""
            window.press_row("GitHub token")
            tree = window.sees(lambda t: any(n.name == ASK and n.role in SWITCHES for n in t.all()), title=title)
            everything_has_a_name(tree)
            window.picture("item-secret", title=title)
            next(n for n in tree.all() if n.name == ASK and n.role in SWITCHES).press()
            until(lambda: not window.shows(title), lambda: "the dialog is still open")
            if asks:
                machine.prompt.sees("change what is proven before “GitHub token” is read")

        switch()
        machine.prompt.press_button("Allow once")
        window.sees(lambda t: t.says("Latchkey now asks before “GitHub token” is read.") and not t.says("No Question"))
        check(not keyring.reads(os.getpid(), token), "also the program that stored it is asked for")
        switch()
        machine.prompt.enter("135790")
        machine.prompt.press_button("Allow once")
        window.sees(lambda t: t.says("now get it without a question") and t.says("No Question"))
        check(keyring.reads(os.getpid(), token), "the program gets it")
        switch()
        machine.prompt.keys("Escape")
        window.sees(lambda t: t.says("Cancelled. Nothing was changed.") and t.says("No Question"))
        # A second change at once shows no prompt, and the window says why.
        machine.prompt.is_gone()
        switch(asks=False)
        window.sees(lambda t: t.says("so none is shown now. Try again in ") and t.says(" seconds.") and t.says("No Question"))
        machine.prompt.is_gone()


# GTK 4.8 has a toggle button for it.
SWITCHES = ("switch", "toggle button", "check box")


def test_the_program_shows_one_window():
    with Machine(prompts=False) as machine, Machine(prompts=False) as other:
        window = machine.open()
        window.sees("No Passcode Is Set")
        again = machine.open("health")
        check(again.has_ended() == 0, "the second process ends")
        window.sees(lambda t: t.named("Health", "list item").selected and t.says("Protection"))
        check(machine.open().has_ended() == 0, "the second process ends")
        check(window.sees("Protection"), "no page was named, so none is opened")
        # Another store has its own window, and so has a process after the window was closed.
        other.open("backup").sees("Set a passcode first")
        window.keys("ctrl+w")
        check(window.has_ended() == 0, "the window ends")
        machine.open("apps").sees("No app has stored anything yet.")
        # Without a session's bus each process has one.
        alone = [machine.open(DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent", NO_AT_BRIDGE="1") for _ in range(2)]
        for window in alone:
            window.sees("No Passcode Is Set")


@contextlib.contextmanager
def impostor(name):
    """Has a name of the settings window on the bus, and says what the program with a window says to a second one."""
    bus = Gio.DBusConnection.new_for_address_sync(
        os.environ["DBUS_SESSION_BUS_ADDRESS"],
        Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
    actions = Gio.DBusNodeInfo.new_for_xml("""
        <node><interface name="org.gtk.Actions">
        <method name="DescribeAll"><arg type="a{s(bgav)}" direction="out"/></method>
        <method name="Activate">
        <arg type="s" direction="in"/><arg type="av" direction="in"/><arg type="a{sv}" direction="in"/></method>
        </interface></node>""").interfaces[0]
    context = GLib.MainContext.new()
    loop = GLib.MainLoop.new(context, False)

    def answer(*call):
        call[-1].return_value(GLib.Variant("(a{s(bgav)})", ({},)) if call[4] == "DescribeAll" else None)

    def serve():
        context.push_thread_default()
        bus.register_object("/" + name.replace(".", "/"), actions, answer, None, None)
        taken = bus.call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
            GLib.Variant("(su)", (name, 4)), None, 0, 5000)
        ready.append(taken.unpack())
        loop.run()

    ready = []
    thread = threading.Thread(target=serve)
    thread.start()
    until(lambda: ready, lambda: "the name is not taken")
    check(ready == [(1,)], "the name is taken")
    try:
        yield
    finally:
        loop.quit()
        thread.join()
        bus.close_sync()


@pytest.mark.promise("attacker.window")
def test_another_program_that_has_the_name_of_the_window_does_not_keep_it_away():
    with Machine(prompts=False) as machine:
        number = 0xcbf29ce484222325
        for byte in machine.environment["LATCHKEY_HOME"].encode():
            number = (number ^ byte) * 0x100000001b3 % 2 ** 64
        with impostor(f"org.latchkey.Settings.store{number:x}"):
            window = machine.open("health")
            window.sees("Protection")
            check(window.process.poll() is None, "the window stays")


FORGOTTEN = "Delete the Passcode and What It Protects?"


def test_a_forgotten_passcode_is_deleted_after_a_word_was_typed():
    with Machine() as machine:
        machine.set_passcode("135790")
        machine.latchkey("set", "card", "--protect", "passcode", "--device-only", input="4000\n", app="bank")
        machine.latchkey("set", "login", "--protect", "presence", input="5000\n", app="bank")
        window = machine.open()
        tree = window.sees("I forgot the passcode")
        everything_has_a_name(tree)
        # The window reads this when it gets the focus, while the button is still drawn as pressed.
        machine.latchkey("set", "--protect", "none", "token", input="6000\n", app="mail")
        window.keys("alt+f")
        tree = window.sees("2 protected items are deleted.", title=FORGOTTEN)
        check(tree.says("No backup can bring back:\nbank: “card”\n"), "what is lost is named")
        check(tree.says("Only a backup that you made can bring back:\nbank: “login”\n"), "what may be in a backup is named")
        everything_has_a_name(tree)
        window.picture("passcode-forgotten", title=FORGOTTEN)

        def delete(tree):
            return next(n for n in tree.all() if n.role == "button" and "Delete" in n.name)

        check(not delete(tree).sensitive, "nothing is deleted before the word was typed")
        window.type("remove", title=FORGOTTEN)
        check(not delete(window.sees(lambda t: any(n.text == "remove" for n in t.all()), title=FORGOTTEN)).sensitive,
              "another word deletes nothing")
        window.keys("ctrl+a", title=FORGOTTEN)
        window.type("delete", title=FORGOTTEN)
        window.sees(lambda t: delete(t).sensitive, title=FORGOTTEN)
        window.picture("passcode-forgotten-typed", title=FORGOTTEN)
        window.keys("Return", title=FORGOTTEN)
        window.sees(lambda t: t.says("No Passcode Is Set") and t.says("The passcode and the protected items were deleted."))
        check('"items":1' in machine.latchkey("status", "--json"), "the other item is kept")


def test_a_question_in_double_text_fits_the_display():
    with text_of(200), Machine() as machine:
        machine.set_passcode()
        for number in range(6):
            machine.latchkey("set", f"card {number}", "--protect", "passcode", "--device-only", input="4000\n", app=f"bank{number}")
        window = machine.open()
        window.sees("I forgot the passcode")
        window.keys("alt+f")
        tree = window.sees("6 protected items are deleted.", title=FORGOTTEN)
        window.picture("double-text-question", title=FORGOTTEN)
        for name in "Delete", "Cancel":
            found = next(n for n in tree.all() if n.role == "button" and name in n.name)
            _, top, _, height = found.frame()
            check(top + height <= display_height(), f"{name} ends at {top + height}")


def display_height():
    shown = subprocess.run(["xwininfo", "-root"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"Height: (\d+)", shown)[1])


def test_details_in_double_text_are_scrolled_into_sight():
    with text_of(200), Machine(prompts=False) as machine:
        missing = machine.folder + "/latchkeyd"
        window = machine.open(LATCHKEY_DAEMON=missing)
        window.sees("Latchkey Is Not Running")

        def in_sight(node):
            end = window.tree().named("Try Again", "button").frame()[1]
            _, top, _, height = node.frame()
            # Large details are longer than a small window.
            return height > 0 and top < end

        window.press_button("Details")
        window.sees(lambda t: any(missing in n.name and in_sight(n) for n in t.all()))
        window.picture("double-text-details")


def changing_the_passcode(machine):
    """The window while the prompt asks for the passcode that is to be changed."""
    machine.set_passcode()
    window = machine.open()
    window.sees("A Passcode Is Set")
    window.keys("alt+c")
    machine.prompt.sees("Type your passcode")
    return window


def knows_the_first_passcode(machine, window):
    window.keys("alt+e")
    machine.prompt.enter("135790")
    window.sees("The passcode is right.")


def test_an_operation_is_cancelled_in_the_window_and_at_the_prompt():
    with Machine() as machine:
        window = changing_the_passcode(machine)
        window.keys("Return")
        machine.prompt.is_gone()
        window.sees("Cancelled. Nothing was changed.")
        window.keys("alt+e")
        machine.prompt.sees("Type your passcode")
        machine.prompt.keys("Escape")
        machine.prompt.is_gone()
        window.sees(lambda t: t.says("Cancelled") and not t.says("Answer the prompt"))
        knows_the_first_passcode(machine, window)


def test_a_prompt_behind_the_window_is_shown_again():
    with Machine() as machine:
        window = changing_the_passcode(machine)
        window.sees(lambda t: t.named("Show It", "button"))
        to_front(window.title, "Latchkey")
        window.picture("prompt-hidden")
        # Left of the button that has the focus.
        window.keys("shift+Tab")
        window.sees(lambda t: (n := t.named("Show It", "button")) and n.focused)
        window.keys("Return")
        until(lambda: front(window.title, "Latchkey") == "Latchkey", lambda: "the prompt does not come to the front")
        machine.prompt.enter("135790", "246802", "246802")
        window.sees("The passcode was changed.")
        window.sees(lambda t: not t.named("Show It", "button"))


def test_the_prompt_of_another_program_is_told_as_one():
    with Machine() as machine:
        machine.set_passcode()
        first = subprocess.Popen(
            [PROGRAMS + "/latchkey", "passcode", "check"], env=machine.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        machine.prompt.asks("Type your passcode")
        window = machine.open()
        window.sees("A Passcode Is Set")
        window.keys("alt+c")
        tree = window.sees("Another app’s prompt is shown first. Yours follows it.")
        everything_has_a_name(tree)
        window.picture("prompt-of-another")
        machine.prompt.keys("Escape")
        check(first.wait(20) == 77, f"the status is {first.returncode}")
        window.sees(lambda t: not t.says("Another app’s prompt") and t.named("Show It", "button"))
        machine.prompt.asks("change the passcode of this keychain")
        machine.prompt.keys("Escape")
        window.sees("Cancelled. Nothing was changed.")


def test_closing_the_window_ends_the_operation():
    with Machine() as machine:
        window = changing_the_passcode(machine)
        window.keys("ctrl+w")
        check(window.has_ended() == 0, "the window ends")
        machine.prompt.is_gone()
        # The daemon lives, and the passcode is the old one.
        again = machine.open()
        again.sees("A Passcode Is Set")
        knows_the_first_passcode(machine, again)


def test_without_a_program_for_prompts_it_offers_to_start_it():
    with Machine(prompts=False) as machine:
        os.makedirs(machine.folder + "/.config/autostart")
        with open(machine.folder + "/.config/autostart/org.latchkey.Agent.desktop", "w") as file:
            file.write(f"[Desktop Entry]\nType=Application\nName=Latchkey\nExec={AGENT}\n")
        window = machine.open()
        window.sees("No Passcode Is Set")
        window.keys("alt+s")
        tree = window.sees("the program that shows its prompts is not running")
        everything_has_a_name(tree)
        window.picture("no-prompts")
        window.press_button("Start It")
        window.sees("Prompts can be shown now.")
        prompt = machine.found_prompts()
        window.keys("alt+s")
        prompt.enter("135790", "135790")
        window.sees("A Passcode Is Set")


def test_without_a_daemon_it_explains_and_offers_the_fix():
    with Machine(prompts=False) as machine:
        missing = machine.folder + "/latchkeyd"
        window = machine.open(LATCHKEY_DAEMON=missing)
        tree = window.sees("Latchkey Is Not Running")
        check(tree.says("Your stored items are not lost.") and not tree.says(missing), "it explains")
        everything_has_a_name(tree)
        window.picture("no-daemon")
        window.press_button("Details")
        window.sees(missing)
        window.picture("no-daemon-details")
        for page in "Activity", "Apps", "Backup":
            window.open(page)
            window.sees("Latchkey Is Not Running")
        window.keys("alt+m")
        tree = window.sees(lambda t: t.says("Needs Attention") and t.says("Program of the service"))
        everything_has_a_name(tree)
        window.picture("no-daemon-health")
        check(not tree.holds("make install"), "commands are among the details only")
        window.press_button("Details: Program of the service")
        tree = window.sees(lambda t: t.named("Copy Command: Program of the service", "button"))
        check(tree.says("In a terminal: "), "the fix is offered")
        window.picture("no-daemon-health-details")
        os.symlink(PROGRAMS + "/latchkeyd", missing)
        window.open("Passcode")
        window.keys("alt+t")
        window.sees("No Passcode Is Set")


def test_a_store_that_cannot_be_opened_is_explained():
    with Machine(prompts=False) as machine:
        machine.latchkey("set", "--protect", "none", "login", input="5000\n", app="bank")
        machine.stop_daemon()
        with open(machine.store + "/latchkeyd.conf", "w") as file:
            file.write("tier = simulated\n")
        window = machine.open()
        tree = window.sees("The Keychain Cannot Be Opened")
        check(not tree.says("tier"), "words of developers are among the details only")
        everything_has_a_name(tree)
        window.picture("store-unusable")
        window.open("Health")
        window.sees("Needs Attention")


def test_activity_shows_which_app_asked_for_what():
    with Machine() as machine:
        window = machine.open("activity")
        window.sees("No app has used your keychain yet.")
        window.picture("activity-empty")
        machine.set_passcode()
        machine.latchkey("set", "login", "--protect", "passcode", input="topsecret\n", app="bank")
        machine.latchkey("set", "--protect", "none", "token", input="topsecret\n", app="mail")
        machine.latchkey("delete", "token", app="mail")
        reading = subprocess.Popen(
            [machine.app("bank"), "get", "login"], env=machine.environment, stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL, start_new_session=True)
        machine.prompt.enter("111111")
        machine.prompt.sees("The passcode is wrong.")
        machine.prompt.enter("135790")
        check(reading.wait(20) == 0, "the item is read")
        window.keys("F5")
        tree = window.sees(lambda t: t.says("bank read “login”") and t.says("mail deleted an item of its own"))
        check(tree.says("A wrong passcode, asked by bank for “login”"), "\n".join(tree.lines()))
        check(tree.says("bank stored “login”") and tree.says("Today"), "\n".join(tree.lines()))
        check(not tree.holds("topsecret"), "no secret is in the window")
        everything_has_a_name(tree)
        window.picture("activity")
        # The name of an item that is deleted while the window is open stays known.
        machine.latchkey("set", "--protect", "none", "pin", input="topsecret\n", app="mail")
        window.keys("F5")
        window.sees("mail stored “pin”")
        machine.latchkey("delete", "pin", app="mail")
        window.keys("F5")
        window.sees(lambda t: t.says("mail deleted “pin”") and t.says("mail stored “pin”, which is deleted"))
        # It is there again, as a person sees it.
        machine.latchkey("set", "--protect", "none", "pin", input="topsecret\n", app="mail")
        window.keys("F5")
        window.sees(lambda t: t.says("mail stored “pin”") and not t.says("which is deleted"))
        window.press_row("bank read “login”")
        tree = window.sees("App: bank", title="bank read “login”")
        check(tree.says("Process: ") and tree.says("Item: login") and tree.says("needs the passcode")
              and tree.says("Allowed by your passcode."), "\n".join(tree.lines()))
        everything_has_a_name(tree)
        window.picture("activity-details", title="bank read “login”")
        window.answer("bank read “login”", "Show the Item")
        window.sees("Access: needs the passcode", title="login")
        window.answer("login", "Close")
        until(lambda: not window.shows("login"), lambda: "the dialog is still open")
        # The list of apps follows the search field.
        window.keys("ctrl+f")
        window.sees(lambda t: any(n.focused and n.name == "Search" for n in t.all()))
        window.type("stored")
        tree = window.sees(lambda t: t.says("bank stored") and not t.says("bank read"))
        check(tree.says("mail stored"), "the search finds both")
        window.keys("ctrl+a")
        window.type("by your pass")
        tree = window.sees(lambda t: t.says("bank read") and not t.says("bank stored"))
        check(not tree.says("mail stored"), "the search finds how it was allowed")
        window.keys("ctrl+a")
        window.type("xyz")
        window.sees("No entry matches.")
        window.picture("activity-no-match")
        window.keys("ctrl+a", "BackSpace", "Tab")
        window.sees("bank read")
        window.keys("space", "Down", "Down", "Down", "Return")
        tree = window.sees(lambda t: t.says("mail stored") and not t.says("bank stored"))
        window.picture("activity-one-app")


def test_activity_names_the_app_of_an_item_that_is_gone():
    with Machine(prompts=False) as machine:
        machine.latchkey("set", "--protect", "none", "pin", input="topsecret\n", app="mail")
        machine.latchkey("get", "pin", app="mail")
        machine.latchkey("delete", "pin", app="mail")
        # The window did not see the name of the item.
        window = machine.open("activity")
        tree = window.sees("mail read an item of its own that was deleted")
        check(tree.says("mail deleted an item of its own"), "\n".join(tree.lines()))
        window.press_row("mail read an item of its own that was deleted")
        window.sees("Item: deleted, and its name with it", title="mail read an item of its own that was deleted")


def test_activity_names_an_item_that_another_page_saw_before_it_was_deleted():
    with Machine() as machine:
        machine.set_passcode()
        machine.latchkey("set", "--protect", "none", "door code", input="topsecret\n", app="mail")
        window = machine.open("passcode")
        window.sees("A Passcode Is Set")
        machine.latchkey("delete", "door code", app="mail")
        window.open("Activity")
        tree = window.sees(lambda t: t.says("mail deleted “door code”") and t.says("mail stored “door code”, which is deleted"))
        check(not tree.holds("topsecret"), "no secret is in the window")
        window.press_row("mail stored “door code”, which is deleted")
        tree = window.sees("Item: door code", title="mail stored “door code”, which is deleted")
        check(not any("Show the" in n.name for n in tree.all()), "an item that is gone cannot be shown")
        window.answer("mail stored “door code”, which is deleted", "Close")
        # The names are in the memory of the window only.
        window.end()
        machine.open("activity").sees(lambda t: t.says("mail deleted an item of its own") and not t.holds("door code"))


def test_older_activity_is_read_on_demand():
    with Machine(prompts=False) as machine:
        for number in range(52):
            machine.latchkey("set", "--protect", "none", f"item{number}", input="x\n", app="bank")
            machine.latchkey("delete", f"item{number}", app="bank")
        window = machine.open("activity")
        tree = window.sees("bank deleted")
        # The newest hundred entries, some of which are not of the app.
        check(rows(tree) < 104, f"{rows(tree)} rows")
        window.keys("alt+o")
        window.sees(lambda t: rows(t) == 104)


def rows(tree):
    return sum(n.role == "list item" and "bank" in n.name for n in tree.all())


def test_apps_show_names_and_rules_and_no_secret():
    with Machine() as machine:
        window = machine.open("apps")
        window.sees("No app has stored anything yet.")
        window.picture("apps-empty")
        machine.set_passcode()
        machine.latchkey("set", "--protect", "none", "login", "--service", "bank.example",
                         input="topsecret\n", app="bank")
        machine.latchkey(
            "set", "card", "--service", "bank.example", "--protect", "passcode", "--device-only", input="topsecret\n",
            app="bank")
        machine.latchkey("set", "<b>anna</b> & co", "--service", "mail", "--protect", "presence", input="topsecret\n",
                         app="mail")
        machine.latchkey("key", "create", "laptop", app="mail")
        window.keys("F5")
        tree = window.sees(lambda t: t.says("login (bank.example)") and t.says("<b>anna</b> & co"))
        check(tree.says("needs the passcode. Never leaves this computer"), "\n".join(tree.lines()))
        check(tree.says("its app gets it without asking you, while the keychain is unlocked"), "the rule of an unprotected item is shown")
        check(tree.says("needs your finger, your face or the passcode"), "the rule presence is shown")
        check(tree.says("Private key of a pair") and tree.says("Public key of a pair"), "the halves of a key pair are told apart")
        check(tree.says("2 items"), "items are counted by app")
        check(not tree.holds("topsecret"), "no secret is in the window")
        everything_has_a_name(tree)
        window.picture("apps")
        window.keys("ctrl+f")
        window.sees(lambda t: any(n.focused and n.name == "Search Items" for n in t.all()))
        window.type("card")
        tree = window.sees(lambda t: t.says("card (bank.example)") and not t.says("login"))
        window.picture("apps-search")
        window.type("xyz")
        window.sees("No item matches.")


def test_apps_show_what_an_app_says_about_its_items():
    with Machine(prompts=False) as machine:
        window = machine.open("apps")
        window.sees("No app has stored anything yet.")
        # What a program stores is shown without any input.
        machine.add_item("notes", "Key of all notes", "key", "key of the app", "Without it no note can be read.")
        machine.add_item("notes", "Note of today", "note", "encrypted note", "")
        tree = window.sees(lambda t: t.says("Key of all notes") and t.says("Note of today"))
        check(tree.says("“encrypted note”: its app says that it is encrypted") and not tree.says("Password"), "\n".join(tree.lines()))
        window.picture("apps-kinds")
        window.press_row("Key of all notes")
        window.sees("Kind: “key of the app”, as its app says", title="Key of all notes")
        window.answer("Key of all notes", "Delete…")
        question = "Delete This Item?"
        tree = window.sees("notes says about it: “Without it no note can be read.”", title=question)
        window.picture("item-delete-comment", title=question)
        window.answer(question, "Cancel")


def test_an_item_is_deleted_after_a_word_was_typed():
    with Machine() as machine:
        machine.set_passcode()
        machine.latchkey("set", "login", "--service", "bank.example", "--protect", "presence", input="topsecret\n",
                         app="bank")
        machine.latchkey("set", "--protect", "none", "token", input="topsecret\n", app="mail")
        window = machine.open("apps")
        window.sees("login (bank.example)")
        window.press_row("login (bank.example)")
        tree = window.sees("Access: needs your finger", title="login (bank.example)")
        check(tree.says("App: bank") and tree.says("Kind: Password"), "\n".join(tree.lines()))
        everything_has_a_name(tree)
        window.picture("item", title="login (bank.example)")
        window.answer("login (bank.example)", "Delete…")
        question = "Delete This Item?"
        tree = window.sees("“login (bank.example)” will be deleted, and bank can no longer use it. Only a backup brings it back.", title=question)
        everything_has_a_name(tree)

        def delete(tree):
            return next(n for n in tree.all() if n.role == "button" and "Delete" in n.name)

        check(not delete(tree).sensitive, "nothing is deleted before the word was typed")
        window.type("delete", title=question)
        tree = window.sees(lambda t: delete(t).sensitive, title=question)
        window.picture("item-delete", title=question)
        delete(tree).press()
        window.sees(lambda t: t.says("“login (bank.example)” was deleted.") and not t.named("login (bank.example)"))
        check('"items":1' in machine.latchkey("status", "--json"), "the other item is kept")
        window.open("Activity")
        window.sees("Latchkey Settings deleted “login (bank.example)”")


ANSWERS = "Answers to Programs"


def test_answers_to_programs_are_listed_and_withdrawn():
    with Machine() as machine, Keyring(machine) as keyring:
        mail, token = keyring.store("Mail password"), keyring.store("GitHub token")
        window = machine.open("apps")
        check(not window.sees("Mail password").says(ANSWERS), "nothing is listed without an answer")
        program, shell = keyring.start("/usr/bin/sleep", "1000"), keyring.start("/bin/bash", "-c", "read line")
        keyring.answer(program, mail, "Always allow")
        keyring.answer(program, token, "Never allow")
        keyring.answer(shell, token, "Always allow")
        check(keyring.reads(program, mail), "it reads the item without a prompt")
        window.keys("F5")
        tree = window.sees(lambda t: t.says(ANSWERS) and t.says("2 answers") and t.says("/usr/bin/sleep"))
        check(any(n.name.startswith("bash ← ") for n in tree.all()), "a shell is named with what started it")
        check(not tree.says("May always read it"), "the items are folded")
        check(not tree.holds("topsecret"), "no secret is in the window")
        everything_has_a_name(tree)
        window.picture("apps-answers-folded")
        window.press_by_keyboard("Show: sleep")
        tree = window.sees(lambda t: t.says("May always read it") and t.says("Never reads it"))
        check(tree.named("Hide: sleep", "button").expanded, "the button says that they are shown")
        check(tree.named("Withdraw: GitHub token", "button"), "each answer can be withdrawn")
        everything_has_a_name(tree)
        window.picture("apps-answers")
        window.press_by_keyboard("Withdraw: Mail password")
        tree = window.sees(
            lambda t: t.says("sleep asks again before it reads “Mail password”.") and not t.says("May always read it"))
        check(tree.says("1 answer") and tree.says("Never reads it"), "the other answer is kept, and shown")
        check(not keyring.reads(program, mail), "the program does not read it without a prompt any more")
        window.press_button("Withdraw: GitHub token")
        window.sees(lambda t: not t.named("Hide: sleep", "button"))
        machine.latchkey("secrets", "answers", "--forget", program_of(machine.latchkey("secrets", "answers", "--json")))
        window.keys("F5")
        window.sees(lambda t: t.says("Mail password") and not t.says(ANSWERS))


def program_of(answers):
    """The program of the only answer."""
    answer, = json.loads(answers)
    check(answer["label"] == "GitHub token" and answer["answer"] == "always", f"the answer: {answer}")
    return answer["program"]


def test_the_keychain_is_locked_and_unlocked():
    with Machine() as machine:
        machine.set_passcode()
        machine.latchkey("set", "--protect", "none", "login", input="5000\n", app="bank")
        window = machine.open("apps")
        window.sees("login")
        window.keys("ctrl+l")
        tree = window.sees(lambda t: (n := t.named("Unlock", "button")) and n.sensitive)
        check(not tree.named("Lock Now"), "it cannot be locked twice")
        check('"keychainLocked":true' in machine.latchkey("status", "--json"), "the daemon is locked")
        check(tree.says("The keychain is locked. Apps get nothing from it"), "a banner says what that means")
        everything_has_a_name(tree)
        window.picture("locked")
        window.open("Passcode")
        window.picture("locked-passcode")
        window.keys("ctrl+u")
        machine.prompt.asks("unlock this keychain")
        for tries, passcode in enumerate(("1111", "2222", "3333"), 1):
            machine.prompt.enter(passcode)
            if tries < 3:
                machine.prompt.sees("The passcode is wrong.")
        window.sees("That was not right. The keychain stays locked.")
        window.open("Apps")
        # No word is typed before the keychain is unlocked. The prompt lasts longer than the delay of its passcode.
        window.press_row("login")
        window.answer("login", "Delete…")
        machine.prompt.sees("Type your passcode")
        machine.prompt.enter("135790")
        window.answer("Delete This Item?", "Cancel")
        tree = window.sees(lambda t: t.named("Lock Now", "button"))
        check(not tree.says("Unlock it first"), "one message")
        check('"keychainLocked":false' in machine.latchkey("status", "--json"), "the daemon is unlocked")


def test_a_sensor_that_is_locked_is_used_again_after_the_passcode():
    with Machine(tier="simulated") as machine:
        machine.latchkey("sim", "passcode", "set", input="1234\n")
        machine.latchkey("sim", "sensor", "touch")
        machine.latchkey("sim", "enroll")
        # A prompt takes three tries, and five in a row lock the sensor.
        for tries in 3, 2:
            asking = subprocess.Popen(
                [PROGRAMS + "/latchkey-test-client", "evaluate", "--reason", "open the album"], env=machine.environment,
                stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True)
            machine.prompt.asks("open the album")
            for _ in range(tries):
                machine.latchkey("sim", "touch", "--other")
            # The prompt ends with its program, if it has not ended yet.
            asking.terminate()
            asking.wait(20)
            machine.prompt.is_gone()
        window = machine.open()
        tree = window.sees("The sensor is ignored after too many tries.")
        everything_has_a_name(tree)
        window.picture("passcode-sensor-locked")
        window.keys("alt+e")
        machine.prompt.enter("1234")
        window.sees(lambda t: t.says("The passcode is right.") and t.says("Check that you remember the passcode"))
        window.open("Activity")
        window.sees("A finger that was not recognised, asked by latchkey-test-client")


def test_face_permissions_are_withdrawn():
    with Machine(tier="simulated") as machine:
        window = machine.open("faces")
        window.sees(lambda t: t.says("No App Has Asked") and t.says("Simulated keychain: protects nothing"))
        window.picture("faces-empty")
        machine.latchkey("sim", "passcode", "set", input="1234\n")
        machine.latchkey("sim", "sensor", "face")
        machine.latchkey("sim", "enroll")
        asking = subprocess.Popen(
            [PROGRAMS + "/latchkey-test-client", "evaluate", "--reason", "open the album", "--face", "finding pictures"],
            env=dict(machine.environment, LATCHKEY_APP_ID="Album"), stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            start_new_session=True)
        machine.prompt.press_button("Allow")
        machine.prompt.sees("Look at the sensor.")
        machine.prompt.keys("Escape")
        asking.wait(20)
        window.keys("F5")
        tree = window.sees("May use your face")
        everything_has_a_name(tree)
        window.picture("faces")
        def switch(tree):
            return next(n for n in tree.all() if n.name == "Album may use your face" or n.role in ("switch", "toggle button"))

        switch(tree).press()
        tree = window.sees("May not use your face")
        check('"faceID":false' in machine.latchkey("apps", "--json"), "the daemon refuses the app")
        window.picture("faces-refused")
        switch(tree).press()
        window.sees("No App Has Asked")
        check("[]" in machine.latchkey("apps", "--json"), "the daemon forgot the answer")


def test_a_backup_is_written_and_restored():
    with Machine() as machine, Machine() as other:
        machine.set_passcode()
        machine.latchkey("set", "--protect", "none", "login", input="topsecret\n", app="bank")
        machine.latchkey("set", "--protect", "none", "token", input="topsecret\n", app="mail")
        machine.latchkey("set", "--protect", "none", "card", "--device-only", input="topsecret\n", app="bank")
        path = machine.folder + "/my backup"
        window = machine.open("backup")
        tree = window.sees("Create a backup")
        everything_has_a_name(tree)
        window.picture("backup")
        window.keys("alt+c")
        choose_file(window, "Create a backup", path)
        window.busy_with("write the recovery code down")
        machine.prompt.enter("135790")
        code, tree = shown_code(machine)
        check(not window.now().holds(code), "the settings window does not show the code")
        machine.prompt.picture("prompt-recovery-code")
        check((found := scanned(machine)) == code, f"the QR code is {found!r}, not {code!r}")
        next(n for n in tree.all() if n.role == "button" and n.name.startswith("I ")).press()
        machine.prompt.sees("Type the last group of the recovery code")
        machine.prompt.enter(code[-6:].lower())
        # A screen reader says the first line of the list, which no toast repeats.
        tree = window.sees(lambda t: (n := t.named("The backup contains 2 items.", "list item")) and n.focused)
        check(not tree.named("Dismiss"), "there is no toast")
        check(tree.named("1 item of bank is not in the backup.", "list item"), "\n".join(tree.lines()))
        check(tree.says("“card”: it never leaves this computer"), "it says why")
        check(tree.says(f"It was saved as {path}"), "it says where")
        everything_has_a_name(tree)
        window.picture("backup-written")
        # It is listed until another page is open.
        window.open("Passcode")
        window.open("Backup")
        window.sees(lambda t: t.says("Create a backup") and not t.says("It was saved as"))
        with open(path, "rb") as file:
            check(b"topsecret" not in file.read(), "the backup is encrypted")

        restoring = other.open("backup")
        tree = restoring.sees("Set a passcode first")
        check(not tree.named("Restore…"), "nothing can be restored without a passcode")
        restoring.picture("backup-no-passcode")
        # The button sets one, and leads to no other page.
        restoring.press_button("Set a Passcode")
        other.prompt.enter("135790", "135790")
        restoring.sees(lambda t: t.named("Restore…", "button"))
        restoring.keys("alt+r")
        choose_file(restoring, "Restore a backup", path)
        restoring.busy_with("first your passcode, then the recovery code")
        other.prompt.enter(code)
        other.prompt.sees("This is the recovery code. Type your passcode first.")
        other.prompt.picture("prompt-code-first")
        other.prompt.enter("135790")
        other.prompt.sees("Type the recovery code")
        # A typing error in the last character is corrected there.
        other.prompt.enter(code[:-1] + ("1" if code[-1] == "0" else "0"))
        other.prompt.sees("compare its 26 characters")
        other.prompt.sees(lambda t: any(n.role == "password text" and n.focused and len(n.text) == 30 for n in t.all()))
        other.prompt.picture("prompt-code-mistyped")
        other.prompt.keys("BackSpace")
        other.prompt.type(code[-1])
        other.prompt.keys("Return")
        tree = restoring.sees(lambda t: t.named("2 items were restored.", "list item"))
        everything_has_a_name(tree)
        restoring.picture("backup-restored")
        check(other.latchkey("get", "login", app="bank").strip() == "topsecret", "the item is there")
        restoring.open("Backup")
        restoring.keys("alt+r")
        choose_file(restoring, "Restore a backup", machine.folder + "/store/latchkeyd.conf")
        restoring.sees(lambda t: any(n.role == "alert" and n.name for n in t.all()))
        restoring.picture("backup-no-backup")


def shown_code(machine):
    """The recovery code at the prompt, which is a text only on request, and the prompt."""
    tree = machine.prompt.sees(lambda t: t.named("QR code of the recovery code"))
    check(not any(re.fullmatch("[0-9A-Z-]{20,}", n.name) for n in tree.all()), "the code is drawn")
    tree.named("Show for Screen Readers", "button").press()
    tree = machine.prompt.sees(lambda t: any(re.fullmatch("[0-9A-Z-]{20,}", n.name) for n in t.all()))
    return next(n.name for n in tree.all() if n.role == "label" and re.fullmatch("[0-9A-Z-]{20,}", n.name)), tree


def test_a_backup_shows_how_many_items_are_written():
    with Machine() as machine:
        machine.set_passcode()
        # A part of a backup has room for four of these items.
        for number in range(100):
            machine.latchkey("set", "--protect", "none", f"item{number}", input="x" * 60_000 + "\n", app="bank")
        folder = machine.subfolder("backups")
        window = machine.open("backup")
        window.sees("Create a backup")
        window.keys("alt+c")
        choose_file(window, "Create a backup", folder + "/my backup")
        machine.prompt.enter("135790")
        code, tree = shown_code(machine)
        daemon = machine.daemon()
        next(n for n in tree.all() if n.role == "button" and n.name.startswith("I ")).press()
        machine.prompt.sees("Type the last group of the recovery code")
        machine.prompt.enter(code[-6:])

        def has_begun():
            return any(entry.stat().st_size for entry in os.scandir(folder))

        # The daemon is stopped between two parts, so that the window is seen while it waits for the next one.
        until(has_begun, lambda: "no part of the backup was written", every=0)
        os.kill(daemon, signal.SIGSTOP)
        try:
            window.sees(lambda t: any(
                n.role == "alert" and re.fullmatch("[0-9]+ items? written…", n.name) for n in t.all()))
            window.picture("backup-writing")
        finally:
            os.kill(daemon, signal.SIGCONT)
        window.sees("The backup contains 100 items.")


def choose_file(window, title, path):
    """Types the path in the file dialog of GTK, whose lists are too long to be read over the accessibility bus."""
    window.keys("ctrl+a", title=title)
    window.type(path, title=title)
    window.keys("Return", title=title)
    until(lambda: not window.shows(title), lambda: "the dialog is still open")


def scanned(machine):
    """What a camera reads from the screen."""
    picture = machine.folder + "/screen.png"

    def read():
        subprocess.run(["import", "-window", "root", picture], check=True)
        found = subprocess.run(["zbarimg", "--quiet", "--raw", picture], capture_output=True, text=True)
        return found.stdout.strip()

    return until(read, lambda: "the screen shows no QR code")


def test_health_lists_what_works_and_what_the_keychain_is():
    with Machine() as machine:
        window = machine.open("health")
        tree = window.sees(lambda t: t.says("Needs Attention") and t.says("Protection"))
        check(tree.says("Latchkey runs as a program of yours"), "the protection is named")
        check(not tree.says("LATCHKEY") and not tree.says("Program of the service") and not tree.says(machine.store),
              "what works is folded, and words of developers are among the details")
        check(tree.says("Not needed for everyday use.") and not tree.holds("process "), "and what is not for everybody")
        check(not tree.named("Details: Passcode"), "nothing is said twice")
        everything_has_a_name(tree)
        window.picture("health")
        works = next(n.name for n in tree.all() if n.role == "button" and n.name.startswith("Show: ") and "work" in n.name)
        window.press_button(works)
        tree = window.sees("Memory")
        check(not tree.says("Program of the service"), "what only says something to developers is in a group of its own")
        window.picture("health-works")
        window.press_button(works.replace("Show", "Hide"))
        window.press_button("Show: Technical Details")
        window.sees("Program of the service")
        window.picture("health-technical")
        window.press_button("Hide: Technical Details")
        window.sees(lambda t: not t.says("Program of the service"))
        window.press_button("Open Passcode: Passcode")
        window.sees("No Passcode Is Set")


def test_without_the_program_fingerprints_are_explained():
    with Machine(prompts=False) as machine:
        window = machine.open_beside()
        tree = window.sees("Fingerprints Cannot Be Used")
        check(tree.says("is not installed"), "it explains")
        window.picture("fingerprints-not-installed")


def test_without_a_reader_it_says_so():
    with Machine(prompts=False) as machine, Fprintd(machine.subfolder("bus"), has_reader=False) as fprintd:
        window = machine.open_with_fingerprints(fprintd)
        tree = window.sees("No Fingerprint Sensor")
        everything_has_a_name(tree)
        window.picture("fingerprints-no-reader")


def test_a_finger_is_enrolled_in_stages_and_deleted():
    with Machine(prompts=False) as machine, Fprintd(machine.subfolder("bus")) as fprintd:
        window = machine.open_with_fingerprints(fprintd)
        tree = window.sees("No finger is enrolled")
        everything_has_a_name(tree)
        check(tree.says("Sensor: Virtual device for debugging"), "the sensor is named")
        check(tree.says("Set a passcode first"), "a finger is of no use without a passcode")
        check(tree.named("Set a Passcode", "button"), "one can be set at once")
        height, other = (tree.named(name, "button").frame()[3] for name in ("Set a Passcode", "Enrol…"))
        check(height == other, f"its title is in one line: {height} and {other} pixels")
        window.picture("fingerprints-none")
        window.keys("alt+e")
        tree = window.busy_with("0 of 5 scans. Right index finger: swipe it over the sensor.")
        check(not tree.named("Enrol…", "button"), "the instruction is in place of the form")
        check(sum(n.role == "alert" for n in tree.all()) == 1, "it is said once:\n" + "\n".join(tree.lines()))
        check(tree.named("Cancel", "button").focused, "it can be cancelled at once")
        everything_has_a_name(tree)
        window.picture("fingerprints-begin")
        fprintd.scan("SCAN A")
        window.busy_with("1 of 5 scans. Lift your finger, and swipe again.")
        # On another page the bar below it shows the same.
        window.open("Passcode")
        window.busy_with("1 of 5 scans. Lift your finger, and swipe again.")
        window.open("Fingerprints")
        fprintd.scan("RETRY 0")
        window.busy_with("1 of 5 scans. The scan was not clear. Use the same finger, and swipe again.")
        fprintd.scan("RETRY 2")
        window.busy_with("1 of 5 scans. Centre your finger on the sensor, and try again.")
        window.picture("fingerprints-enrolling")
        # Cancelled: the reader is released and can be claimed again.
        window.press_button("Cancel")
        window.sees(lambda t: t.says("Cancelled. Nothing was changed.") and t.says("No finger is enrolled"))
        window.keys("alt+e")
        for number in range(5):
            fprintd.scan("SCAN A")
            if number < 4:
                window.busy_with(f"{number + 1} of 5 scans.")
        window.sees(lambda t: t.named("Delete Right index finger", "button"))
        # The daemon does not use a reader that a program simulates.
        tree = window.sees("Prompts Cannot Use the Sensor Now")
        everything_has_a_name(tree)
        window.picture("fingerprints")
        window.open("Health")
        tree = window.sees("Needs Attention")
        check(tree.says("The sensor cannot be used."), "\n".join(tree.lines()))
        window.picture("fingerprints-health")
        window.open("Fingerprints")
        window.sees(lambda t: t.named("Delete Right index finger", "button"))
        window.press_button("Delete Right index finger")
        window.sees("apps will ask for your passcode", title="Delete Right index finger?")
        window.picture("fingerprints-delete", title="Delete Right index finger?")
        window.answer("Delete Right index finger?", "Delete")
        window.sees(lambda t: t.says("No finger is enrolled") and t.says("Right index finger was deleted."))


def enrolled_finger(machine, fprintd):
    """The page about fingerprints, on which the right index finger was enrolled."""
    window = machine.open_with_fingerprints(fprintd)
    window.sees("No finger is enrolled")
    window.keys("alt+e")
    enroll(window, fprintd)
    return window


def enroll(window, fprintd, name="Right index finger"):
    for number in range(5):
        fprintd.scan("SCAN A")
        if number < 4:
            window.busy_with(f"{number + 1} of 5 scans.")
    window.sees(lambda t: t.named(f"Delete {name}", "button") and t.says(f"{name} is enrolled."))


def choose_last(window, name):
    """Chooses the last entry of a list of ten that a button of this name opens."""
    def focused(tree):
        # The row around the button has the same name.
        return any(n.focused and n.name == name and n.role != "list item" for n in tree.all())

    window.keys("F6")
    until(lambda: focused(window.now()) or window.keys("Tab"), lambda: f"no list {name}", every=0.1)
    window.keys("space", *["Down"] * 9, "Return")


def test_a_change_of_the_fingers_names_what_becomes_unreadable():
    with Machine(tier="simulated", prompts=False) as machine, Fprintd(machine.subfolder("bus")) as fprintd:
        machine.latchkey("sim", "passcode", "set", input="1234\n")
        machine.latchkey("sim", "sensor", "touch")
        machine.latchkey("sim", "enroll")
        machine.latchkey("set", "login", "--protect", "presence", input="5000\n", app="mail")
        window = machine.open_with_fingerprints(fprintd)
        tree = window.sees("No finger is enrolled")
        check(not tree.says("can no longer be read"), "no item is bound to the fingers")
        machine.latchkey("set", "card", "--protect", "current-set", input="4000\n", app="bank")
        window.keys("F5")
        tree = window.sees("1 item of bank is bound to the fingers enrolled now")
        everything_has_a_name(tree)
        window.picture("fingerprints-bound")


def test_an_enrolled_finger_is_replaced_only_after_a_question():
    with Machine(prompts=False) as machine, Fprintd(machine.subfolder("bus")) as fprintd:
        window = enrolled_finger(machine, fprintd)
        question = "Replace Right index finger?"

        def ask():
            choose_last(window, "Finger")
            window.keys("alt+e")
            return window.sees("The old print is deleted before the new one is scanned.", title=question)

        everything_has_a_name(ask())
        window.picture("fingerprints-replace", title=question)
        window.answer(question, "Cancel")
        window.sees(lambda t: t.named("Delete Right index finger", "button"))
        ask()
        window.answer(question, "Replace")
        window.busy_with("Right index finger: swipe it over the sensor.")
        enroll(window, fprintd)


def test_what_stops_an_enrolment_is_explained():
    with Machine(prompts=False) as machine, Fprintd(machine.subfolder("bus")) as fprintd:
        window = machine.open_with_fingerprints(fprintd)
        window.sees("No finger is enrolled")
        fprintd.claim()
        window.keys("alt+e")
        tree = window.sees("Another program uses the reader.")
        everything_has_a_name(tree)
        window.picture("fingerprints-in-use")
        fprintd.release()
        window.keys("alt+e")
        window.busy_with("Right index finger: swipe it over the sensor.")
        fprintd.scan("SCAN A")
        window.busy_with("1 of 5 scans.")
        fprintd.scan("UNPLUG")
        window.sees(lambda t: t.says("The sensor was unplugged") and t.says("No Fingerprint Sensor"))
        window.picture("fingerprints-unplugged")


def test_an_enrolment_that_polkit_refuses_is_explained():
    enrolment = "net.reactivated.fprint.device.enroll"
    with Machine(prompts=False) as machine, Fprintd(machine.subfolder("bus"), refused=enrolment) as fprintd:
        window = machine.open_with_fingerprints(fprintd)
        window.sees("No finger is enrolled")
        window.keys("alt+e")
        tree = window.sees("This computer does not let you change fingerprints.")
        check(not tree.says("polkit"), "words of developers are among the details only")
        everything_has_a_name(tree)
        window.picture("fingerprints-refused")
        window.press_button("Details")
        window.sees("polkit")


def test_a_narrow_window_shows_the_list_or_a_page():
    with Machine(prompts=False) as machine:
        window = machine.open()
        window.sees("No Passcode Is Set")
        window.resize(360, 600)
        window.picture("narrow")
        # The page stays open, with a button that leads back.
        tree = window.sees(lambda t: t.named("Back to the List", "button"))
        check(tree.says("No Passcode Is Set"), "the page is shown")
        window.keys("alt+Left")
        window.sees(lambda t: not t.named("Back to the List") and any(n.focused and n.name == "Passcode" for n in t.all()))
        window.picture("narrow-list")
        window.keys("Down", "Down", "Return")
        window.sees("No app has used your keychain yet.")


def fits(window, name, text, condition):
    """Fails for what is outside a window as wide as a telephone, or has so little room in it that it cannot be read."""
    faults = []

    def is_measured(tree):
        nonlocal faults
        _, whole = tree.across()
        faults = [f"the window is {whole} wide"] if whole > 360 else []
        for node in tree.all():
            left, width = node.across()
            if width and left + width > 360:
                faults.append(f"{node.name!r} ends at {left + width}")
            # Less than two thirds of a short word, in points.
            if node.role == "label" and 0 < width < min(len(node.text), 8) * 5 * text // 100:
                faults.append(f"{node.name!r} is {width} wide")
        return whole > 0 and (tree.says(condition) if isinstance(condition, str) else condition(tree))

    window.sees(is_measured)
    window.picture(f"de-narrow-{text}-{name}")
    check(not faults, f"{name}: " + "\n".join(faults))


@pytest.mark.parametrize("text", [100, 150])
def test_a_german_window_fits_the_width_of_a_telephone(text):
    with (text_of(text), Machine() as machine, Keyring(machine) as keyring,
          Fprintd(machine.subfolder("bus")) as fprintd):
        machine.latchkey("status")
        machine.latchkey("set", "--protect", "none", "card", "--device-only", input="5000\n", app="bank")
        keyring.answer(keyring.start("/usr/bin/sleep", "1000"), keyring.store("GitHub token"), "Always allow")
        locale = machine.subfolder("locale")
        subprocess.run(["scripts/words", "build", locale], check=True, stdout=subprocess.DEVNULL)
        machine.environment |= {"LATCHKEY_LOCALE_DIR": locale, "LANG": "de.UTF-8", "LC_ALL": "", "LANGUAGE": ""}
        window = machine.open_with_fingerprints(fprintd)
        window.title = "Latchkey-Einstellungen"
        window.sees("Finger registrieren")
        window.resize(360, 640)
        window.sees(lambda t: t.named("Zurück zur Liste", "button"))
        # What keeps fingers from being used, and a backup from being made.
        fits(window, "fingerprints-no-passcode", text, "Gerätecode festlegen")
        window.keys("alt+6")
        fits(window, "backup-no-passcode", text, "Gerätecode festlegen")
        machine.set_passcode()
        window.keys("F5")
        window.sees("Ein Backup erstellen")
        # The focus was on another page, at its end.
        window.keys("alt+7")
        window.sees("Schutz")
        window.keys("Tab", "Tab", "alt+1")
        window.sees("Ein Gerätecode ist festgelegt")
        for _ in range(3):
            window.keys("F6")
            window.sees(lambda t: any(n.focused for n in t.all()))
        for number, page in enumerate(PAGES):
            window.keys(f"alt+{number + 1}")
            if page == "Apps":
                window.press_button("Anzeigen: sleep")
            shown = {"Apps": "Widerrufen", "Fingerprints": "Finger registrieren", "Backup": "Ein Backup erstellen"}
            fits(window, page.lower().replace(" ", "-"), text, shown.get(page, lambda t: True))
        bars(window, machine, text)


def bars(window, machine, text):
    """The bar of an operation, the message that it failed, and the one that the keychain is locked."""
    window.keys("alt+1")
    window.keys("alt+e")
    machine.prompt.sees("Type your passcode")
    fits(window, "operation", text, lambda t: t.named("Abbrechen", "button"))
    window.press_button("Abbrechen")
    machine.prompt.is_gone()
    machine.prompt.end()
    window.keys("alt+e")
    fits(window, "message", text, lambda t: t.named("Starten", "button"))
    machine.latchkey("lock")
    window.keys("F5")
    fits(window, "locked", text, lambda t: t.named("Entsperren", "button"))


def test_the_list_of_pages_is_used_by_keyboard():
    with Machine(prompts=False) as machine:
        window = machine.open()
        window.sees("No Passcode Is Set")
        # Leads to the list if the display is narrow.
        window.keys("alt+Left")
        window.sees(lambda t: any(n.focused and n.name == "Passcode" for n in t.all()))
        if window.now().says("No Passcode Is Set"):
            window.keys("F6")
            window.sees(lambda t: t.named("No Passcode Is Set", "list item").focused)
            window.keys("F6")
        window.keys("Down", "Down", "Down", "Return")
        window.sees("No app has stored anything yet.")
        window.keys("ctrl+q")
        check(window.has_ended() == 0, "the window is closed")


PAGES = ["Passcode", "Fingerprints", "Activity", "Apps", "Face Permissions", "Backup", "Health"]


def test_the_window_speaks_the_language_of_the_session():
    """German, and two catalogues of tests: texts that are half as long again, and a script from right to left."""
    with Machine() as machine:
        machine.latchkey("set", "--protect", "none", "login", input="5000\n", app="bank")
        locale = machine.subfolder("locale")
        for step in "build", "pseudo":
            subprocess.run(["scripts/words", step, locale], check=True, stdout=subprocess.DEVNULL)
        for language in "de", "qps", "he":
            with open(f"{locale}/{language}/LC_MESSAGES/latchkey.mo", "rb") as file:
                words = gettext.GNUTranslations(file).gettext
            window = machine.open(LATCHKEY_LOCALE_DIR=locale, LANG=f"{language}.UTF-8", LC_ALL="", LANGUAGE="")
            window.title = words("Latchkey Settings")
            for number, page in enumerate(PAGES):
                window.keys(f"alt+{number + 1}")
                tree = window.sees(lambda t: any(
                    n.name == words(page) and (n.role == "list item" and n.selected or t.named(words("Back to the List")))
                    for n in t.all()))
                everything_has_a_name(tree)
                window.picture(f"{language}-{page.lower().replace(' ', '-')}")
            window.keys("alt+1")
            window.sees(words("No Passcode Is Set"))
            window.keys("alt+4")
            # The names that apps chose are the same in every language.
            window.sees(lambda t: t.holds("bank") and t.holds("login"))
            window.end()


def test_wrong_arguments_and_a_missing_display_are_reported():
    with Machine(prompts=False) as machine:
        window = machine.open("nonsense")
        check(window.has_ended() == 64 and "unknown page or option nonsense" in window.said(), window.said())
        window = machine.open(DISPLAY="", WAYLAND_DISPLAY="")
        check(window.has_ended() == 69 and "there is no display" in window.said(), window.said())
        window = machine.open("--help")
        check(window.has_ended() == 0 and "usage: latchkey-settings" in window.said(), window.said())
