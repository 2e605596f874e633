# SPDX-License-Identifier: Apache-2.0
"""Programs inside the machine that speak the protocol of docs/reference/protocol.md, operated from a test outside."""

import contextlib
import functools
import subprocess

from attack_client import Caller
from machine import CHECKOUT
from services import AUTHORITY, KEYCHAIN, ServiceTest

FOLDER = "/usr/local/lib/latchkey"
SCRIPT = FOLDER + "/attack_client.py"
PASSCODE, SECRET = b"a passcode 4711", b"the guarded secret"

# Bits of an access control, and accessibilities: docs/reference/store-format.md.
PRESENCE, CURRENT_SET, PASSCODE_ONLY = 1, 8, 16
WHEN_PASSCODE_SET = 7
# Operations of docs/reference/protocol.md.
STATUS, CONTEXT, INVALIDATE, EVALUATE, COPY, LOCK, UNLOCK, LOG = 2, 3, 4, 6, 11, 23, 24, 40
SET_PASSCODE = 4
# Events of the audit log: docs/reference/store-format.md.
SENSOR_REFUSED, SESSIONS_REFUSED = 30, 31
# Statuses of failures.
DISK_FULL, ROLLED_BACK, NOT_FOUND, NO_GROUP, NO_INTERACTION = 27, 25, 44, 45, 47
CANCELLED, SYSTEM_CANCEL, NO_PASSCODE, NO_CONTEXT, NOT_INTERACTIVE = 71, 73, 74, 79, 84
DONE = [1, {}]


class Client(Caller):
    """A process of a user that runs functions of attack_client.py; `Child` of that file does the same inside."""

    def __init__(self, start, program, script=SCRIPT):
        self._process = start(program, "-u", script, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.requests, self.replies = self._process.stdin, self._process.stdout

    def leave(self):
        """Ends its input, after which it ends by itself."""
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()

    def stop(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


class ClientTest(ServiceTest):
    """A machine without stores, and clients of its users."""

    def setUp(self):
        super().setUp()
        for path in (CHECKOUT / "Tests/System/attack_client.py", CHECKOUT / "Tests/Wire/deterministic_cbor.py"):
            self.machine.copy(path, f"{FOLDER}/{path.name}")
        self.remove_stores()
        # Damaged stores must not be what another test finds.
        self.addCleanup(self.remove_stores)

    def client(self, user="alice", program="/usr/bin/python3", session=None):
        """A process that is connected to nothing."""
        start = session.start if session else functools.partial(self.machine.start, user=user)
        client = Client(start, program)
        self.addCleanup(client.stop)
        return client

    def app(self, user="alice", **options):
        """A process with a connection to latchkeyd, which it calls "app"."""
        client = self.client(user, **options)
        client.do("App", kept="app")
        welcome = client.do("app.welcome")
        self.assertEqual(welcome and welcome[0], 2, f"{welcome}\n{self.machine.journal()}")
        return client

    def agent(self, user="alice", **options):
        """A process that shows the prompts of its user."""
        client = self.client(user, **options)
        client.do("Agent", kept="agent")
        self.assertEqual(client.do("agent.registered"), DONE)
        return client

    def program(self, path):
        """Installs a copy of the interpreter under the name of an app, which then has its path as identity."""
        self.machine.run("cp", "-L", "/usr/bin/python3", path)
        self.addCleanup(self.machine.run, "rm", "-f", path)
        return path

    @contextlib.contextmanager
    def typing(self, agent, passcode=PASSCODE, new=None):
        """A person who answers one prompt of an agent while the block runs."""
        agent.begin("auto", "agent", passcode, new, 15)
        yield
        agent.end()

    def person(self):
        """An app and the agent of alice, who has a passcode, an item that asks for a person, and one that does not."""
        app, agent = self.app(), self.agent()
        with self.typing(agent, None, PASSCODE):
            self.assertEqual(app.do("app.call", 20, {0: SET_PASSCODE}, 20), DONE)
        for name, constraints in (("presence", PRESENCE), ("free", 0)):
            self.assertEqual(app.do("app.add", name, SECRET, constraints), DONE)
        return app, agent

    def context(self, app):
        return app.do("app.call", CONTEXT)[1]

    def proven(self, app, agent, policy=2):
        """A context for which the passcode was entered."""
        handle = self.context(app)
        with self.typing(agent):
            reply = app.do("app.call", EVALUATE, {0: handle, 1: policy, 2: {0: "a test", 3: True}}, 20)
        self.assertEqual(reply, [12, [2]])
        return handle

    def events(self, app):
        """The audit log as [event, caller]."""
        return [entry[1:] for entry in app.do("app.log")]

    def refusals(self, app):
        """The entries of the audit log about sensors and login sessions that are not trusted, as [event, caller]."""
        return [entry for entry in self.events(app) if entry[0] in (SENSOR_REFUSED, SESSIONS_REFUSED)]

    def kill_both(self):
        for unit in (AUTHORITY, KEYCHAIN):
            if self.machine.unit(unit)["MainPID"] != "0":
                self.kill_service(unit)
