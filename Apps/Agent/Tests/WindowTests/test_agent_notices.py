# SPDX-License-Identifier: Apache-2.0
"""Tests of the messages that the agent has the desktop show."""

import pathlib
import shutil

from accessible import until
from agent_screen import AGENT, Machine
from gi.repository import Gio, GLib

NAME, PLACE = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
INTERFACE = f"""<node><interface name="{NAME}"><method name="Notify">
    {"".join(f'<arg type="{kind}" direction="in"/>' for kind in ("s", "u", "s", "s", "s", "as", "a{sv}", "i"))}
    <arg type="u" direction="out"/></method>
    <method name="CloseNotification"><arg type="u" direction="in"/></method></interface></node>"""


class Desktop:
    """The part of a desktop that shows messages, on the session bus of the test."""

    def __enter__(self):
        # The arguments of each message, and the numbers of those that were taken away.
        self.shown, self.closed = [], []
        self.bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        self.object = self.bus.register_object(
            PLACE, Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], self.notify, None, None)
        self.name = Gio.bus_own_name_on_connection(self.bus, NAME, Gio.BusNameOwnerFlags.NONE, None, None)
        return self

    def __exit__(self, *_):
        Gio.bus_unown_name(self.name)
        self.bus.unregister_object(self.object)

    def notify(self, bus, sender, path, interface, method, parameters, invocation):
        if method == "CloseNotification":
            self.closed.append(parameters.unpack()[0])
            return invocation.return_value(None)
        self.shown.append(parameters.unpack())
        return invocation.return_value(GLib.Variant("(u)", (len(self.shown),)))

    @property
    def titles(self):
        while GLib.MainContext.default().iteration(False):
            pass
        return [message[3] for message in self.shown]

    def press_button(self, title):
        """Presses the only button of a message."""
        number = 1 + self.titles.index(title)
        button = self.shown[number - 1][5][0]
        self.bus.emit_signal(None, PLACE, NAME, "ActionInvoked", GLib.Variant("(us)", (number, button)))


def test_first_read_and_lockout_are_shown_by_the_desktop():
    with Desktop() as desktop, Machine("sim enroll") as machine:
        for name in "token", "pin":
            machine.latchkey("set", name, "--protect", "biometry", input="secret")

        def read(name):
            caller = machine.start("latchkey", "get", name)
            machine.prompt.reads("Touch the sensor.").press_button("Play enrolled finger")
            assert caller.said == "secret"
            machine.prompt.is_gone()

        # The agent may not have read the log before this, so that only the second item is certainly new.
        read("token")
        read("pin")
        first = "“latchkey” read an item for the first time"
        until(lambda: first in desktop.titles, lambda: f"shown: {desktop.titles}")
        message = next(each for each in desktop.shown if each[3] == first)
        assert message[0] == "Latchkey" and message[2] == "org.latchkey.Agent", message
        assert "Activity in Latchkey Settings" in message[4] and "token" not in str(message), message
        # It is not the first time any more.
        for name in "token", "pin":
            read(name)
        machine.lock_sensor()
        until(lambda: "Too many wrong tries" in desktop.titles, lambda: f"shown: {desktop.titles}")
        # The enrolment of this machine can be news, too.
        titles = [title for title in desktop.titles if title != "The enrolled fingers or faces changed"]
        assert titles.count(first) in (1, 2) and len(set(titles)) == 2, titles


def enter_passcode(prompt):
    prompt.reads("Type your passcode, then press Enter.")
    prompt.focus()
    prompt.type("1234")
    prompt.keys("Return")
    prompt.is_gone()


def test_a_locked_keychain_is_unlocked_from_the_message_about_a_program_that_it_refused():
    title = "“latchkey” could not read an item"
    with Desktop() as desktop, Machine() as machine:
        def titles():
            return [each for each in desktop.titles if each.endswith("could not read an item")]

        def told(*expected):
            until(lambda: titles() == list(expected), lambda: f"shown: {desktop.titles}, closed: {desktop.closed}")

        def read():
            return machine.start("latchkey", "get", "token", is_shown=False)

        machine.latchkey("set", "token", "--protect", "none", input="secret")
        machine.latchkey("lock")
        for _ in range(3):
            assert read().status != 0
        told(title)
        message = next(each for each in desktop.shown if each[3] == title)
        assert len(message[5]) == 2 and message[5][1] == "Unlock", message
        assert "The keychain is locked." in message[4] and "token" not in str(message), message
        desktop.press_button(title)
        enter_passcode(machine.prompt)
        number = 1 + desktop.titles.index(title)
        until(lambda: desktop.titles and desktop.closed == [number], lambda: f"closed: {desktop.closed}")
        assert read().said == "secret"
        told(title)
        # The next lock is a new one.
        machine.latchkey("lock")
        assert read().status != 0
        told(title, title)
        assert desktop.closed == [number], "it is still locked"


def test_a_button_that_cannot_ask_is_replaced_by_a_message_that_says_so(tmp_path):
    title, failed = "“latchkey” could not read an item", "The keychain was not unlocked"
    # Beside the programs that it starts, and what it needs of the build.
    agent = pathlib.Path(AGENT).with_name(f"latchkey-agent-{tmp_path.name}")
    shutil.copy2(AGENT, agent)
    try:
        with Desktop() as desktop, Machine(agent=str(agent)) as machine:
            machine.latchkey("set", "token", "--protect", "none", input="secret")
            machine.latchkey("lock")
            assert machine.start("latchkey", "get", "token", is_shown=False).status != 0
            until(lambda: title in desktop.titles, lambda: f"shown: {desktop.titles}")
            # As after an upgrade that fails; the path of the program stays the same.
            agent.chmod(0o600)
            desktop.press_button(title)
            until(lambda: failed in desktop.titles, lambda: f"shown: {desktop.titles}")
            number = 1 + desktop.titles.index(failed)
            until(lambda: desktop.titles and desktop.closed == [1 + desktop.titles.index(title)],
                  lambda: f"closed: {desktop.closed}")
            message = desktop.shown[number - 1]
            assert "could not be started" in message[4] and "log out and in again" in message[4], message
            assert message[5][1] == "Unlock", message
            # What it offers works when the program is there again.
            agent.chmod(0o755)
            desktop.press_button(failed)
            enter_passcode(machine.prompt)
            until(lambda: desktop.titles and number in desktop.closed, lambda: f"closed: {desktop.closed}")
    finally:
        agent.unlink()
