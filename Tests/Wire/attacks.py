#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks the shipped daemon and prints a verdict for each attack.

This is an independent client of the wire protocol, written from docs/protocol.md, docs/store-format.md,
docs/backup-format.md and docs/promises.md without any of the Swift code. Each attack uses its own daemons on stores in
private temporary folders. A line shows the verdict and the observations. The verdicts are:

  held        the daemon resisted the attack
  FELL        the attack succeeded, or its script failed
  no promise  the attack succeeded, and docs/promises.md states that limit
  not played  this machine cannot run the attack

The exit code is 1 if the verdict of an attack is FELL.

usage: Tests/Wire/attacks.py (--all | --list | NAME...) [--programs FOLDER]
"""

import os
import random
import re
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time

from deterministic_cbor import decode, encode

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Terminal"))
from terminal import Failure, Terminal  # noqa: E402


def pause(seconds):
    """Waits before the state of another process, which announces no change, is read again; the caller has a deadline."""
    time.sleep(seconds)


# MARK: Names of docs/protocol.md

VERSION = 2
HELLO, STATUS, CONTEXT, INVALIDATE, EVALUATE, EVALUATE_RULE = 1, 2, 3, 4, 6, 7
ADD, COPY, UPDATE, DELETE, LIST, PASSCODE, LOCK = 10, 11, 12, 13, 14, 20, 23
EXPORT, IMPORT, SIMULATE, TRANSCRIPT, LOG, CHECK = 25, 26, 30, 31, 40, 41
USER_PRESENCE, BIOMETRY_ANY, CURRENT_SET, DEVICE_PASSCODE = 1, 2, 8, 16
OR, AND, APPLICATION_PASSWORD = 1 << 14, 1 << 15, 1 << 31
WHEN_UNLOCKED = 1
GROUP, ACCOUNT, SERVICE, COMMENT, LABEL, GENERIC = 1, 2, 3, 8, 11, 14
FAILURE, DONE, WELCOME, ITEMS, EXPORTED, IMPORTED = 0, 1, 2, 5, 11, 13
# Statuses of failures.
MALFORMED, UNSUPPORTED, LIMIT, TIMED_OUT = 1, 2, 3, 4
WORDS = {
    1: "malformedRequest", 2: "unsupportedVersion", 3: "limitExceeded", 4: "timedOut", 5: "internalFailure",
    6: "unimplemented", 7: "notPermitted", 8: "cancelled", 20: "daemonUnavailable", 21: "storeUnreadable",
    25: "storeRolledBack", 26: "storeReadOnly", 27: "diskFull", 30: "storeOlder", 31: "anchorMissing",
    32: "anchorOld", 33: "eventUnfinished", 34: "rootKeyMissing", 35: "vaultUnavailable", 36: "tpmReplaced",
    37: "anchorGone", 38: "storeOfEarlierAccount", 40: "invalidParameter", 43: "duplicateItem", 44: "itemNotFound",
    45: "missingEntitlement", 46: "dataTooLarge", 47: "interactionNotAllowed", 48: "itemAuthenticationFailed",
    51: "exportNotAllowed", 70: "authenticationFailed", 71: "userCancel", 72: "userFallback", 73: "systemCancel",
    74: "passcodeNotSet", 75: "biometryNotAvailable", 76: "biometryNotEnrolled", 77: "biometryLockout",
    78: "appCancel", 79: "invalidContext", 84: "notInteractive", 85: "passcodeDelayed",
}


def word(reply):
    """A reply as text: `itemNotFound (44)`, `done`, `the end of the connection`."""
    if reply is None:
        return "the end of the connection"
    kind, contents = reply
    if kind == FAILURE:
        return "%s (%d)" % (WORDS.get(contents[0], "status"), contents[0])
    return {DONE: "done", ITEMS: "items", EXPORTED: "exported", IMPORTED: "imported"}.get(kind, "reply %d" % kind)


def status_of(reply):
    return reply[1][0] if reply is not None and reply[0] == FAILURE else None


def prompting(reason="", interactive=True):
    return {0: reason, 3: interactive}


def proof(context=None, reason="", interactive=True, password=None):
    value = {1: False, 2: prompting(reason, interactive)}
    if context is not None:
        value[0] = context
    if password is not None:
        value[3] = password
    return value


# MARK: The connection

SEEN = []  # all bytes that any connection received, while not None


class Ended(Exception):
    """The daemon ended the connection, or a deadline passed (`late`)."""

    def __init__(self, late=False):
        Exception.__init__(self, "no reply within the deadline" if late else "the daemon ended the connection")
        self.late = late


class Connection:
    def __init__(self, path, app=None, record=None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.buffer = b""
        self.next = 0
        self.kept = {}
        self.record = record
        if app is not None:
            reply = self.call(HELLO, {0: app})
            if reply is None or reply[0] != WELCOME:
                raise RuntimeError("hello: " + word(reply))

    def close(self):
        self.socket.close()

    def raw(self, data):
        self.socket.sendall(data)

    def frame(self, payload):
        self.raw(struct.pack(">BI", VERSION, len(payload)) + payload)

    def send(self, operation, parameters=None, number=None):
        if number is None:
            self.next += 1
            number = self.next
        self.frame(encode([0, number, [operation, {} if parameters is None else parameters]]))
        return number

    def receive(self, seconds=10):
        """Returns the payload of the next frame."""
        end = time.monotonic() + seconds
        while True:
            if len(self.buffer) >= 5:
                size = struct.unpack(">BI", self.buffer[:5])[1]
                if len(self.buffer) >= 5 + size:
                    payload, self.buffer = self.buffer[5:5 + size], self.buffer[5 + size:]
                    return payload
            left = end - time.monotonic()
            if left <= 0:
                raise Ended(late=True)
            self.socket.settimeout(left)
            try:
                piece = self.socket.recv(1 << 20)
            except socket.timeout:
                raise Ended(late=True)
            except OSError:
                raise Ended()
            if not piece:
                raise Ended()
            if self.record is not None:
                self.record.append(piece)
            self.buffer += piece

    def answer(self, number, seconds=10):
        """Returns `[kind, contents]` of the reply, with all items of a long answer; None if the connection was closed."""
        items = []
        end = time.monotonic() + seconds
        while True:
            while self.kept.get(number):
                reply = self.kept[number].pop(0)
                if reply[0] == ITEMS and reply[1][0]:
                    items += reply[1][1]
                    continue
                if reply[0] == ITEMS:
                    return [ITEMS, items + reply[1][1]]
                if reply[0] == 21 and reply[1][0]:
                    items += reply[1][3]
                    continue
                if reply[0] == 21:
                    return [21, items + reply[1][3]]
                return reply
            try:
                message = decode(self.receive(max(0.01, end - time.monotonic())))
            except Ended as ended:
                if ended.late:
                    raise
                return None
            if message[0] != 1:
                raise RuntimeError("not a reply")
            if message[1] == 0 and number != 0:
                return message[2]  # Id 0 is about the connection.
            self.kept.setdefault(message[1], []).append(message[2])

    def call(self, operation, parameters=None, seconds=10):
        try:
            number = self.send(operation, parameters)
        except OSError:
            return None
        return self.answer(number, seconds)

    def ends(self, seconds=10):
        """Whether the daemon closes the connection within so many seconds; frames before that are discarded."""
        end = time.monotonic() + seconds
        try:
            while True:
                self.receive(max(0.01, end - time.monotonic()))
        except Ended as ended:
            return not ended.late

    # Requests.

    def context(self):
        return self.call(CONTEXT)[1]

    def add(self, account, secret, constraints=0, accessibility=WHEN_UNLOCKED, attributes=None, how=None, seconds=10):
        values = {ACCOUNT: account, SERVICE: "attack"}
        values.update(attributes or {})
        return self.call(ADD, {0: 1, 1: values, 2: [accessibility, constraints], 3: secret, 4: 0, 5: how or proof()}, seconds)

    def read(self, account, how=None, seconds=10):
        return self.call(COPY, {0: {0: 1, 1: {ACCOUNT: account}}, 1: 1, 2: 1, 3: how or proof()}, seconds)

    def secret(self, account, how=None, seconds=10):
        reply = self.read(account, how, seconds)
        return reply[1][0].get(3) if reply is not None and reply[0] == ITEMS and reply[1] else None

    def simulate(self, command, argument=None):
        return self.call(SIMULATE, [command, {} if argument is None else argument])

    def evaluate(self, handle, policy=2, reuse=None, seconds=10):
        parameters = {0: handle, 1: policy, 2: prompting("show the forecast")}
        if reuse:
            parameters[3] = reuse
        return self.call(EVALUATE, parameters, seconds)

    def trail(self):
        entries, after = [], 0
        while True:
            reply = self.call(LOG, {0: after, 1: 1024, 2: False})
            if reply is None or reply[0] != 20:
                raise RuntimeError("log: " + word(reply))
            entries += reply[1][0]
            if not reply[1][0] or reply[1][0][-1][0] >= reply[1][1]:
                return entries
            after = reply[1][0][-1][0]


# MARK: The daemon and the person

PROGRAMS = ""
STARTED = []  # processes to end
FOLDERS = []


def folder():
    path = tempfile.mkdtemp(prefix="latchkey-attack-")
    FOLDERS.append(path)
    return path


class Store:
    """A folder with a store, and the daemon of that store."""

    def __init__(self, simulated=True, home=None, shared=None):
        self.base = folder()
        self.home = home or os.path.join(self.base, "store")
        self.runtime = os.path.join(self.base, "run")
        if home is None:
            os.mkdir(self.home, 0o700)
        os.mkdir(self.runtime, 0o700)
        self.simulated = simulated
        self.process = None
        self.start()

    def environment(self):
        environment = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
        environment.update(LATCHKEY_HOME=self.home, XDG_RUNTIME_DIR=self.runtime,
                           LATCHKEY_DAEMON=os.path.join(PROGRAMS, "latchkeyd"))
        return environment

    def start(self, wrapper=()):
        command = list(wrapper) + [os.path.join(PROGRAMS, "latchkeyd")] + (["--simulated"] if self.simulated else [])
        self.errors = open(os.path.join(self.base, "errors"), "ab")
        self.process = subprocess.Popen(command, env=self.environment(), stdin=subprocess.DEVNULL,
                                        stdout=self.errors, stderr=self.errors, start_new_session=True)
        STARTED.append(self.process)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError("the daemon exited: " + self.said())
            try:
                with open(os.path.join(self.home, "daemon.lock")) as file:
                    lines = file.read().split("\n")
                if len(lines) >= 3 and lines[2].strip() == str(self.process.pid):
                    self.path = lines[1]
                    Connection(self.path).close()
                    return
            except OSError:
                pass
            pause(0.02)
        raise RuntimeError("the daemon did not listen: " + self.said())

    def said(self):
        with open(os.path.join(self.base, "errors"), "rb") as file:
            return file.read()[-300:].decode("utf-8", "replace")

    def stop(self, number=signal.SIGTERM):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)

    def connect(self, app=None, record=None):
        return Connection(self.path, app, record)

    def alive(self):
        if self.process.poll() is not None:
            return False
        try:
            connection = self.connect("alive")
            reply = connection.call(STATUS)
            connection.close()
            return reply is not None and reply[0] == 3
        except (OSError, Ended, RuntimeError):
            return False

    def processor(self):
        """The daemon's processor time in seconds."""
        with open("/proc/%d/stat" % self.process.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rests(self, seconds=10):
        """Waits until the daemon is idle: it uses no processor time for a quarter of a second."""
        end, last, since = time.monotonic() + seconds, None, time.monotonic()
        while time.monotonic() < end:
            now = self.processor()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > 0.25:
                return
            pause(0.02)
        raise RuntimeError("the daemon does not become idle")

    def file(self, name):
        return os.path.join(self.home, name)

    def copy(self):
        """Copies the files of the store to a new folder; the daemon is stopped meanwhile."""
        target = os.path.join(folder(), "copy")
        shutil.copytree(self.home, target, ignore=lambda _, names: [n for n in names if n.startswith("daemon")])
        return target

    def put_back(self, source, names):
        for name in names:
            for suffix in ("", "-wal", "-shm"):
                if os.path.exists(self.file(name + suffix)):
                    os.remove(self.file(name + suffix))
                if os.path.exists(os.path.join(source, name + suffix)):
                    shutil.copy2(os.path.join(source, name + suffix), self.file(name + suffix))

    def database(self):
        return sqlite3.connect(self.file("keychain.sqlite"), timeout=5)


class Person(threading.Thread):
    """Registers as the agent and answers prompts: `answer(prompt) -> [event]`, called for each one that is shown."""

    def __init__(self, store, answer):
        threading.Thread.__init__(self, daemon=True)
        self.connection = Connection(store.path)
        self.connection.frame(encode([0, {}]))
        reply = decode(self.connection.receive(5))
        if reply != [1, {}]:
            raise RuntimeError("the agent was not registered: %r" % (reply,))
        self.answer = answer
        self.prompts = []
        self.contents = []
        self.shown = threading.Event()
        self.gone = threading.Event()
        self.changed = threading.Event()
        self.code = None
        self.start()

    def event(self, number, event):
        self.connection.frame(encode([3, [number, [3, event]]]))

    def run(self):
        try:
            while True:
                message = decode(self.connection.receive(120))
                number, (kind, body) = message[1]
                if kind == 0:
                    self.prompts.append(body)
                    self.event(number, [0])
                    self.code = body[14][7] or self.code
                    self.shown.set()
                    for event in self.answer(body, body[14]):
                        self.event(number, event)
                elif kind == 2:
                    self.gone.set()
                elif kind == 1:
                    self.contents.append(body)
                    self.code = body[8] or self.code
                    self.changed.set()
                    for event in self.answer(None, body):
                        self.event(number, event)
        except (Ended, OSError, ValueError):
            pass

    def close(self):
        try:
            self.connection.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.join(5)
        self.connection.close()


# MARK: The attacks

ATTACKS = []  # (name, words, function)
CODE = b"246810"
SECRET = b"latchkey-plaintext-93c1"


class NotPlayed(Exception):
    pass


class NoPromise(Exception):
    """The attack succeeds, and docs/promises.md states that limit."""


def no_promise(words, seen):
    """Raises `NoPromise` if docs/promises.md contains the text `words` (a line break counts as a space); otherwise the
    verdict is FELL."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "promises.md")
    with open(path, encoding="utf-8") as file:
        if " ".join(words.split()) in " ".join(file.read().split()):
            raise NoPromise(seen)
    return False, "docs/promises.md does not state this limit (%r); %s" % (words, seen)


def attack(name, words):
    def register(function):
        ATTACKS.append((name, words, function))
        return function
    return register


def expect(condition, seen):
    """The verdict is `held` if `condition` is true; the text describes the observations in both cases."""
    return bool(condition), seen


def typist(code=CODE):
    """An agent that enters this passcode and confirms the recovery code."""
    def answer(prompt, content):
        if content[5] == 1:
            return [[9]]
        return [[5, code]] if content[0] == 2 else []
    return answer


def silent(prompt, content):
    return []


def simulated_owner(constraints=DEVICE_PASSCODE):
    """A simulated store with a passcode, a finger and one protected item of `owner`."""
    store = Store()
    owner = store.connect("owner")
    for reply in (owner.call(PASSCODE, {0: 1, 1: CODE}), owner.simulate(1, 1), owner.simulate(2),
                  owner.add("treasure", SECRET, constraints)):
        if reply is None or reply[0] != DONE:
            raise RuntimeError("the setup failed: " + word(reply))
    return store, owner


def user_owner(constraints=DEVICE_PASSCODE, passcode=CODE):
    store = Store(simulated=False)
    owner = store.connect("owner")
    if passcode:
        reply = owner.call(PASSCODE, {0: 1, 1: passcode}, 20)
        if reply[0] != DONE:
            raise RuntimeError("the passcode was not set: " + word(reply))
    reply = owner.add("treasure", SECRET, constraints)
    if reply[0] != DONE:
        raise RuntimeError("the item was not added: " + word(reply))
    return store, owner


def exported(connection):
    """Returns the whole backup, or the failure."""
    reply, data = connection.call(EXPORT, {}), b""
    for _ in range(1000):
        if reply is None or reply[0] != EXPORTED:
            return reply, data
        data += reply[1][0]
        if 3 not in reply[1]:
            return reply, data
        reply = connection.call(EXPORT, {0: reply[1][3]})
    raise RuntimeError("the export does not end")


def imported(connection, data):
    cursor = None
    added = 0
    for _ in range(2):
        pieces = [data[at:at + 60000] for at in range(0, len(data), 60000)]
        for index, piece in enumerate(pieces):
            parameters = {1: piece, 2: index == len(pieces) - 1}
            if cursor is not None:
                parameters[0] = cursor
            reply = connection.call(IMPORT, parameters)
            if reply is None or reply[0] != IMPORTED:
                return reply
            cursor, added = reply[1].get(4), reply[1][1]
            if cursor is None:
                return reply
    return reply


# A. Authorisation

@attack("A1-foreign-proof", "export with a match of another app's prompt")
def _():
    store, owner = simulated_owner()
    forecast = store.connect("forecast")
    person = Person(store, silent)
    handle = forecast.context()
    forecast.simulate(5, True)
    proven = forecast.evaluate(handle)
    person.close()
    plain = forecast.call(EXPORT, {})
    with_handle = forecast.call(EXPORT, {0: handle})
    return expect(proven[0] == 12 and status_of(plain) and status_of(with_handle),
                  "finger matched; export: %s, with the context's handle: %s" % (word(plain), word(with_handle)))


@attack("A1-reuse", "export within a reuse window")
def _():
    store, owner = simulated_owner()
    person = Person(store, silent)
    handle = owner.context()
    owner.simulate(5, True)
    first = owner.evaluate(handle, policy=1, reuse=300)
    person.close()
    reply = owner.call(EXPORT, {})
    return expect(first[0] == 12 and status_of(reply), "export immediately after a match: " + word(reply))


@attack("A1-integer-cursor", "export from a number instead of a cursor")
def _():
    store, owner = simulated_owner()
    seen = []
    for parameters in ({0: -1}, {0: 0}, {0: 1 << 63}, {1: -1}, {0: b"\0" * 15}, {0: b"\0" * 16}, -1):
        connection = store.connect("owner")
        seen.append(connection.call(EXPORT, parameters))
        connection.close()
    return expect(all(each is None or status_of(each) for each in seen) and store.alive(),
                  ", ".join(sorted(set(map(word, seen)))))


def session(store, owner, connection):
    """Begins an export and answers its prompts; returns the first reply and the agent."""
    person = Person(store, silent)
    owner.simulate(22, CODE)
    owner.simulate(23)
    reply = connection.call(EXPORT, {})
    if reply is None or reply[0] != EXPORTED or 3 not in reply[1]:
        raise RuntimeError("the export did not begin: " + word(reply))
    return reply, person


@attack("A1-repeated-cursor", "export with a used cursor")
def _():
    store, owner = simulated_owner()
    for index in range(30):
        owner.add("item %d" % index, bytes(20000))
    reply, person = session(store, owner, owner)
    cursor = reply[1][3]
    person.close()
    second = owner.call(EXPORT, {0: cursor})
    again = owner.call(EXPORT, {0: cursor})
    return expect(second[0] == EXPORTED and status_of(again),
                  "first use: %s, second use: %s" % (word(second), word(again)))


@attack("A1-foreign-cursor", "export with another connection's cursor")
def _():
    store, owner = simulated_owner()
    reply, person = session(store, owner, owner)
    person.close()
    thief, namesake = store.connect("forecast"), store.connect("owner")
    seen = [thief.call(EXPORT, {0: reply[1][3]}), namesake.call(EXPORT, {0: reply[1][3]})]
    return expect(all(map(status_of, seen)), "another app: %s, same name: %s" % tuple(map(word, seen)))


@attack("A1-plaintext", "find secrets or the recovery code in the frames of an export")
def _():
    store, owner = simulated_owner()
    owner.add("open", SECRET)
    frames = []
    tool = store.connect("tool", frames)
    reply, person = session(store, owner, tool)
    cursor = reply[1].get(3)
    while cursor:
        reply = tool.call(EXPORT, {0: cursor})
        cursor = reply[1].get(3)
    person.close()
    data, code = b"".join(frames), person.code
    forms = [code, code.replace(b"-", b""), code[:11]]
    found = [word_ for word_, form in [("secret", SECRET)] + [("recovery code", form) for form in forms] if form in data]
    return expect(reply[1][1] == 2 and not found, "2 items, %d bytes of frames, found: %s" % (len(data), found or "nothing"))


@attack("A1-agent-code", "register as the agent and read the recovery code of an export without the passcode")
def _():
    store, owner = simulated_owner()
    person = Person(store, silent)
    tool = store.connect("tool")
    tool.send(EXPORT)
    shown = person.shown.wait(10)
    person.event(person.prompts[0][0], [5, b"000000"])
    changed = person.changed.wait(10)
    person.close()
    return expect(
        shown and changed and person.code is None,
        "prompt shown, %d frames after a wrong passcode, code: %s" % (len(person.contents), person.code or "none"))


@attack("A1-import-foreign", "add items to another app's group")
def _():
    store, owner = simulated_owner(0)
    forecast = store.connect("forecast")
    direct = forecast.add("planted", b"x", attributes={GROUP: "owner"})
    reply, person = session(store, owner, owner)
    data = reply[1][0] + b"".join(iter_rest(owner, reply))
    person.close()
    unattended = forecast.call(IMPORT, {1: data, 2: True})
    other = Store()
    burglar, victim = other.connect("forecast"), other.connect("owner")
    helper = Person(other, silent)
    victim.simulate(24, person.code)
    result = imported(burglar, data)
    helper.close()
    there = victim.secret("treasure")
    return expect(status_of(direct) == 45 and status_of(unattended) and there is None,
                  "add: %s, import without a user: %s, without a passcode but with the code: %s, item present: %s"
                  % (word(direct), word(unattended), word(result), there is not None))


def iter_rest(connection, reply):
    while 3 in reply[1]:
        reply = connection.call(EXPORT, {0: reply[1][3]})
        if reply[0] != EXPORTED:
            raise RuntimeError("export: " + word(reply))
        yield reply[1][0]


@attack("A1-import-damaged", "import a file that was cut, changed or continued")
def _():
    store, owner = simulated_owner(0)
    reply, person = session(store, owner, owner)
    data = reply[1][0] + b"".join(iter_rest(owner, reply))
    other = Store()
    victim = other.connect("owner")
    helper = Person(other, silent)
    seen = {}
    changed = bytearray(data)
    changed[60] ^= 1
    for name, bad in (("cut", data[:-60]), ("continued", data + b"\0"), ("changed", bytes(changed))):
        victim.simulate(7)
        victim.simulate(24, person.code)
        seen[name] = imported(victim, bad)
    nothing = victim.secret("treasure") is None
    victim.simulate(7)
    victim.simulate(24, person.code)
    good = imported(victim, data)
    person.close()
    helper.close()
    return expect(nothing and all(map(status_of, seen.values())) and good[0] == IMPORTED and victim.secret("treasure") == SECRET,
                  ", ".join("%s: %s" % (name, word(each)) for name, each in seen.items())
                  + ", unchanged: " + word(good))


@attack("A1-log", "export without an entry in the audit log")
def _():
    store, owner = simulated_owner()
    before = len(owner.trail())
    tool = store.connect("tool")
    refused = tool.call(EXPORT, {})
    reply, person = session(store, owner, tool)
    person.close()
    tool.close()
    entries = owner.trail()[before:]
    sessions = [entry for entry in entries if entry[2] == 20]
    return expect(len(sessions) == 1,
                  "one refused export (%s) and one that began: %d entries of event 20, %d of event 5"
                  % (word(refused), len(sessions), len([entry for entry in entries if entry[2] == 5])))


@attack("A2-second-hello", "a second hello as another app")
def _():
    store, owner = simulated_owner()
    thief = store.connect("forecast")
    reply = thief.call(HELLO, {0: "owner"})
    after = None
    if reply is None or status_of(reply) == MALFORMED:
        try:
            after = thief.secret("treasure")
            ended = False
        except (OSError, Ended) as seen:
            ended = not getattr(seen, "late", False)
        ended = ended or thief.ends(5)
    else:
        ended = False
    return expect(ended and after is None, "%s, connection ended: %s" % (word(reply), ended))


@attack("A2-hello-in-prompt", "a hello while the prompt is shown")
def _():
    store, owner = simulated_owner()
    thief = store.connect("forecast")
    thief.add("treasure", b"my own", DEVICE_PASSCODE)
    person = Person(store, silent)
    frames = []
    thief.record = frames
    number = thief.send(COPY, {0: {0: 1, 1: {ACCOUNT: "treasure"}}, 1: 1, 2: 1, 3: proof()})
    if not person.shown.wait(5):
        raise RuntimeError("no prompt")
    thief.send(HELLO, {0: "owner"})
    ended = thief.ends(5)
    gone = person.gone.wait(5)
    late = owner.simulate(22, CODE)
    person.close()
    return expect(ended and gone and SECRET not in b"".join(frames) and b"my own" not in b"".join(frames),
                  "connection ended: %s, its prompt ended: %s, a passcode afterwards: %s, no secret in %d bytes" % (
                      ended, gone, word(late), len(b"".join(frames))))


@attack("A2-no-hello", "a request before hello")
def _():
    store, owner = simulated_owner(0)
    seen = []
    for operation in (STATUS, COPY, EXPORT, SIMULATE, LOG, PASSCODE):
        connection = store.connect()
        parameters = {COPY: {0: {0: 1, 1: {}}, 1: 0, 2: 1, 3: proof()}, SIMULATE: [18, True],
                      LOG: {0: 0, 1: 9, 2: False}, PASSCODE: {1: b"1111"}}.get(operation, {})
        reply = connection.call(operation, parameters)
        seen.append((reply is None or status_of(reply) == MALFORMED) and connection.ends(5))
    return expect(all(seen), "%d of %d requests refused and their connections ended" % (sum(seen), len(seen)))


@attack("A3-set-not-durable", "a new finger while the new enrolment set cannot be written")
def _():
    store, owner = simulated_owner(CURRENT_SET)
    person = Person(store, silent)
    owner.simulate(5, True)
    before = owner.secret("treasure")
    owner.simulate(17, 1)
    changed = owner.simulate(4)
    owner.simulate(7)
    owner.simulate(5, True)
    owner.simulate(20)
    try:
        reply = owner.read("treasure", seconds=5)
        got = reply is not None and reply[0] == ITEMS and any(item.get(3) == SECRET for item in reply[1])
        seen = word(reply)
    except Ended:
        got, seen = False, "no answer"
    person.close()
    return expect(before == SECRET and not got,
                  "item read before the change; the change: %s, the read with the new finger: %s, secret returned: %s"
                  % (word(changed), seen, got))


@attack("A5-bare-or-and", "an access control of .or or .and only")
def _():
    store, owner = simulated_owner(0)
    handle = owner.context()
    seen = [owner.add("bare %d" % bits, b"x", bits) for bits in (OR, AND, OR | AND)]
    seen += [owner.call(EVALUATE_RULE, {0: handle, 1: [WHEN_UNLOCKED, bits], 2: prompting("x")}) for bits in (OR, AND)]
    seen += [owner.call(UPDATE, {0: {0: 1, 1: {ACCOUNT: "treasure"}}, 1: {}, 2: [WHEN_UNLOCKED, OR], 4: proof()})]
    return expect(all(map(status_of, seen)), ", ".join(sorted(set(map(word, seen)))))


# B. Tampering, rollback, counters

def take_over(store, code=b"135790"):
    """Sets the attacker's passcode and reads the owner's item with it; returns whether that succeeded, and the observations."""
    try:
        store.start()
    except RuntimeError as error:
        return False, "the daemon does not serve the store: %s" % str(error)[:120].strip().replace("\n", " ")
    owner = store.connect("owner")
    person = Person(store, typist(code))
    new = owner.call(PASSCODE, {0: 1, 1: code}, 20)
    reply = owner.read("treasure", seconds=20)
    got = reply is not None and reply[0] == ITEMS and any(item.get(3) == SECRET for item in reply[1])
    person.close()
    check = owner.call(CHECK)
    return got or new[0] == DONE, "new passcode: %s, item: %s, check: %s" % (
        word(new), word(reply), "%d finding(s)" % len(check[1]) if check[0] == 21 else word(check))


@attack("B1-anchor-removed", "remove the anchor, set a passcode, read a protected item")
def _():
    store, owner = user_owner()
    store.stop()
    os.remove(store.file("anchor"))
    taken, seen = take_over(store)
    return expect(not taken, seen)


@attack("B1-anchor-damaged", "damage the anchor at three places, set a passcode, read")
def _():
    store, owner = user_owner()
    store.stop()
    with open(store.file("anchor"), "rb") as file:
        whole = file.read()
    held, lines = True, set()
    for change in ("first", "middle", "cut"):
        bad = bytearray(whole)
        if change == "cut":
            bad = bad[:len(bad) // 2]
        else:
            bad[0 if change == "first" else len(bad) // 2] ^= 0x55
        with open(store.file("anchor"), "wb") as file:
            file.write(bad)
        taken, seen = take_over(store)
        store.stop()
        held = held and not taken
        lines.add(seen)
    return expect(held, " / ".join(sorted(lines)))


@attack("B1-records", "delete every record of a slot or the counters in the database")
def _():
    store, owner = user_owner()
    store.stop()
    database = store.database()
    names = [row[0] for row in database.execute("SELECT name FROM record")]
    gone = [name for name in names if "slot" in name or "policy" in name or "set" in name]
    for name in gone:
        database.execute("DELETE FROM record WHERE name = ?", (name,))
    database.commit()
    database.close()
    taken, seen = take_over(store)
    return expect(not taken, "deleted %s of %s; %s" % (gone, names, seen))


ROWS_CHANGED = 16  # the audit event for rows that do not match the set hash
ROWS, UNEXPLAINED, OLDER = 10, 6, 7  # kinds of findings: the rows as a whole, and one by name


def tracks(store, owner, seconds=10):
    """Waits for the scan, or a timeout; returns the problem in the status, the number of entries of event 16, and the
    findings of a check."""
    end = time.monotonic() + seconds
    while True:
        status = owner.call(STATUS)
        trouble = status[1].get(9) if status[0] == 3 else None
        events = len([entry for entry in owner.trail() if entry[2] == ROWS_CHANGED])
        if (trouble and events) or time.monotonic() > end:
            break
        pause(0.05)
    check = owner.call(CHECK, seconds=20)
    findings = check[1] if check is not None and check[0] == 21 else None
    return WORDS.get(trouble[0], trouble[0]) if trouble else None, events, findings


def served(store, code, account="treasure"):
    """Starts the daemon and reads `account` with the passcode `code`; returns the reply, and the secret if there is one."""
    store.start()
    owner = store.connect("owner")
    person = Person(store, typist(code))
    reply = owner.read(account, seconds=20)
    person.close()
    got = reply[1][0].get(3) if reply is not None and reply[0] == ITEMS and reply[1] else None
    return owner, reply, got


TODAY = b"975310"


def yesterday(store, owner):
    """Returns a store and its copy of the day before: since then an item was deleted, one added, and the passcode changed."""
    store.stop()
    old = store.copy()
    store.start()
    owner = store.connect("owner")
    guess(store, owner, 1)
    person = Person(store, typist())
    changed = owner.call(PASSCODE, {0: 2, 1: TODAY}, 20)
    person.close()
    for reply in (changed, owner.add("later", b"x"), owner.call(DELETE, {0: 1, 1: {ACCOUNT: "gone"}})):
        if reply is None or reply[0] != DONE:
            raise RuntimeError("the changes after yesterday failed: " + word(reply))
    store.stop()
    return old


def rollback(names, status):
    """Restores these files of yesterday; returns whether yesterday's passcode or yesterday's items are valid again."""
    store, owner = user_owner()
    if owner.add("gone", SECRET)[0] != DONE:
        raise RuntimeError("the item was not added")
    old = yesterday(store, owner)
    # Control: without the attack, today's passcode opens today's items.
    owner, reply, got = served(store, TODAY)
    if got != SECRET or owner.secret("gone") is not None or owner.secret("later") != b"x":
        raise RuntimeError("the unchanged store does not serve: " + word(reply))
    store.stop()
    store.put_back(old, names)
    owner, reply, got = served(store, CODE)
    open_one = owner.read("gone")
    says = owner.call(STATUS)[1].get(9)
    seen = "read with yesterday's passcode: %s, a deleted item: %s, status: %s" % (
        word(reply), word(open_one), WORDS.get(says[0], says[0]) if says else "no failure")
    back = got is not None or (open_one[0] == ITEMS and open_one[1])
    refused = status_of(reply) in status and status_of(open_one) in status and says and says[0] in status
    return back, refused, seen


@attack("B2-database-of-yesterday", "restore yesterday's database")
def _():
    back, refused, seen = rollback(["keychain.sqlite"], [25])
    return expect(refused and not back, seen)


@attack("B2-anchor-of-yesterday", "restore yesterday's anchor, for its old passcode")
def _():
    back, refused, seen = rollback(["anchor"], [32])
    return expect(refused and not back, seen)


@attack("B2-both-of-yesterday", "restore yesterday's database and anchor beside today's counters")
def _():
    back, refused, seen = rollback(["anchor", "keychain.sqlite"], [25, 32])
    return expect(refused and not back, seen)


@attack("B2-all-of-yesterday", "restore yesterday's database, anchor and counters")
def _():
    back, refused, seen = rollback(["anchor", "keychain.sqlite", "counters"], [25, 32])
    if back:
        return no_promise("a copy of the *whole* folder put back", seen)
    return expect(refused, seen)


def row_attack(change, kind):
    """Restores an old row of an item; returns whether the daemon reports it after its scan."""
    store, owner = user_owner(0)
    owner.add("other", b"1")
    store.stop()
    database = store.database()
    columns = [row[1] for row in database.execute("PRAGMA table_info(item)")]
    rows = database.execute("SELECT * FROM item ORDER BY position").fetchall()
    database.close()
    store.start()
    owner = store.connect("owner")
    reply = change(owner)
    if reply[0] != DONE:
        raise RuntimeError("the change failed: " + word(reply))
    store.stop()
    # Control: the same store without the attack has no finding.
    owner, reply, now = served(store, CODE)
    clean = tracks(store, owner, 2)
    if clean != (None, 0, []):
        raise RuntimeError("findings in an unchanged store: %r" % (clean,))
    store.stop()
    database = store.database()
    identifier = rows[0][columns.index("id")]
    database.execute("DELETE FROM item WHERE id = ?", (identifier,))
    database.execute("INSERT INTO item VALUES (%s)" % ",".join("?" * len(columns)), rows[0])
    database.commit()
    database.close()
    owner, reply, got = served(store, CODE)
    trouble, events, findings = tracks(store, owner)
    named = findings is not None and ROWS in [each[0] for each in findings] and (
        [each[0] for each in findings if each[2] == identifier] == [kind])
    # docs/store-format.md: until the scan ends an old row may be returned, and items are still returned afterwards.
    return expect(trouble and events == 1 and named, "status: %s, entries of event 16: %d, the check names the row: %s; the old row was %s" % (
        trouble or "no failure", events, named, "served (no promise)" if got == SECRET and now != SECRET else "not served"))


@attack("B2-old-row", "restore the row of an item from before an update")
def _():
    return row_attack(lambda owner: owner.call(UPDATE, {0: {0: 1, 1: {ACCOUNT: "treasure"}}, 1: {}, 3: b"new", 4: proof()}), OLDER)


@attack("B2-deleted-row", "restore the row of a deleted item")
def _():
    return row_attack(lambda owner: owner.call(DELETE, {0: 1, 1: {ACCOUNT: "treasure"}}), UNEXPLAINED)


class Guesser:
    """An agent that enters `tries` different wrong passcodes while entry is not delayed, and then cancels."""

    def __init__(self, tries, first=0):
        self.first, self.typed, self.tries = first, 0, tries

    def __call__(self, prompt, content):
        if content[0] != 2 or content[5] != 0:
            return []
        if self.typed == self.tries or content[6]:
            return [[3]]
        self.typed += 1
        return [[5, b"wrong%d" % (self.first + self.typed)]]


def guess(store, owner, tries=3):
    """Enters wrong passcodes in one prompt; returns how many were accepted for checking, and the reply."""
    guesser = Guesser(tries)
    person = Person(store, guesser)
    try:
        reply = owner.read("treasure", seconds=20)
    except Ended:
        reply = None
    person.close()
    return guesser.typed, reply


class Probe:
    """Reads the protected item and enters the right passcode whenever the prompt asks for it."""

    def __init__(self, store, owner, seconds):
        person = Person(store, typist())
        begin = time.monotonic()
        try:
            reply = owner.read("treasure", seconds=seconds)
            self.answer = word(reply)
            self.opened = reply is not None and reply[0] == ITEMS
        except Ended as ended:
            self.opened, self.answer = False, "no answer" if ended.late else "ended"
        self.seconds = time.monotonic() - begin
        # The delay that the prompt showed first.
        self.told = person.prompts[0][14][6] if person.prompts else 0
        person.close()

    @property
    def at_once(self):
        return self.opened and self.seconds < max(1, self.told - 1)

    def __str__(self):
        return "delay shown %d s, %s after %.1f s" % (self.told, self.answer, self.seconds)


def waits_and_opens(store, owner):
    """The delay after three wrong passcodes is 5 s (docs/policy.md): the right one is accepted after it, and not before."""
    probe = Probe(store, owner, 20)
    return probe.opened and not probe.at_once and 0 < probe.told <= 5, probe


def b3_control():
    """Three wrong passcodes and a kill, without an attack on the files: the control of all B3 attacks."""
    store, owner = user_owner()
    typed, _ = guess(store, owner)
    store.stop(signal.SIGKILL)
    store.start()
    holds, probe = waits_and_opens(store, store.connect("owner"))
    if typed != 3 or not holds:
        raise RuntimeError("without an attack: %d wrong passcodes, then %s" % (typed, probe))
    return probe


@attack("B3-counters-deleted", "delete the counters after wrong passcodes")
def _():
    control = b3_control()
    store, owner = user_owner()
    typed, _ = guess(store, owner)
    store.stop(signal.SIGKILL)
    os.remove(store.file("counters"))
    store.start()
    probe = Probe(store, store.connect("owner"), 8)
    return expect(typed == 3 and not probe.opened and probe.told >= 5,
                  "%d wrong passcodes, file deleted: %s; without the attack: %s" % (
        typed, probe, control))


@attack("B3-counters-put-back", "restore older counters after wrong passcodes")
def _():
    control = b3_control()
    store, owner = user_owner()
    store.stop()
    old = store.copy()
    store.start()
    owner = store.connect("owner")
    typed, _ = guess(store, owner)
    store.stop(signal.SIGKILL)
    shutil.copy2(os.path.join(old, "counters"), store.file("counters"))
    store.start()
    probe = Probe(store, store.connect("owner"), 8)
    seen = "%d wrong passcodes, older file: %s; without the attack: %s" % (typed, probe, control)
    return expect(typed == 3 and not probe.at_once and probe.told > 0, seen)


@attack("B3-kill", "kill the daemon after each wrong passcode")
def _():
    store, owner = user_owner()
    typed = 0
    for number in range(3):
        guesser = Guesser(1, number)

        def once(prompt, content, guesser=guesser):
            return guesser(prompt, content) if prompt is not None else []
        person = Person(store, once)
        owner.send(COPY, {0: {0: 1, 1: {ACCOUNT: "treasure"}}, 1: 1, 2: 1, 3: proof()})
        if not person.shown.wait(5):
            raise RuntimeError("no prompt")
        # The third one ends the prompt or delays entry; the daemon reports either, after it has counted.
        end = time.monotonic() + 10
        while not person.changed.wait(0.02) and not person.gone.is_set() and time.monotonic() < end:
            pass
        typed += guesser.typed
        store.stop(signal.SIGKILL)
        person.close()
        store.start()
        owner = store.connect("owner")
    holds, probe = waits_and_opens(store, owner)
    return expect(typed == 3 and holds,
                  "%d wrong passcodes, each before a kill -9, then the correct one: %s" % (typed, probe))


@attack("B3-full-disk", "wrong passcodes on a full disk")
def _():
    if os.geteuid() != 0:
        raise NotPlayed("mounting a small disk needs root")
    if os.environ.get("LATCHKEY_ATTACKS_MOUNTS") != "own":
        result = subprocess.run(["unshare", "-m", "--propagation", "private", sys.executable, os.path.abspath(__file__),
                                 "--programs", PROGRAMS, "B3-full-disk"], stdout=subprocess.PIPE, timeout=60,
                                env=dict(os.environ, LATCHKEY_ATTACKS_MOUNTS="own"))
        line = result.stdout.decode().split("\n")[0]
        if line[:4] not in ("held", "FELL"):
            raise NotPlayed(line or "no mount namespace is available")
        return line.startswith("held"), line.split("... ", 1)[-1]
    home = os.path.join(folder(), "disk")
    os.mkdir(home)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", home], check=True)
    FOLDERS.append("mount:" + home)
    store = Store(simulated=False, home=home)
    owner = store.connect("owner")
    owner.call(PASSCODE, {0: 1, 1: CODE}, 20)
    owner.add("treasure", SECRET, DEVICE_PASSCODE)
    with open(os.path.join(home, "filler"), "wb", buffering=0) as file:
        for size in (1 << 16, 4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass
    # docs/promises.md: a full disk neither loses the counters nor makes a try fail.
    typed, reply = guess(store, owner)
    full = Probe(store, owner, 3)
    store.stop(signal.SIGKILL)
    os.remove(os.path.join(home, "filler"))
    store.start()
    holds, later = waits_and_opens(store, store.connect("owner"))
    return expect(typed == 3 and not full.at_once and full.told > 0 and (holds or later.opened),
                  "%d wrong passcodes (%s), the correct one on the full disk: %s; after kill -9 with free space: %s" % (
                      typed, word(reply), full, later))


@attack("B4-burned-tries", "use up the user's tries with operation 20")
def _():
    store, owner = user_owner()
    burner = store.connect("forecast")
    # Messages with an old passcode, as in version 1, and messages in the current form, while no prompt can be shown.
    old = [burner.call(PASSCODE, {0: b"wrong%d" % index, 1: b"135790"}, 20) for index in range(6)]
    burner.close()
    burner = store.connect("forecast")
    new = [burner.call(PASSCODE, {0: 2, 1: b"135790"}, 20) for _ in range(6)] + [burner.call(PASSCODE, {0: 3}, 20)]
    probe = Probe(store, owner, 10)
    return expect(all(map(status_of, old + new)) and probe.at_once and probe.told == 0,
                  "6 malformed requests: %s, 7 valid ones: %s; then the "
                  "user's correct passcode: %s" % (
                      ", ".join(sorted(set(map(word, old)))), ", ".join(sorted(set(map(word, new)))), probe))


@attack("B4-silent-change", "set, change or remove the passcode without the old one")
def _():
    store, owner = user_owner()
    other = store.connect("forecast")
    wishes = ({0: 1, 1: b"135790"}, {0: 2, 1: b"135790"}, {0: 3}, {0: 2, 1: b"123"}, {0: 2}, {0: 2, 1: b"135790", 2: CODE})
    alone = [other.call(PASSCODE, each, 20) for each in wishes]
    # The user enters a wrong passcode once and then cancels; no other kind of proof is accepted.
    shown = []

    def wrong(prompt, content):
        if prompt is None:
            return [[3]]
        shown.append(prompt[1])
        return [[5, b"135790"]]
    seen = []
    for each in ({0: 2, 1: b"135790"}, {0: 3}):
        person = Person(store, wrong)
        seen.append(store.connect("forecast").call(PASSCODE, each, 20))
        person.close()
    probe = Probe(store, owner, 20)
    # Purposes 4 and 5 of docs/protocol.md: the prompt has the daemon's own text.
    return expect(all(map(status_of, alone + seen)) and shown == [4, 5] and probe.opened,
                  "without a prompt: %s; with a wrong passcode: %s, prompts of purposes %s; owner: %s" % (
                      ", ".join(sorted(set(map(word, alone)))), ", ".join(sorted(set(map(word, seen)))), shown, probe))


# C. Availability

def child(mode, *arguments, **options):
    """Starts a child process with this interpreter, or with a copy of it, which counts as another program. The child
    prints lines and waits."""
    executable = options.get("executable", sys.executable)
    environment = dict(os.environ)
    environment.update(options.get("environment", {}))
    process = subprocess.Popen([executable, os.path.abspath(__file__), "--child", mode] + [str(each) for each in arguments],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                               pass_fds=options.get("descriptors", ()))
    STARTED.append(process)
    return process


def line_of(process, seconds=10):
    end = time.monotonic() + seconds
    data = b""
    while not data.endswith(b"\n"):
        ready = select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]
        if not ready:
            return None
        piece = os.read(process.stdout.fileno(), 1)
        if not piece:
            return data.decode() or None
        data += piece
    return data.decode().strip()


def another_program():
    """Copies the interpreter, as another executable; returns its path and the environment that it needs."""
    import sysconfig
    source = os.path.realpath("/proc/self/exe")
    target = os.path.join(folder(), "honest")
    shutil.copy2(source, target)
    environment = {"PYTHONHOME": sys.base_prefix}
    library = sysconfig.get_config_var("LIBDIR")
    if library:
        environment["LD_LIBRARY_PATH"] = library
    try:
        subprocess.run([target, "-c", "import socket, sqlite3"], env=dict(os.environ, **environment), check=True, timeout=10,
                       stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        raise NotPlayed("a copy of the interpreter does not run on this machine")
    return target, environment


@attack("C1-refused-frame", "a refused frame, unread answers and further bytes")
def _():
    store, owner = user_owner(0, None)
    for index in range(20):
        owner.add("large %d" % index, bytes(100000))
    bad = store.connect("bad")
    bad.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(3):
        bad.send(COPY, {0: {0: 1, 1: {}}, 1: 0, 2: 1, 3: proof()})
    store.rests()
    bad.raw(struct.pack(">BI", 9, 3) + b"\x83\x00\x01")
    before, begin = store.processor(), time.monotonic()
    bad.socket.setblocking(False)
    ended, others = None, []
    # The daemon keeps the connection for 10 s to send its replies (docs/protocol.md). The processor time is measured for
    # 14 s, so that the time after the end is included.
    while time.monotonic() - begin < 14:
        try:
            bad.socket.send(b"\0" * 512)
        except BlockingIOError:
            pass
        except OSError:
            ended = ended or time.monotonic() - begin
        asked = time.monotonic()
        owner.call(STATUS)
        others.append(time.monotonic() - asked)
        pause(0.05)
    used, measured = store.processor() - before, time.monotonic() - begin
    closed = bad.ends(2)
    return expect(used < 0.5 and ended is not None and closed and max(others) < 1 and store.alive(),
                  "%.2f s of processor time in %.1f s, bytes refused after %s, connection closed: %s, slowest reply to "
                  "another program: %.0f ms" % (
                      used, measured, "%.1f s" % ended if ended is not None else "never", closed,
                      max(others) * 1000))


@attack("C2-password-flood", "delay another app's add with wrong application passwords")
def _():
    store, owner = user_owner(0, None)
    flood = store.connect("forecast")
    reply = flood.add("own", b"x", APPLICATION_PASSWORD, how=proof(password=b"right one"), seconds=20)
    if reply[0] != DONE:
        raise RuntimeError("the item was not added: " + word(reply))
    numbers = [flood.send(COPY, {0: {0: 1, 1: {ACCOUNT: "own"}}, 1: 1, 2: 1, 3: proof(password=b"wrong %d" % index)})
               for index in range(60)]
    first = flood.answer(numbers[0])
    begin = time.monotonic()
    try:
        reply = owner.add("quick", b"x", seconds=20)
        seen = word(reply)
    except Ended:
        seen = "no answer"
    took = (time.monotonic() - begin) * 1000
    waiting = 0
    for number in numbers[1:]:
        try:
            flood.answer(number, 0.001)
        except Ended:
            waiting += 1
    flood.close()
    return expect(seen == "done" and took < 1500 and waiting > 0,
                  "wrong passwords: %s; another app's add: %s in %.0f ms, while %d of the wrong passwords waited" % (
                      word(first), seen, took, waiting))


@attack("C3-large-attributes", "make exports fail with 40 items of 60 kB attributes")
def _():
    store, owner = simulated_owner(0)
    other = store.connect("forecast")
    for index in range(40):
        reply = other.add("fat %d" % index, b"x", attributes={GENERIC: bytes(60000)})
        if reply[0] != DONE:
            raise RuntimeError(word(reply))
    begin = time.monotonic()
    reply, person = session(store, owner, owner)
    size = len(reply[1][0])
    while reply[0] == EXPORTED and 3 in reply[1]:
        reply = owner.call(EXPORT, {0: reply[1][3]})
        size += len(reply[1][0]) if reply[0] == EXPORTED else 0
    person.close()
    listed = owner.call(LIST, {0: 1, 1: {}})
    return expect(reply[0] == EXPORTED and reply[1][1] == 41, "%s, %s items, %d bytes, %.1f s; list: %s" % (
        word(reply), reply[1].get(1), size, time.monotonic() - begin, word(listed)))


@attack("C4-prompts", "delay another program's prompt with 1,200 prompts")
def _():
    honest, environment = another_program()
    store, owner = simulated_owner()
    shown, served = [], threading.Event()

    def answer(prompt, content):
        if prompt is not None:
            shown.append(prompt[4] or prompt[2])
            if prompt[4] == "honest" or prompt[2] == "honest":
                served.set()
            if shown[0] == shown[-1] and len(shown) == 1:
                return []  # The first prompt stays until all others wait.
            return [[3]]
        return []
    person = Person(store, answer)
    flood = store.connect("forecast")
    flood.add("own", b"x", DEVICE_PASSCODE)
    connections = [flood] + [store.connect("forecast") for _ in range(12)]
    for connection in connections:
        for _ in range(60):
            connection.send(COPY, {0: {0: 1, 1: {ACCOUNT: "own"}}, 1: 1, 2: 1, 3: proof()})
    more = [child("prompts", store.path, 7, 60) for _ in range(1)]
    line_of(more[0])
    if not person.shown.wait(5):
        raise RuntimeError("no prompt")
    before = len(shown)
    victim = child("ask", store.path, executable=honest, environment=environment)
    # The child reports this after the reply to a later request.
    line_of(victim)
    begin = time.monotonic()
    person.event(1, [3])
    try:
        number = person.prompts[0][0]
        person.event(number, [3])
    except OSError:
        pass
    ok = served.wait(15)
    place = next((index for index, name in enumerate(shown) if name == "honest"), None)
    took = time.monotonic() - begin
    answered = line_of(victim, 5)
    for process in more:
        process.kill()
    person.close()
    return expect(ok and place is not None and place - before <= 8,
                  "the other program's prompt was number %s (%.1f s): %s"
                  % (place + 1 if place is not None else "none", took, answered))


@attack("C4-connections", "lock other programs out with 300 idle connections")
def _():
    honest, environment = another_program()
    store, owner = user_owner(0, None)
    owner.close()
    idle = [child("idle", store.path, 300) for _ in range(2)]
    counts = [line_of(each) for each in idle]
    status = subprocess.run([os.path.join(PROGRAMS, "latchkey"), "status"], env=store.environment(), timeout=15,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    other = child("status", store.path, executable=honest, environment=environment)
    answer = line_of(other)
    try:
        same = word(store.connect().call(HELLO, {0: "x"}))
    except OSError as error:
        same = str(error)
    return expect(status.returncode == 0 and answer == "status",
                  "accepted of 300 for each process: %s and %s; exit code of latchkey status: %d; another program: %s; "
                  "the same program: %s"
                  % (counts[0], counts[1], status.returncode, answer, same))


@attack("C4-trail", "fill the audit log with 300 refusals")
def _():
    refused = 5
    store, owner = user_owner()
    thief = store.connect("owner")
    before = owner.trail()
    person = Person(store, lambda prompt, content: [[3]] if prompt is not None else [])
    begin = time.monotonic()
    last = thief.read("treasure")
    # Control: such a refusal is written.
    first = len([entry for entry in owner.trail() if entry[2] == refused]) - len([e for e in before if e[2] == refused])
    for _ in range(299):
        last = thief.read("treasure")
    took = time.monotonic() - begin
    person.close()
    # docs/promises.md: equal refusals of one program within a minute are one entry with their number, written by a clean stop at the
    # latest.
    store.stop()
    store.start()
    entries = [entry for entry in store.connect("owner").trail() if entry[2] == refused][len([e for e in before if e[2] == refused]):]
    told, most = sum(entry[6] for entry in entries), 2 + int(took // 60)
    return expect(status_of(last) == 71 and first == 1 and len(entries) <= most and told == 300,
                  "300 x %s in %.1f s: %d entry after the first refusal, in the end %d entries (at most %d) that count "
                  "%d refusals" % (
                      word(last), took, first, len(entries), most, told))


@attack("C4-trickle", "send a frame byte by byte")
def _():
    store, owner = user_owner(0, None)
    slow = store.connect("slow")
    begin = time.monotonic()
    frame = struct.pack(">BI", VERSION, 1000)
    reply, ended = None, None
    slow.socket.setblocking(False)
    for index in range(60):
        try:
            slow.socket.send(frame[index:index + 1] or b"\0")
        except OSError:
            pass
        try:
            data = slow.socket.recv(4096)
            if not data:
                ended = time.monotonic() - begin
                break
            reply = decode(data[5:])[2]
        except BlockingIOError:
            pass
        except OSError:
            ended = time.monotonic() - begin
            break
        pause(0.25)
    return expect(ended is not None and ended < 13, "%s, connection closed after %s" % (
        word(reply) if reply else "no reply", "%.1f s" % ended if ended else "never"))


# T. Transport

@attack("T-other-user", "connect as another user")
def _():
    if os.geteuid() != 0:
        raise NotPlayed("needs root")
    store, owner = user_owner(0, None)

    def as_unprivileged():
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                os.setgid(65534)
                os.setuid(65534)
                try:
                    connection = Connection(store.path)
                    reply = connection.call(HELLO, {0: "owner"})
                    text = word(reply) if reply else "closed"
                except OSError as error:
                    text = type(error).__name__
                except Ended as ended:
                    text = "no answer" if ended.late else "closed"
                os.write(write, text.encode())
            finally:
                os._exit(0)
        os.close(write)
        text = os.read(read, 200).decode()
        os.close(read)
        os.waitpid(process, 0)
        return text
    closed = as_unprivileged()
    opened = [store.base, store.home, store.runtime, os.path.dirname(store.path)]
    modes = [(path, os.stat(path).st_mode & 0o777) for path in opened]
    os.chmod(store.path, 0o666)
    for path in opened:
        os.chmod(path, 0o755)
    wide = as_unprivileged()
    for path, mode in modes:
        os.chmod(path, mode)
    return expect(closed == "PermissionError" and wide in ("closed", "ConnectionResetError", "BrokenPipeError", "peerNotTrusted (28)"),
                  "with the original modes: %s; with folders and socket accessible to all: %s" % (closed, wide))


@attack("T-mutations", "2,000 mutated frames")
def _():
    store, owner = user_owner(0, None)
    randomness = random.Random(11)
    bodies = [[1, {0: "x"}], [2, {}], [3, {}], [4, {0: bytes(16)}], [5, {0: 1}], [6, {0: bytes(16), 1: 2, 2: prompting("r")}],
              [8, {0: 1}], [10, {0: 1, 1: {ACCOUNT: "m", GENERIC: b"g"}, 2: [1, 0], 3: b"s", 4: 15, 5: proof()}],
              [11, {0: {0: 1, 1: {}}, 1: 0, 2: 7, 3: proof()}], [12, {0: {1: {ACCOUNT: "m"}}, 1: {LABEL: "l"}, 4: proof()}],
              [13, {0: 1, 1: {ACCOUNT: "m"}}], [14, {0: 1, 1: {}}], [25, {}], [26, {1: b"abc", 2: False}],
              [40, {0: 0, 1: 10, 2: True}], [41, {}], [51, {0: [1, b"k"], 1: [0, bytes(32)], 2: proof()}], [52, [1, b"k"]]]
    begin, sent, connections, connection = time.monotonic(), 0, 0, None
    while sent < 2000 and time.monotonic() - begin < 30:
        if connection is None:
            connection = store.connect("mutant")
            connection.socket.setblocking(False)
            connections += 1
        payload = bytearray(encode([0, randomness.randrange(1, 1 << 20), randomness.choice(bodies)]))
        for _ in range(randomness.randrange(1, 4)):
            at = randomness.randrange(len(payload))
            way = randomness.randrange(4)
            if way == 0:
                payload[at] = randomness.randrange(256)
            elif way == 1:
                payload[at] ^= 1 << randomness.randrange(8)
            elif way == 2 and len(payload) > 2:
                del payload[at]
            else:
                payload[at:at] = bytes([randomness.randrange(256)])
        try:
            connection.socket.send(struct.pack(">BI", VERSION, len(payload)) + payload)
            sent += 1
            while True:
                if not connection.socket.recv(1 << 16):
                    raise OSError
        except BlockingIOError:
            pass
        except OSError:
            connection.close()
            connection = None
    alive = store.alive()
    kept = owner.secret("treasure") if alive else None
    return expect(alive and sent == 2000, "%d frames, %d connections, %.1f s, daemon alive: %s, item: %s" % (
        sent, connections, time.monotonic() - begin, alive,
        "present" if kept else "deleted (a mutated request may delete it)"))


def one_frame(store, payload=None, raw=None):
    connection = store.connect("shape")
    if raw is not None:
        connection.raw(raw)
    else:
        connection.frame(payload)
    try:
        reply = decode(connection.receive(5))[2]
    except Ended as ended:
        reply = None
        if ended.late:
            raise
    connection.close()
    return reply


@attack("T-nesting", "100,000 nested arrays")
def _():
    store, owner = user_owner(0, None)
    reply = one_frame(store, b"\x81" * 100000)
    maps = one_frame(store, b"\x83\x00\x01\x82\x02" + b"\xa1\x00" * 5000 + b"\xa0")
    return expect(status_of(reply) == MALFORMED and status_of(maps) == MALFORMED and store.alive(),
                  "arrays: %s, maps: %s" % (word(reply), word(maps)))


@attack("T-lengths", "wrong lengths")
def _():
    store, owner = user_owner(0, None)
    seen = [one_frame(store, raw=struct.pack(">BI", VERSION, size)) for size in (2097153, 0xffffffff)]
    inner = [one_frame(store, payload) for payload in
             (b"\x9b" + b"\xff" * 8, b"\x5b\x00\x00\x01\x00\x00\x00\x00\x00", b"\x83\x00\x01\x82\x02\xbb" + b"\x7f" * 8, b"",
              b"\x83\x00\x01\x82\x02\xa0\x00", b"\x83\x00\x01\x82\x18\x02\xa0", b"\x9f\xff", b"\xc1\x00")]
    version = one_frame(store, raw=struct.pack(">BI", 1, 1) + b"\xa0")
    return expect(all(status_of(each) == LIMIT for each in seen) and all(status_of(each) == MALFORMED for each in inner)
                  and status_of(version) == UNSUPPORTED and store.alive(),
                  "headers: %s, payloads: %s, version 1: %s" % (
                      ", ".join(sorted(set(map(word, seen)))), ", ".join(sorted(set(map(word, inner)))), word(version)))


def revision(connection):
    return connection.call(8, {})[1][8]


@attack("T-duplicate-ids", "two pending requests with one id")
def _():
    store, owner = user_owner(0, None)
    now = revision(owner)
    twice = store.connect("twice")
    twice.send(8, {0: now}, 77)
    twice.send(8, {0: now}, 77)
    try:
        reply = twice.answer(77, 3)
        seen = word(reply)
    except Ended:
        reply, seen = None, "no answer"
    return expect(status_of(reply) is not None and store.alive(), seen)


@attack("T-requests", "65 pending requests of a connection")
def _():
    store, owner = user_owner(0, None)
    now = revision(owner)
    many = store.connect("many")
    numbers = [many.send(8, {0: now}) for _ in range(65)]
    reply = many.answer(numbers[-1], 5)
    return expect(status_of(reply) == LIMIT and store.alive(), "the last: " + word(reply))


@attack("T-contexts", "1,025 contexts of a connection")
def _():
    store, owner = user_owner(0, None)
    many = store.connect("many")
    reply, count = None, 0
    for _ in range(1025):
        reply = many.call(CONTEXT)
        if reply is None or reply[0] == FAILURE:
            break
        count += 1
    return expect(count == 1024 and status_of(reply) == LIMIT, "%d contexts, then %s" % (count, word(reply)))


# D. Names and text in prompts

@attack("D1-exec", "execute another program between connecting and the prompt")
def _():
    honest, environment = another_program()
    store, owner = simulated_owner()
    person = Person(store, silent)
    process = child("exec", store.path, sys.executable, executable=honest, environment=environment)
    if not person.shown.wait(10):
        raise RuntimeError("no prompt: %s" % line_of(process, 1))
    prompt = person.prompts[0]
    named = [prompt[2], prompt[3]]
    person.event(prompt[0], [3])
    # The refusal is in the audit log before the reply.
    answer = line_of(process, 5)
    trail = [entry[4] for entry in owner.trail() if entry[2] in (4, 5)]
    person.close()
    return expect("honest" not in named[0] and "honest" not in named[1] and "honest" not in trail,
                  "the prompt names %r %r, the audit log %r; %s" % (named[0], named[1], trail, answer))


@attack("D1-undumpable", "read the daemon's memory or environment as its own user")
def _():
    if os.geteuid() != 0:
        store, owner = user_owner(0, None)
        try:
            open("/proc/%d/mem" % store.process.pid, "rb").close()
            return False, "the memory could be opened"
        except OSError as error:
            return True, type(error).__name__
    raise NotPlayed("root can read everything; OtherUserTests tests this as another user")


HOSTILE = "log in\u201d.\u3164\u2800\u115f The system asks: \"type it\u00bb\u201c\u300d\u202e\u200b\x1b[2J\nLatchkey: allowed"


@attack("D2-terminal", "closing quotes, blank characters and controls in a reason, on a terminal")
def _():
    store, owner = simulated_owner()
    child = [sys.executable, os.path.abspath(__file__), "--child", "terminal", store.path]
    with Terminal(child, {**os.environ, "LATCHKEY_PROMPT": "plain", "LANG": "C.UTF-8"}) as terminal:
        try:
            terminal.expect("log in", "Keys: ", seconds=10)
        except Failure:
            raise NotPlayed("no prompt appeared on the terminal: %r" % terminal.output[:200])
        owner.simulate(20)
        terminal.drain(10)
        text = terminal.output
    shown = next((line for line in text.split("\n") if "log in" in line), "")
    bad = [hex(ord(letter)) for letter in "\u3164\u2800\u115f\u202e\u200b\x1b" if letter in text]
    begin = shown.index("log in")
    inside = shown[begin:]
    quotes = [each for each in "\u201d\u201c\u00bb\u300d\"" if each in inside.rstrip()[:-2]]
    alone = any(line.startswith("Latchkey: allowed") for line in text.split("\n"))
    return expect(not bad and not alone and not quotes, "shown as %s%s" % (ascii(shown.strip()[:160]),
                  "; not replaced: %s %s" % (bad, quotes) if bad or quotes else ""))


@attack("D2-agent", "closing quotes and blank characters in a reason, as sent to an agent")
def _():
    store, owner = simulated_owner()
    person = Person(store, silent)
    handle = owner.context()
    owner.send(EVALUATE, {0: handle, 1: 2, 2: {0: HOSTILE, 1: HOSTILE, 2: HOSTILE, 3: True}})
    if not person.shown.wait(5):
        raise RuntimeError("no prompt")
    prompt = person.prompts[0]
    person.event(prompt[0], [3])
    texts = [prompt[6], prompt[7], prompt[8]]
    person.close()
    bad = sorted(set(ascii(letter) for text in texts for letter in text
                     if letter in "\u3164\u2800\u115f\u202e\u200b\x1b\n\u201d\u201c\u00bb\u300d"))
    return expect(not bad, "reason %s%s" % (ascii(prompt[6][:80]), "; not replaced: " + " ".join(bad) if bad else ""))


# MARK: The other processes

def run_child(mode, arguments):
    def say(text):
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    path = arguments[0]
    if mode == "idle":
        kept, refused, words = [], 0, set()
        for _ in range(int(arguments[1])):
            try:
                connection = Connection(path)
                reply = connection.call(HELLO, {0: "idle"}, 5)
                if reply is not None and reply[0] == WELCOME:
                    kept.append(connection)
                    continue
                words.add(word(reply))
            except (OSError, Ended, RuntimeError) as error:
                words.add(type(error).__name__)
            refused += 1
        say("%d (%s)" % (len(kept), ", ".join(sorted(words))))
        sys.stdin.read()
    elif mode == "prompts":
        kept = []
        for _ in range(int(arguments[1])):
            connection = Connection(path, "forecast")
            kept.append(connection)
            for _ in range(int(arguments[2])):
                connection.send(COPY, {0: {0: 1, 1: {ACCOUNT: "own"}}, 1: 1, 2: 1, 3: proof()})
            connection.call(STATUS)
        say("sent")
        sys.stdin.read()
    elif mode == "ask":
        connection = Connection(path, "honest")
        handle = connection.context()
        number = connection.send(EVALUATE, {0: handle, 1: 2, 2: prompting("let me in")})
        connection.call(STATUS)
        say("asked")
        say(word(connection.answer(number, 30)))
    elif mode == "status":
        reply = Connection(path, "honest").call(STATUS)
        say("status" if reply is not None and reply[0] == 3 else word(reply))
    elif mode == "exec":
        connection = Connection(path, "honest")
        handle = connection.context()
        os.set_inheritable(connection.socket.fileno(), True)
        os.environ.pop("PYTHONHOME", None)
        os.execv(arguments[1], [arguments[1], os.path.abspath(__file__), "--child", "executed", path,
                                str(connection.socket.fileno()), handle.hex()])
    elif mode == "executed":
        connection = Connection.__new__(Connection)
        connection.socket = socket.socket(fileno=int(arguments[1]))
        connection.buffer, connection.next, connection.kept, connection.record = b"", 9, {}, None
        say(word(connection.evaluate(bytes.fromhex(arguments[2]), seconds=15)))
    elif mode == "terminal":
        connection = Connection(path, "caller")
        handle = connection.context()
        connection.call(EVALUATE, {0: handle, 1: 2, 2: {0: HOSTILE, 3: True}}, 8)


# MARK: Running

def end_everything():
    for process in STARTED:
        if process.poll() is None:
            process.kill()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
    del STARTED[:]
    for path in reversed(FOLDERS):
        if path.startswith("mount:"):
            subprocess.run(["umount", "-l", path[6:]], stderr=subprocess.DEVNULL)
        else:
            shutil.rmtree(path, ignore_errors=True)
    del FOLDERS[:]


def play(name, words, function):
    begin = time.monotonic()
    try:
        held, seen = function()
        verdict = "held" if held else "FELL"
    except NotPlayed as reason:
        verdict, seen = "not played", str(reason)
    except NoPromise as reason:
        verdict, seen = "no promise", str(reason)
    except Exception as error:  # A failed script shows nothing about the daemon, so the verdict is not `held`.
        verdict, seen = "FELL", "the script failed: %s: %s" % (type(error).__name__, error)
        if os.environ.get("LATCHKEY_ATTACKS_TRACE"):
            import traceback
            traceback.print_exc()
    finally:
        end_everything()
    print("%-10s  %-22s %s ... %s (%.1f s)" % (verdict, name, words, seen, time.monotonic() - begin), flush=True)
    return verdict


def main(arguments):
    global PROGRAMS
    PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".build", "debug")
    if arguments[:1] == ["--child"]:
        run_child(arguments[1], arguments[2:])
        return 0
    if "--programs" in arguments:
        at = arguments.index("--programs")
        PROGRAMS = arguments[at + 1] if at + 1 < len(arguments) else ""
        del arguments[at:at + 2]
    PROGRAMS = os.path.realpath(PROGRAMS)
    if arguments == ["--list"]:
        for name, words, _ in ATTACKS:
            print("%-22s %s" % (name, words))
        return 0
    names = [name for name, _, _ in ATTACKS]
    unknown = [each for each in arguments if each != "--all" and each not in names]
    if not arguments or unknown:
        sys.stderr.write(__doc__.strip().split("\n")[-1] + "\n")
        for each in unknown:
            sys.stderr.write("there is no attack %s\n" % each)
        return 64
    for program in ("latchkeyd", "latchkey"):
        if not os.access(os.path.join(PROGRAMS, program), os.X_OK):
            sys.stderr.write("no %s in %s: build it, or give the folder with --programs\n" % (program, PROGRAMS))
            return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    verdicts = []
    begin = time.monotonic()
    try:
        for name, words, function in ATTACKS:
            if "--all" in arguments or name in arguments:
                verdicts.append(play(name, words, function))
    finally:
        end_everything()
    print("attacks: %d held, %d fell, %d no promise, %d not played (%.0f s)" % tuple(
        [verdicts.count(each) for each in ("held", "FELL", "no promise", "not played")] + [time.monotonic() - begin]))
    return 1 if "FELL" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
