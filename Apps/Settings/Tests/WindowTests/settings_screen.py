# SPDX-License-Identifier: Apache-2.0
"""Starts latchkey-settings and latchkey-agent with a store of their own, and drives the windows of both."""

import os
import shutil
import signal
import subprocess
import tempfile

from accessible import check, end_all, until
from attack_client import App
from processes import Process, start_when_ready

PROGRAMS = os.environ["LATCHKEY_PROGRAMS"]
SETTINGS = os.environ["LATCHKEY_SETTINGS"]
AGENT = os.environ["LATCHKEY_AGENT"]
FINGERPRINT = os.environ["LATCHKEY_FINGERPRINT"]
TITLE = "Latchkey Settings"
PROMPT = "Latchkey"
# More than a page has widgets that can have the focus. A limit of time would depend on the load of the machine.
STEPS = 60


class Settings(Process):
    """The settings window."""

    def open(self, page):
        """Opens a page by its mnemonic, Alt and its number."""
        pages = ["Passcode", "Fingerprints", "Activity", "Apps", "Face Permissions", "Backup", "Health"]
        self.keys(f"alt+{pages.index(page) + 1}")
        # A narrow window shows the page without the list, and the page's name in its header bar.
        return self.sees(lambda t: any(
            n.name == page and (n.role == "list item" and n.selected or t.named("Back to the List")) for n in t.all()))

    def focus(self, title=None):
        super().focus(title)
        # GTK ignores the key of a mnemonic until it has noticed the focus of the window. Its dialogs do not say when.
        if title is None:
            until(self.is_active, lambda: f"the window does not notice its focus\n{self.said()}")

    def press_row(self, name):
        """Presses the row of the page with this name by keyboard: Tab leads to a list, and Down through its rows."""
        self.sees(lambda t: t.named(name, "list item"))
        before = None

        def focused():
            nonlocal before
            tree = self.sees(lambda t: any(n.focused for n in t.all()))
            row = tree.named(name, "list item")
            if row and row.focused:
                return True
            now = [n.name for n in tree.all() if n.focused and n.role == "list item"]
            # At the end of a list the focus stays.
            self.keys("Down" if now and now != before else "Tab")
            before = now
            return False

        self.keys("F6")
        check(any(focused() for _ in range(STEPS)), f"no row {name} gets the focus")
        self.keys("Return")

    def press_by_keyboard(self, name):
        """Presses the button of the page with this name: Tab leads to it."""
        def focused():
            tree = self.sees(lambda t: any(n.focused for n in t.all()))
            if any(n.focused and n.name == name and n.role == "button" for n in tree.all()):
                return True
            self.keys("Tab")
            return False

        self.sees(lambda t: t.named(name, "button"))
        self.keys("F6")
        check(any(focused() for _ in range(STEPS)), f"no button {name} gets the focus")
        self.keys("Return")

    def busy_with(self, words):
        return self.sees(lambda t: any(n.role == "alert" and words in n.name for n in t.all()))


class Prompt(Process):
    """The agent, whose window is there while the daemon asks."""

    def asks(self, words):
        return self.sees(words)

    def enter(self, *texts):
        for text in texts:
            # Another window may have the focus of the display.
            self.sees(lambda t: any(n.role == "password text" for n in t.all()))
            self.focus()
            # It takes nothing for a moment after it was brought to the front, which its buttons show.
            self.sees(lambda t: any(n.role == "password text" and n.focused and not n.text for n in t.all()) and all(
                n.sensitive for n in t.all() if n.role == "button"))
            self.type(text)
            self.keys("Return")


class Found(Prompt):
    """An agent that is no child of this process."""

    class Other:
        returncode = None

        def __init__(self, pid):
            self.pid = pid

        def poll(self):
            return None if os.path.exists(f"/proc/{self.pid}") else 0

    def __init__(self, title, pid):
        self.title = title
        self.process = self.Other(pid)

    def said(self):
        return ""

    def end(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGTERM)


class Machine:
    """A store, with or without a program for prompts. As a context manager, it ends what it started."""

    def __init__(self, tier="user", prompts=True, programs=PROGRAMS, environment=None):
        self.folder = tempfile.mkdtemp(prefix="latchkey-settings.")
        self.store = self.folder + "/store"
        os.mkdir(self.store, 0o700)
        self.started = []
        with open(self.store + "/latchkeyd.conf", "w") as file:
            file.write(f"tier = {tier}\n")
        self.environment = dict(
            os.environ, LATCHKEY_HOME=self.store, HOME=self.folder, LATCHKEY_DAEMON=programs + "/latchkeyd",
            **(environment or {}))
        self.environment.pop("XDG_CONFIG_HOME", None)
        self.prompt = self.start_prompts() if prompts else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            end_all(self.started)
        finally:
            self.stop_daemon()
            shutil.rmtree(self.folder, ignore_errors=True)

    def daemon(self):
        """The daemon's process id, from its lock file; None if none runs."""
        try:
            with open(self.store + "/daemon.lock") as file:
                lines = file.read().split()
            daemon = int(lines[-1])
            os.kill(daemon, 0)
            return daemon
        except (OSError, ValueError, IndexError):
            return None

    def stop_daemon(self):
        daemon = self.daemon()
        if daemon:
            os.kill(daemon, signal.SIGTERM)
            # The daemon is no child of this process.
            until(lambda: self.daemon() is None, lambda: "the daemon still runs")

    def subfolder(self, name):
        os.mkdir(f"{self.folder}/{name}", 0o711)
        return f"{self.folder}/{name}"

    def start_prompts(self):
        """Starts the agent, and returns when it is registered (sd_notify(3))."""
        def start(path):
            return Prompt(
                PROMPT, [AGENT], dict(self.environment, NOTIFY_SOCKET=path), f"{self.folder}/agent.{len(self.started)}")

        prompt = start_when_ready(start, f"{self.folder}/ready.{len(self.started)}")
        self.started.append(prompt)
        return prompt

    def open(self, *arguments, **environment):
        window = Settings(
            TITLE, [SETTINGS, *arguments], dict(self.environment, **environment),
            f"{self.folder}/settings.{len(self.started)}")
        self.started.append(window)
        return window

    def open_with_fingerprints(self, fprintd):
        """Opens the page about fingerprints of a window beside which latchkey-fingerprint is installed."""
        return self.open_beside(FINGERPRINT, DBUS_SYSTEM_BUS_ADDRESS=fprintd.address)

    def open_beside(self, *programs, **environment):
        """Opens the page about fingerprints of a window that is installed with these programs only."""
        folder = self.subfolder("bin")
        for program in SETTINGS, *programs:
            shutil.copy(program, folder)
        window = Settings(
            TITLE, [folder + "/latchkey-settings", "fingerprints"], dict(self.environment, **environment),
            f"{self.folder}/settings.fingerprints")
        self.started.append(window)
        return window

    def found_prompts(self):
        """The agent that another program started."""
        def number():
            for name in os.listdir("/proc"):
                try:
                    with open(f"/proc/{name}/environ", "rb") as file:
                        is_ours = self.store.encode() in file.read()
                    with open(f"/proc/{name}/comm") as file:
                        if is_ours and file.read().strip() == "latchkey-agent":
                            return int(name)
                except (OSError, ValueError):
                    pass
            return None

        prompt = Found(PROMPT, until(number, lambda: "no agent was started"))
        self.started.append(prompt)
        return prompt

    def latchkey(self, *arguments, input="", app=None):
        done = subprocess.run(
            [self.app(app) if app else PROGRAMS + "/latchkey", *arguments], env=self.environment, input=input, text=True,
            capture_output=True, timeout=60)
        check(done.returncode == 0, f"latchkey {arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def app(self, name):
        """The program of an app: the command under the app's name, by which the daemon knows it."""
        path = f"{self.folder}/{name}"
        if not os.path.exists(path):
            shutil.copy(PROGRAMS + "/latchkey", path)
        return path

    def add_item(self, app, label, account, kind, comment):
        """Stores an unprotected password of an app, which says what kind of item it is."""
        self.latchkey("status")
        with open(self.store + "/daemon.lock") as file:
            connection = App(app, path=file.read().split("\n")[1])
        # docs/reference/protocol.md: the operation, the class and the attributes.
        item = {0: 1, 1: {2: account, 3: app, 7: kind, 8: comment, 11: label}, 2: [1, 0], 3: b"topsecret", 4: 0,
                5: {1: False, 2: {0: "", 3: False}}}
        reply = connection.call(10, item)
        connection.close()
        check(reply == [1, {}], f"{label} is stored: {reply}")

    def set_passcode(self, passcode="135790"):
        self.latchkey("passcode", "set", input=passcode + "\n")


class Keyring:
    """Calls of programs to the Secret Service, which this process passes on as the provider does. As a context manager, it ends
    the programs that it started."""

    # docs/reference/protocol.md: the operation, its actions, the kind of reply and an attribute.
    USE_SECRETS, STORE, READ, ITEMS, IDENTIFIER = 70, 1, 3, 5, 45

    def __init__(self, machine):
        self.machine = machine
        self.programs = []
        machine.latchkey("status")
        with open(machine.store + "/daemon.lock") as file:
            self.app = App("keyring", path=file.read().split("\n")[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.app.close()
        for program in self.programs:
            program.kill()
            program.communicate()

    def start(self, *command):
        program = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        self.programs.append(program)
        # Before execve(2) the process is another program.
        until(lambda: os.readlink(f"/proc/{program.pid}/exe") == os.path.realpath(command[0]),
              lambda: f"{command} does not start")
        return program.pid

    def use(self, process, action, contents, asks=False):
        """Sends a call of a process, and returns its number."""
        with open(f"/proc/{process}/stat") as file:
            started = int(file.read().rsplit(")", 1)[1].split()[19])
        return self.app.send(self.USE_SECRETS, {
            0: [process, started, os.geteuid()], 1: True, 2: [action, contents], 3: {0: "", 3: asks}})

    def store(self, label):
        """Stores an item of this process, and returns its identifier."""
        item = {0: "login", 1: label, 2: "text/plain", 3: ["name", label], 4: b"topsecret"}
        kind, items = self.app.answer(self.use(os.getpid(), self.STORE, [item, False]))
        check(kind == self.ITEMS, f"{label} is stored: {items}")
        return items[0][1][self.IDENTIFIER]

    def reads(self, process, item):
        """Whether a process may read an item without a prompt."""
        return self.app.answer(self.use(process, self.READ, [item]))[0] == self.ITEMS

    def answer(self, process, item, button):
        """Lets a process read an item, and presses a button of the prompt."""
        number = self.use(process, self.READ, [item], asks=True)
        self.machine.prompt.press_button(button)
        self.app.answer(number)
        self.machine.prompt.is_gone()
