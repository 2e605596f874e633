# SPDX-License-Identifier: Apache-2.0
"""Drives the windows of a program by keyboard, and reads them over the accessibility bus."""

import contextlib
import os
import re
import signal
import subprocess
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

PICTURES = os.environ.get("LATCHKEY_SCREENSHOTS", "")
PATIENCE = 20
# The signals of an error of the program itself. Swift ends a program with SIGILL or SIGTRAP.
CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP)
# A window that is destroyed while it is read may never reply. By default the library waits for it until the program has
# run for 15 seconds, longer than a message is shown.
Atspi.set_timeout(2000, 0)
NAMED = ("button", "toggle button", "check box", "combo box", "entry", "password text", "text", "list", "list item")


class Failed(AssertionError):
    pass


def check(condition, words):
    if not condition:
        raise Failed(words)


def until(condition, words, every=0.03):
    """Polls `condition` until its result is true, and returns it; fails with the text of `words()` after a timeout.

    Polling is necessary: the accessibility bus, the transcript and the log report no event for which a test could
    wait.
    """
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() >= deadline:
            raise Failed(words())
        time.sleep(every)
    return found


class Node:
    """The state of a widget and its descendants, as assistive technology sees it."""

    def __init__(self, accessible):
        accessible.clear_cache()
        self.accessible = accessible
        states = accessible.get_state_set()
        self.shows = states.contains(Atspi.StateType.VISIBLE)
        self.focused = states.contains(Atspi.StateType.FOCUSED)
        self.sensitive = states.contains(Atspi.StateType.SENSITIVE)
        self.selected = states.contains(Atspi.StateType.SELECTED)
        self.pressed = states.contains(Atspi.StateType.PRESSED)
        # Of a button that shows and hides what is below it.
        self.expandable = states.contains(Atspi.StateType.EXPANDABLE)
        self.expanded = states.contains(Atspi.StateType.EXPANDED)
        # Later versions say "button".
        self.role = accessible.get_role_name().removeprefix("push ")
        self.name = accessible.get_name() or ""
        self.description = accessible.get_description() or ""
        self.text = ""
        interface = accessible.get_text_iface()
        if interface:
            # Through the interface, since later versions give the widget another function of this name.
            self.text = Atspi.Text.get_text(interface, 0, Atspi.Text.get_character_count(interface))
        self.children = []
        for index in range(accessible.get_child_count()):
            child = accessible.get_child_at_index(index)
            if child:
                self.children.append(Node(child))

    def frame(self):
        """Its left and its top edge within its window, its width and its height; None if it has no position."""
        component = self.accessible.get_component_iface()
        extents = component.get_extents(Atspi.CoordType.WINDOW) if component else None
        return (extents.x, extents.y, extents.width, extents.height) if extents else None

    def across(self):
        """Its left edge within its window and its width, in pixels."""
        frame = self.frame()
        return (frame[0], frame[2]) if frame else (0, 0)

    def press(self):
        """Performs its action, as assistive technology does."""
        check(self.accessible.get_action_iface().do_action(0), f"{self.name!r} cannot be pressed")

    def all(self, hidden=False):
        if self.shows or hidden:
            yield self
            for child in self.children:
                yield from child.all(hidden)

    def named(self, name, role=None):
        return next((n for n in self.all() if n.name == name and role in (None, n.role)), None)

    def says(self, words):
        return any(words in n.name or words in n.text for n in self.all())

    def holds(self, words):
        """Whether any widget contains the text, visible or not."""
        return any(words in n.name or words in n.text or words in n.description for n in self.all(hidden=True))

    def lines(self, depth=0):
        if not self.shows:
            return
        states = (("*", self.focused), ("-", not self.sensitive), ("=", self.selected), ("+", self.pressed),
                  (">", self.expandable), ("v", self.expanded))
        marks = "".join(mark for mark, is_on in states if is_on)
        yield "  " * depth + f"{self.role} {self.name!r} {self.text!r} {self.description!r} {marks}"
        for child in self.children:
            yield from child.lines(depth + 1)


@contextlib.contextmanager
def text_of(percent):
    """Programs that start within it have text of this size."""
    def write(size):
        # A line of this property ends with a line feed.
        subprocess.run(
            ["xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", f"Xft.dpi: {96 * size // 100}\n"],
            check=True)

    write(percent)
    try:
        yield
    finally:
        write(int(os.environ.get("LATCHKEY_TEXT") or 100))


def front(*titles):
    """The title of the window in front of the others, of those with these titles."""
    tree = subprocess.run(["xwininfo", "-root", "-tree"], capture_output=True, text=True, check=True, timeout=PATIENCE)
    return next((name for name in re.findall(r'0x[0-9a-f]+ "([^"]*)"', tree.stdout) if name in titles), None)


def to_front(title, *others):
    """Puts the window with this title before these others, as the click of a person does."""
    found = subprocess.run(
        ["xdotool", "search", "--sync", "--onlyvisible", "--name", f"^{re.escape(title)}$"], capture_output=True, text=True,
        check=True, timeout=PATIENCE)
    subprocess.run(["xdotool", "windowraise", found.stdout.split()[0]], check=True, timeout=PATIENCE)
    until(lambda: front(title, *others) == title, lambda: f"{title} is not in front")


def everything_has_a_name(tree):
    """Fails for a widget that assistive technology could not name."""
    for node in tree.all():
        if node.role in NAMED:
            check(node.name and not node.name.startswith("Gtk"), f"a {node.role} has no name:\n" + "\n".join(tree.lines()))


def end_all(programs):
    """Ends these programs, and fails if one of them crashed, before or now."""
    for program in programs:
        program.end()
    for program in programs:
        signal_number = -(program.process.returncode or 0)
        check(signal_number not in CRASHES, f"signal {signal_number} ended {program.title}: {program.said()}")


class Windows:
    """The windows of a process. A subclass sets `process`; `title`, the name of its main window; and `log`, the file to
    which the process writes its output."""

    process = None
    title = ""
    log = None
    # What `import` does to a screenshot before it writes it.
    crop = ()

    def said(self):
        """The output of the process, for the message of a failed test."""
        with open(self.log) as file:
            return file.read()

    def end(self):
        """Ends the process, at first as a desktop does."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    # Accessibility

    def windows(self):
        """The windows of the process, not yet read. Raises GLib.Error for one that is destroyed meanwhile, and if no program
        is this process but one cannot be read."""
        unread = None
        desktop = Atspi.get_desktop(0)
        desktop.clear_cache()
        for index in range(desktop.get_child_count()):
            try:
                program = desktop.get_child_at_index(index)
                if not program or program.get_process_id() != self.process.pid:
                    continue
            except gi.repository.GLib.Error as error:
                # Another program ended while it was read, or this one does not reply.
                unread = error
                continue
            program.clear_cache()
            windows = [program.get_child_at_index(place) for place in range(program.get_child_count())]
            return [window for window in windows if window]
        if unread:
            raise unread
        return []

    def found(self, title=None):
        """The windows with this title. Raises GLib.Error like `windows`."""
        return [window for window in self.windows() if window.get_name() == (title or self.title)]

    def tree(self, title=None):
        """The window with this title; None while there is none, or it cannot be read."""
        try:
            return next(map(Node, self.found(title)), None)
        except gi.repository.GLib.Error:
            # A widget was destroyed while it was read.
            return None

    def is_gone(self):
        """Waits until the main window is not shown any more. A window that cannot be read may be shown."""
        def gone():
            check(self.process.poll() is None, f"the program ended: {self.said()}")
            try:
                return not self.found()
            except gi.repository.GLib.Error:
                return False

        until(gone, lambda: "the window is still shown")

    def is_active(self, title=None):
        """Whether the window with this title has the focus of the keyboard, as far as the program has noticed."""
        try:
            window = next(iter(self.found(title)), None)
            if window:
                window.clear_cache()
            return bool(window) and window.get_state_set().contains(Atspi.StateType.ACTIVE)
        except gi.repository.GLib.Error:
            # The window was destroyed meanwhile.
            return False

    def sees(self, condition, title=None):
        """Waits until the window contains a text, or fulfils a function of its tree; returns the tree."""
        is_right = condition if callable(condition) else lambda tree: tree.says(condition)
        tree = None

        def look():
            nonlocal tree
            try:
                tree = self.tree(title)
                if tree and is_right(tree):
                    # Reading takes many calls, between which the window may change: only a tree that reads the same
                    # twice is one state of it.
                    before, tree = list(tree.lines()), self.tree(title)
                    if tree and list(tree.lines()) == before and is_right(tree):
                        return tree
            except gi.repository.GLib.Error:
                pass
            check(self.process.poll() is None, f"the program ended: {self.said()}")

        def words():
            shown = "\n".join(tree.lines()) if tree else "no window"
            return f"not found: {condition}\n{shown}\n{self.said()}"

        return until(look, words)

    def now(self, title=None):
        """The window as it is, as soon as it can be read."""
        return self.sees(lambda tree: True, title)

    def press_button(self, name):
        """Presses the button with this name over the accessibility bus."""
        def button(tree):
            # GTK 4.8 repeats the label in the name of a button with a plain label.
            found = tree.named(name, "button") or tree.named(f"{name} {name}", "button")
            return found if found and found.sensitive else None

        button(self.sees(button)).press()

    def answer(self, heading, button):
        """Presses a button of a question. Its mnemonic may be ignored: GTK does not say when a dialog has noticed its focus."""
        tree = self.sees(lambda t: any(button in n.name for n in t.all() if n.role == "button"), title=heading)
        next(n for n in tree.all() if n.role == "button" and button in n.name).press()

    # The keyboard and the window

    def search(self, title=None):
        """The arguments with which xdotool finds a visible window of the program. xdotool reads titles in the C locale only,
        so that a window whose title is not in ASCII has to be the only one."""
        title = title or self.title
        named = ["--name", f"^{re.escape(title)}$"] if title.isascii() else []
        return ["--all", "--onlyvisible", "--pid", str(self.process.pid), *named]

    def resize(self, width, height, title=None):
        found = subprocess.run(
            ["xdotool", "search", "--sync", *self.search(title)],
            capture_output=True, text=True, check=True, timeout=PATIENCE)
        subprocess.run(["xdotool", "windowsize", found.stdout.split()[0], str(width), str(height)], check=True)

    def shows(self, title):
        """Whether a window with this title is on the display."""
        return subprocess.run(
            ["xdotool", "search", *self.search(title)], capture_output=True, timeout=PATIENCE).returncode == 0

    def focus(self, title=None):
        # There is no window manager that would give the window the focus.
        found = subprocess.run(
            ["xdotool", "search", "--sync", *self.search(title)],
            capture_output=True, text=True, check=True, timeout=PATIENCE)
        subprocess.run(["xdotool", "windowfocus", "--sync", found.stdout.split()[0]], check=True, timeout=PATIENCE)

    def keys(self, *names, title=None):
        self.focus(title)
        for name in names:
            subprocess.run(["xdotool", "key", "--delay", "10", name], check=True)

    def type(self, text, title=None):
        self.focus(title)
        subprocess.run(["xdotool", "type", "--delay", "10", text], check=True)

    def enter(self, *passwords):
        for password in passwords:
            self.type(password)
            self.keys("Return")

    # Screenshots

    def picture(self, name, title=None):
        if not PICTURES:
            return
        self.screenshot(f"{PICTURES}/{name}.png", title=title)

    def readme_picture(self, file):
        """Writes a picture for the README: without a date, and with a palette, so that it is small."""
        self.screenshot(f"PNG8:{file}", "-strip", "+dither", "-colors", "64", "-define", "png:exclude-chunks=date,time")

    def screenshot(self, file, *options, title=None):
        """Writes what the display shows to a file. The options are those of `import`, a program of ImageMagick."""
        self.focus(title)
        time.sleep(0.4)  # Only screenshots wait for the end of an animation.
        subprocess.run(["import", "-window", "root", *self.crop, *options, file], check=True)
