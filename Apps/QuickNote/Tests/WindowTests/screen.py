# SPDX-License-Identifier: Apache-2.0
"""Starts quicknote with a simulated keychain, and drives its windows by keyboard and accessibility bus."""

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import termios
import threading
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

PROGRAMS = os.environ["LATCHKEY_PROGRAMS"]
QUICKNOTE = os.environ["QUICKNOTE"]
PICTURES = os.environ.get("LATCHKEY_SCREENSHOTS", "")
PATIENCE = 20


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


class Machine:
    """A store with a simulated daemon. As a context manager, it ends the processes that it started."""

    def __init__(self, sensor="touch", tier="simulated"):
        self.folder = tempfile.mkdtemp(prefix="quicknote.")
        self.windows = []
        with open(self.folder + "/latchkeyd.conf", "w") as file:
            file.write(f"tier = {tier}\n")
        self.environment = dict(
            os.environ, LATCHKEY_HOME=self.folder, HOME=self.folder,
            LATCHKEY_DAEMON=PROGRAMS + "/latchkeyd", LATCHKEY_APP_ID="quicknote")
        if tier == "simulated":
            self.sim("sensor", sensor)
            self.sim("enrol")
            self.sim("passcode", "set", input="1234\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for window in self.windows:
            window.end()
        daemon = self.daemon()
        if daemon:
            os.kill(daemon, signal.SIGTERM)
        shutil.rmtree(self.folder, ignore_errors=True)

    def daemon(self):
        """The daemon's process id, from its lock file."""
        try:
            with open(self.folder + "/daemon.lock") as file:
                lines = file.read().split()
            return int(lines[-1]) if lines else None
        except (OSError, ValueError):
            return None

    def serves(self):
        """Whether the daemon is running."""
        try:
            return (daemon := self.daemon()) is not None and os.kill(daemon, 0) is None
        except ProcessLookupError:
            return False

    def latchkey(self, *arguments, input=""):
        done = subprocess.run(
            [PROGRAMS + "/latchkey", *arguments], env=self.environment, input=input, text=True, capture_output=True)
        check(done.returncode == 0, f"latchkey {arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def sim(self, *arguments, input=""):
        return self.latchkey("sim", *arguments, input=input)

    def happens(self, words, times):
        """Waits until the daemon's transcript contains `words` at least `times` times."""
        until(
            lambda: self.sim("transcript").count(words) >= times,
            lambda: f"{words!r} is not {times} times in the transcript:\n{self.sim('transcript')}")

    def open(self, *arguments):
        window = Window(self, arguments)
        self.windows.append(window)
        return window


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
        self.role = accessible.get_role_name()
        self.name = accessible.get_name() or ""
        self.description = accessible.get_description() or ""
        self.text = ""
        interface = accessible.get_text_iface()
        if interface:
            self.text = interface.get_text(0, interface.get_character_count())
        self.children = []
        for index in range(accessible.get_child_count()):
            child = accessible.get_child_at_index(index)
            if child:
                self.children.append(Node(child))

    def across(self):
        """Its left edge within its window and its width, in pixels."""
        component = self.accessible.get_component_iface()
        extents = component.get_extents(Atspi.CoordType.WINDOW) if component else None
        return (extents.x, extents.width) if extents else (0, 0)

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
        marks = "".join(m for m, on in (("*", self.focused), ("-", not self.sensitive), ("=", self.selected)) if on)
        yield "  " * depth + f"{self.role} {self.name!r} {self.text!r} {self.description!r} {marks}"
        for child in self.children:
            yield from child.lines(depth + 1)


class Window:
    """A quicknote process and its window."""

    def __init__(self, machine, arguments):
        self.machine = machine
        self.log = open(machine.folder + f"/window.{len(machine.windows)}.log", "w+")
        # The system's prompt is shown on the terminal of the process; the test answers it through the panel.
        self.terminal, end = os.openpty()
        threading.Thread(target=self.drain, daemon=True).start()
        self.process = subprocess.Popen(
            [QUICKNOTE, *arguments], env=machine.environment, stdout=self.log, stderr=self.log, stdin=end,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(end)

    def drain(self):
        """Reads the terminal's output, so that a writer never blocks on a full buffer."""
        try:
            while os.read(self.terminal, 4096):
                pass
        except OSError:
            pass

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def said(self):
        self.log.flush()
        with open(self.log.name) as file:
            return file.read()

    # Accessibility

    def tree(self, title="QuickNote"):
        """The window with this title; None while there is none."""
        desktop = Atspi.get_desktop(0)
        desktop.clear_cache()
        for index in range(desktop.get_child_count()):
            try:
                program = desktop.get_child_at_index(index)
                if not program or program.get_process_id() != self.process.pid:
                    continue
                program.clear_cache()
                for place in range(program.get_child_count()):
                    window = program.get_child_at_index(place)
                    if window and window.get_name() == title:
                        return Node(window)
            except gi.repository.GLib.Error:
                # A widget was destroyed while it was read.
                continue
        return None

    def sees(self, condition, title="QuickNote"):
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
            check(self.process.poll() is None, f"quicknote ended: {self.said()}")

        def words():
            shown = "\n".join(tree.lines()) if tree else "no window"
            return f"not found: {condition}\n{shown}\n{self.said()}"

        return until(look, words)

    def press_button(self, name):
        """Presses the button with this name over the accessibility bus."""
        def button(tree):
            # GTK 4.8 repeats the label in the name of a button with a plain label.
            found = tree.named(name, "push button") or tree.named(f"{name} {name}", "push button")
            return found if found and found.sensitive else None

        button(self.sees(button)).press()

    # The keyboard and the window

    def resize(self, width, height, title="QuickNote"):
        found = subprocess.run(
            ["xdotool", "search", "--sync", "--onlyvisible", "--pid", str(self.process.pid), "--name", f"^{title}$"],
            capture_output=True, text=True, check=True)
        subprocess.run(["xdotool", "windowsize", found.stdout.split()[0], str(width), str(height)], check=True)

    def focus(self, title="QuickNote"):
        # There is no window manager that would give the window the focus.
        found = subprocess.run(
            ["xdotool", "search", "--sync", "--all", "--onlyvisible", "--pid", str(self.process.pid), "--name", f"^{title}$"],
            capture_output=True, text=True, check=True)
        subprocess.run(["xdotool", "windowfocus", "--sync", found.stdout.split()[0]], check=True)

    def keys(self, *names, title="QuickNote"):
        self.focus(title)
        for name in names:
            subprocess.run(["xdotool", "key", "--delay", "10", name], check=True)

    def type(self, text):
        self.focus()
        subprocess.run(["xdotool", "type", "--delay", "10", text], check=True)

    def enter(self, *passwords):
        for password in passwords:
            self.type(password)
            self.keys("Return")

    # Screenshots

    def picture(self, name, title="QuickNote"):
        if not PICTURES:
            return
        self.focus(title)
        time.sleep(0.4)  # Only screenshots wait for the end of an animation.
        subprocess.run(["import", "-window", "root", f"{PICTURES}/{name}.png"], check=True)
