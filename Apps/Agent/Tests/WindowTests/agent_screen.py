# SPDX-License-Identifier: Apache-2.0
"""Starts latchkey-agent with a store of its own and programs that cause prompts, and reads its window."""

import contextlib
import os
import signal
import subprocess

import simulated
from accessible import Node, check
from gi.repository import GLib
from processes import Process, start_when_ready
from simulated import PROGRAMS

AGENT = os.environ["LATCHKEY_AGENT"]
REVEAL = "Show Passcode"
ASKS_FOR_PASSCODE = "Type your passcode, then press Enter."


class Shown(Node):
    """A prompt, as assistive technology sees it."""

    def of(self, role):
        return [node for node in self.all() if node.role == role]

    @property
    def names(self):
        return [node.name for node in self.all()]

    @property
    def buttons(self):
        """The titles of the buttons in order, without the one in the field and the one that shows the process."""
        return [node.name for node in self.of("button") if node.name != REVEAL and not node.expandable]

    @property
    def details(self):
        """The button that shows which process asks."""
        return next(node for node in self.of("button") if node.expandable)

    @property
    def toggle(self):
        """The button that reveals the typed text. GTK 4.8 reports it with the role of a plain button."""
        return self.named(REVEAL, "button") or self.named(REVEAL, "toggle button")

    @property
    def field(self):
        """The passcode field; None if there is none."""
        return next(iter(self.of("password text")), None)

    @property
    def takes_text(self):
        """Whether keys that are pressed go to the passcode field."""
        return self.field is not None and self.field.focused

    @property
    def is_revealed(self):
        return self.toggle is not None and self.toggle.pressed

    @property
    def announced(self):
        """The text that is announced when it changes."""
        return "|".join(node.name for node in self.of("alert"))

    @property
    def focused_name(self):
        """The name of the widget with the focus; None if there is none."""
        return next((node.name for node in self.all() if node.focused), None)

    def press_button(self, name):
        """Presses the button with this name, which has to be there now."""
        button = self.named(name, "button")
        check(button, f"{name} is pressed; there are {self.buttons}")
        button.press()


class Prompt(Process):
    """The agent, whose window is there while the daemon asks."""

    # The rest of the display is empty.
    crop = ("-trim", "+repage")

    def found(self, title=None):
        """The windows of the agent that are visible."""
        return [node for node in map(Shown, self.windows()) if node.shows]

    def tree(self, title=None):
        """The only window; None while there is none, or another one too."""
        try:
            shown = self.found()
        except GLib.Error:
            # A widget was destroyed while it was read.
            return None
        return shown[0] if len(shown) == 1 else None

    def shows_details(self, beginning="It is process "):
        """Opens the details, and returns the prompt and the line about the process."""
        def line(tree):
            return next((label for label in tree.of("label") if label.name.startswith(beginning)), None)

        closed = self.sees(lambda t: t.of("button"))
        check(not line(closed) and not closed.details.expanded, f"the details are closed: {closed.names}")
        closed.details.press()
        tree = self.sees(lambda t: line(t) and t.details.expanded)
        return tree, line(tree)

    def click(self, node):
        """Clicks the middle of a widget."""
        left, top, width, height = node.frame()
        self.focus()
        found = subprocess.run(
            ["xdotool", "search", "--sync", *self.search()], capture_output=True, text=True, check=True, timeout=20)
        window = found.stdout.split()[0]
        subprocess.run(
            ["xdotool", "mousemove", "--window", window, str(left + width // 2), str(top + height // 2), "click", "1"],
            check=True)

    def reads(self, words):
        """Waits until the prompt contains exactly this text, and returns it."""
        return self.sees(lambda t: t.named(words))


class Program:
    """A program without a window. Its output is in a file: unlike a pipe, a file cannot be held open by a descendant."""

    def __init__(self, command, environment, output):
        self.output = output
        with open(output, "w") as file:
            self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=file)

    def ends_within(self, seconds):
        try:
            self.process.wait(seconds)
            return True
        except subprocess.TimeoutExpired:
            return False

    @property
    def status(self):
        """Its exit status, for which this waits."""
        check(self.ends_within(30), "the program still runs")
        check(self.process.returncode >= 0, f"signal {-self.process.returncode} ended the program")
        return self.process.returncode

    @property
    def said(self):
        """Its whole output, after it has ended."""
        check(self.ends_within(30), "the program still runs")
        with open(self.output) as file:
            return file.read()

    def ends_with(self, *results):
        """Checks that the result of the evaluation is one of these."""
        check(self.result in results, f"the result is one of {results}: {self.said!r}")

    @property
    def result(self):
        """The result of an evaluation, the first word of the last line."""
        lines = self.said.split("\n")
        return next((line.split(" ")[0] for line in reversed(lines) if line), "")


class Machine(simulated.Machine):
    """A store with the passcode 1234, whose daemon the agent starts; then these commands of `latchkey` are run. Only
    the agent has the given environment."""

    name = "latchkey-agent"

    def __init__(self, *commands, tier="simulated", environment=None, agent=AGENT):
        super().__init__(sensor=None, tier=tier)
        self.programs = []
        self.prompt = start_when_ready(
            lambda path: Prompt(
                "Latchkey", [agent], dict(self.environment, NOTIFY_SOCKET=path, **(environment or {})),
                self.folder + "/agent.log"),
            self.folder + "/ready")
        self.windows.append(self.prompt)
        for command in commands:
            self.latchkey(*command.split())
        self.latchkey(*(["sim"] if tier == "simulated" else []), "passcode", "set", input="1234\n")

    def __exit__(self, *_):
        for program in self.programs:
            if not program.ends_within(0):
                program.process.kill()
                program.process.wait()
        super().__exit__()

    def output(self):
        """The file for the output of the next program."""
        return f"{self.folder}/output.{len(self.programs)}"

    def start(self, program, *arguments, app=None, is_shown=True):
        """Starts a program that causes a prompt, and gives the prompt the focus if `is_shown`. Without `is_shown`, the
        prompt may be missing."""
        environment = dict(self.environment, **({"LATCHKEY_APP_ID": app} if app else {}))
        caller = Program([f"{PROGRAMS}/{program}", *arguments], environment, self.output())
        self.programs.append(caller)
        if is_shown:
            self.prompt.focus()
        return caller

    def ask(self, *arguments, app="latchkey-test-client", is_shown=True):
        """Starts a program that evaluates a policy, as `start` does."""
        return self.start("latchkey-test-client", "evaluate", *arguments, app=app, is_shown=is_shown)

    def lock_sensor(self):
        """Has a finger that the sensor does not know touch it five times, in two prompts."""
        for misses in 3, 2:
            caller = self.ask("--policy", "1", "--reason", "try")
            self.prompt.reads("Touch the sensor.")
            for _ in range(misses):
                self.sim("touch", "--other")
            caller.ends_with("authenticationFailed", "biometryLockout")
            self.prompt.is_gone()

    def second_agent(self):
        """Starts another agent of the same store."""
        agent = Program([AGENT], self.environment, self.output())
        self.programs.append(agent)
        return agent

    def kill_daemon(self):
        daemon = self.daemon()
        check(daemon, "a daemon runs")
        os.kill(daemon, signal.SIGKILL)

    @contextlib.contextmanager
    def stopped_daemon(self):
        """Stops the daemon, so that it does not answer, until the end of the block."""
        daemon = self.daemon()
        check(daemon, "a daemon runs")
        os.kill(daemon, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(daemon, signal.SIGCONT)
