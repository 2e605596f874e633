# SPDX-License-Identifier: Apache-2.0
"""An independent client of the two services, written from docs/reference/protocol.md and docs/reference/services.md. It runs as root in the
machine of `machine.py` and starts a process of another user for what that user does."""

import os
import pickle
import pwd
import resource
import select
import socket
import struct
import sys
import time

from deterministic_cbor import decode, encode

PUBLIC, AUTHD, AGENTS = "/run/latchkey/public/keychain.sock", "/run/latchkey/authd.sock", "/run/latchkey/agents.sock"
SENSOR = "/run/latchkey/sensor.sock"
ALICE, BOB = 1001, 1002


def pause(seconds):
    """Waits before the state of another process, which announces no change, is read again; the caller has a deadline."""
    time.sleep(seconds)


def frame(payload):
    return struct.pack(">BI", 1, len(payload)) + payload


# MARK: Connections

class Ended(Exception):
    """The other side ended the connection, or a deadline passed (`late`)."""

    def __init__(self, late=False):
        Exception.__init__(self, "no reply within the deadline" if late else "the connection ended")
        self.late = late


class Link:
    """A connection that carries frames."""

    def __init__(self, path=None, connected=None, name=None):
        self.socket = connected or socket.socket(socket.AF_UNIX)
        if name:
            self.socket.bind(name)
        if path:
            # As the library: waits while the queue of the listener is full, which a time limit of Python does not.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 10, 0))
            self.socket.connect(path)
        self.buffer = b""

    def close(self):
        self.socket.close()

    def raw(self, data, seconds=10):
        self.socket.settimeout(seconds)
        try:
            self.socket.sendall(data)
        except socket.timeout:
            raise Ended(late=True)
        except OSError:
            raise Ended()

    def put(self, value):
        self.raw(frame(encode(value)))

    def get(self, seconds=10):
        end = time.monotonic() + seconds
        while True:
            if len(self.buffer) >= 5:
                size = struct.unpack(">BI", self.buffer[:5])[1]
                if len(self.buffer) >= 5 + size:
                    payload, self.buffer = self.buffer[5:5 + size], self.buffer[5 + size:]
                    return decode(payload)
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
            self.buffer += piece

    def trickle(self, seconds=20):
        """Sends a byte four times a second; the seconds until the other side ends the connection, at most those."""
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            try:
                self.raw(b"\0")
            except Ended:
                break
            if select.select([self.socket], [], [], 0)[0] and not self.socket.recv(4096):
                break
            pause(0.25)
        return time.monotonic() - begin

    def ends(self, seconds=5):
        """Whether the other side closes the connection in time; what it sends before is discarded."""
        try:
            while True:
                self.get(seconds)
        except Ended as ended:
            return not ended.late


class App(Link):
    """A client of the public socket."""

    def __init__(self, name="attack", hello=None, path=PUBLIC):
        super().__init__(path)
        self.number, self.kept = 0, {}
        if name is not None:
            hello = hello or {0: name}
            self.welcome = self.call(1, hello)
            # The challenge of the tiers file and tpm, which the second hello repeats.
            if self.welcome and self.welcome[0] == 2 and 2 in self.welcome[1]:
                # Keys are sorted: those of extensions come after it.
                answer = {**hello, 3: self.welcome[1][2]}
                self.welcome = self.call(1, dict(sorted(answer.items())))

    def send(self, operation, parameters=None):
        self.number += 1
        self.put([0, self.number, [operation, {} if parameters is None else parameters]])
        return self.number

    def answer(self, number, seconds=10):
        end = time.monotonic() + seconds
        items = []
        while True:
            for reply in self.kept.pop(number, []):
                if reply[0] == 5:
                    items += reply[1][1]
                    if reply[1][0]:
                        continue
                    return [5, items]
                return reply
            message = self.get(max(0.01, end - time.monotonic()))
            if message[1] == 0 and number != 0:
                return message[2]
            self.kept.setdefault(message[1], []).append(message[2])

    def call(self, operation, parameters=None, seconds=10):
        """The reply `[kind, contents]`, or None if the connection ended."""
        try:
            return self.answer(self.send(operation, parameters), seconds)
        except Ended as ended:
            if ended.late:
                raise
            return None

    def add(self, account, secret, constraints=0, accessibility=1, group=None, seconds=10, interactive=True):
        values = {2: account, 3: "attack"}
        if group:
            values[1] = group
        how = {1: False, 2: {0: "", 3: interactive}}
        return self.call(10, {0: 1, 1: values, 2: [accessibility, constraints], 3: secret, 4: 0, 5: how}, seconds)

    def reading(self, account, context=None, interactive=True, group=None):
        how = {1: False, 2: {0: "attack", 3: interactive}}
        if context:
            how[0] = context
        values = {2: account}
        if group:
            values[1] = group
        return {0: {0: 1, 1: values}, 1: 1, 2: 1, 3: how}

    def read(self, account, context=None, interactive=True, group=None, seconds=10):
        """The secret, or the number of the failure."""
        return secret_of(self.call(11, self.reading(account, context, interactive, group), seconds))

    def read_at(self, *arguments):
        """The secret or the number of the failure, and when the reply arrived, in nanoseconds of CLOCK_MONOTONIC."""
        result = self.read(*arguments)
        return result, time.monotonic_ns()

    def log(self):
        """The audit log, each entry as [number, event, caller]."""
        entries = []
        while True:
            reply = self.call(40, {0: entries[-1][0] if entries else 0, 1: 1024, 2: False})
            if reply[0] != 20:
                raise RuntimeError(str(reply))
            if not reply[1][0]:
                return entries
            entries += [[entry[0], entry[2], entry[4]] for entry in reply[1][0]]

    def group(self):
        return self.call(2)[1].get(8)


def secret_of(reply):
    if reply is None:
        return "ended"
    if reply[0] == 0:
        return reply[1][0]
    if reply[0] == 5:
        return reply[1][0][3] if reply[1] else "nothing"
    return reply


def failure(reply):
    """The number of the status of a failure; None for another reply; "ended"."""
    if reply is None:
        return "ended"
    return reply[1][0] if reply[0] == 0 else None


class Service(Link):
    """A hostile latchkeyd: its connection to authd for a user. Calls of authd are answered by `answers` and kept in `seen`."""

    def __init__(self, uid=ALICE, path=AUTHD, answers=True):
        super().__init__(path, name=f"\0latchkey/{uid}/{os.urandom(8).hex()}")
        self.number, self.replies, self.seen, self.states = 0, {}, [], {}
        self.opens = lambda fields: [2, True]
        self.mute = not answers
        self.welcome = None
        self.pump(lambda: self.welcome is not None, 5)

    def handle(self, message):
        kind, number, body = message
        if kind == 1:
            self.replies[number] = body
            return
        self.seen.append(message)
        operation, fields = body
        if operation == 1:
            self.welcome = fields
        if operation == 2:
            self.states[fields[0]] = fields
        if self.mute or number == 0:
            return
        reply = self.opens(fields) if operation == 4 else [0, {}]
        if reply is not None:
            self.put([3, number, reply])

    def pump(self, done, seconds=5):
        """Processes messages until `done()`; False if it was not reached."""
        end = time.monotonic() + seconds
        while not done():
            left = end - time.monotonic()
            if left <= 0:
                return False
            try:
                self.handle(self.get(left))
            except Ended as ended:
                if ended.late:
                    return False
                raise
        return True

    def send(self, operation, fields, number=None):
        if number is None:
            self.number += 1
            number = self.number
        self.put([0, number, [operation, fields]])
        return number

    def call(self, operation, fields, seconds=5, number=None):
        """The reply `[operation, fields]`; None without one in time; "ended"."""
        try:
            number = self.send(operation, fields, number)
            self.pump(lambda: number in self.replies, seconds)
            return self.replies.pop(number, None)
        except Ended:
            return "ended"

    def identify(self, pid, start=None, uid=ALICE):
        return self.call(1, [pid, started(pid) if start is None else start, uid])

    def attach(self, uid=ALICE, passcode=False, locked=False):
        return self.call(2, {0: uid, 1: passcode, 2: locked, 3: b""})

    def evaluation(self, pid, start=None, uid=ALICE, plan=((2,),), purpose=0, step=0, reuse=0, code=None, reason="hostile",
                   interactive=True, challenge=None):
        fields = {0: plan, 1: [pid, started(pid) if start is None else start, uid], 3: {0: reason, 3: interactive},
                  4: purpose, 5: step, 7: reuse, 8: challenge or os.urandom(32), 9: bytes(32), 10: 0,
                  11: False}
        if code is not None:
            fields[6] = code
        return fields

    def evaluate(self, pid, seconds=5, **options):
        return self.call(3, self.evaluation(pid, **options), seconds)

    def change(self, kind, uid=ALICE):
        return self.call(5, {0: uid, 1: kind})


def process():
    """The number of this process."""
    return os.getpid()


def started(pid):
    """Field 22 of /proc/PID/stat."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[19])
    except OSError:
        return 1


class Agent(Link):
    """A program that shows prompts."""

    def __init__(self, path=AGENTS):
        super().__init__(path)
        self.put([0, {}])
        self.registered = self.get(5)
        self.shown = None  # [number, prompt]

    def await_prompt(self, seconds=10):
        """The next prompt, which is then visible."""
        while True:
            kind, contents = self.get(seconds)
            number, (what, prompt) = contents
            if what == 0:
                self.shown = [number, prompt]
                self.event([0])
                return prompt

    def event(self, event, number=None):
        self.put([3, [self.shown[0] if number is None else number, [3, event]]])

    def await_then(self, events):
        """Answers the next prompt with these events in one write."""
        number, (_, prompt) = self.get()[1]
        self.shown = [number, prompt]
        self.raw(b"".join(frame(encode([3, [number, [3, event]]])) for event in events))

    def follow(self, seconds=10):
        """The next message about the prompt: `[kind, contents]`."""
        return self.get(seconds)[1][1]


# MARK: Processes of other users

def serve(requests, replies):
    """Runs functions of this module and methods of kept values, as a process outside asks for them, until it ends."""
    values = {}
    while True:
        try:
            name, arguments, options, kept = pickle.load(requests)
        except EOFError:
            return
        try:
            if name in ("flood", "floodpids", "attaches", "count", "auto"):
                result = globals()["_" + name](values[arguments[0]], *arguments[1:])
            elif name == "set_opens":
                values[arguments[0]].opens, result = OPEN[arguments[1]], None
            elif name == "drop":
                values.pop(arguments[0], None)
                result = None
            elif "." in name:
                value, method = name.split(".")
                result = getattr(values[value], method)
                result = result(*arguments, **options) if callable(result) else result
            else:
                result = globals()[name](*arguments, **options)
            if kept:
                values[kept], result = result, None
            pickle.dump((True, result), replies)
        except BaseException as error:
            pickle.dump((False, repr(error)), replies)
        replies.flush()


class Caller:
    """Has functions run by `serve` in another process. A subclass sets the files for `requests` and `replies`."""

    requests = replies = None

    def begin(self, name, *arguments, kept=None, **options):
        pickle.dump((name, arguments, options, kept), self.requests)
        self.requests.flush()

    def end(self):
        good, result = pickle.load(self.replies)
        if not good:
            raise RuntimeError(result)
        return result

    def do(self, name, *arguments, kept=None, **options):
        """Calls a function of this module, or a method of a value that was kept before ("app.read")."""
        self.begin(name, *arguments, kept=kept, **options)
        return self.end()


class Child(Caller):
    """A process of another user that runs functions; ends with this object."""

    def __init__(self, uid, gid=None):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                ours.close()
                os.setgroups([])
                os.setgid(uid if gid is None else gid)
                os.setuid(uid)
                file = theirs.makefile("rwb")
                serve(file, file)
            finally:
                os._exit(0)
        theirs.close()
        self.requests = self.replies = ours.makefile("rwb")
        ours.close()

    def stop(self):
        self.requests.close()
        try:
            os.kill(self.pid, 9)
        except OSError:
            pass
        os.waitpid(self.pid, 0)


def touch(command="touch"):
    link = socket.socket(socket.AF_UNIX)
    link.connect(SENSOR)
    link.sendall(command.encode() + b"\n")
    return link.recv(100)


OPEN = {
    "true": lambda fields: [2, True], "false": lambda fields: [2, False], "none": lambda fields: None,
    "failure": lambda fields: [1, {0: 5, 1: ["hostile"], 2: [""]}], "wrongkind": lambda fields: [0, {}],
    "garbage": lambda fields: [2, 17],
}


def _flood(service, fields, count):
    first = service.number + 1
    for _ in range(count):
        service.send(3, dict(fields, **{}))
        if service.number % 50 == 0:
            service.pump(lambda: False, 0.001)
    service.flood = first


def _floodpids(service, fields, count):
    for index in range(count):
        service.send(3, {**fields, 1: [2000 + index, 1, ALICE]})
        if index % 50 == 0:
            service.pump(lambda: False, 0.001)


def _attaches(service, count):
    results = {}
    for uid in range(100000, 100000 + count):
        reply = service.attach(uid)
        key = str(reply)[:60] if reply != "ended" else "ended"
        if "attached before" in key or "1: 'User" in key:
            key = "refused"
        results[key] = results.get(key, 0) + 1
        if reply == "ended":
            break
    return results


def _count(service):
    service.pump(lambda: False, 0.5)
    results = {}
    for reply in service.replies.values():
        results[str(reply)[:80]] = results.get(str(reply)[:80], 0) + 1
    return results


def handed():
    """Connects in a child that then executes /usr/bin/latchkey, and uses its connection here."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        link = socket.socket(socket.AF_UNIX)
        link.connect(PUBLIC)
        socket.send_fds(theirs, [b"x"], [link.fileno()])
        os.dup2(reading, 0)
        os.execve("/usr/bin/latchkey", ["latchkey", "set", "never"], {"PATH": "/usr/bin"})
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    app = App.__new__(App)
    Link.__init__(app, connected=socket.socket(fileno=descriptors[0]))
    app.number, app.kept = 0, {}
    pause(0.2)
    welcome = app.call(1, {0: "handed"})
    result = [welcome, app.group() if welcome else None, app.read("mine") if welcome else None]
    os.kill(child, 9)
    os.waitpid(child, 0)
    return result


def answers(path, frames):
    """Sends each frame after hello, on the same connection for as long as it lasts; everything that was answered."""
    answered, link = b"", None
    for data in frames:
        try:
            if link is None:
                link = socket.socket(socket.AF_UNIX)
                link.settimeout(5)
                link.connect(path)
                link.sendall(frame(encode([0, {}] if path == AGENTS else [0, 1, [1, {0: "x"}]])))
                answered += link.recv(1 << 16)
            link.sendall(data)
            if select.select([link], [], [], 0.005)[0]:
                piece = link.recv(1 << 20)
                answered += piece
                if not piece:
                    raise OSError
        except OSError:
            link.close()
            link = None
    return answered


def refused_while_unread(count, seconds):
    """Asks for large answers, reads none of them, sends a frame that is refused, and then bytes without a pause.

    Returns after how many seconds bytes were refused, None if never, and whether the connection ended.
    """
    app = App()
    app.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(count):
        app.send(11, {0: {0: 1, 1: {}}, 1: 0, 2: 1, 3: {1: False, 2: {0: "", 3: False}}})
    app.raw(struct.pack(">BI", 9, 3) + b"\x83\0\1")
    begin, refused = time.monotonic(), None
    app.socket.setblocking(False)
    while time.monotonic() - begin < seconds:
        try:
            app.socket.send(bytes(512))
        except BlockingIOError:
            pass
        except OSError:
            refused = refused or time.monotonic() - begin
        pause(0.05)
    return refused, app.ends(2)


HELD = []


def connect_in_a_child():
    """Connects in a child, which ends before the connection is accepted; the result is the number of its process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    child = os.fork()
    if child == 0:
        link = socket.socket(socket.AF_UNIX)
        link.connect(PUBLIC)
        socket.send_fds(theirs, [b"x"], [link.fileno()])
        os._exit(0)
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    os.waitpid(child, 0)
    HELD.append(descriptors[0])
    return child


def use_of_the_child(group="/usr/bin/notes"):
    """What the connection of the child gives: its group, and the reads of an item without and with another group."""
    app = App.__new__(App)
    Link.__init__(app, connected=socket.socket(fileno=HELD.pop()))
    app.number, app.kept = 0, {}
    welcome = app.call(1, {0: "child"})
    if welcome is None or welcome[0] != 2:
        return ["ended"]
    return [app.group(), app.read("token"), app.read("token", group=group)]


HOARD = []


def hoard(path, count, data=b""):
    """Opens connections and keeps them; the result says how many were opened."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4000, 4000))
    opened = 0
    for _ in range(count):
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(2)
        try:
            link.connect(path)
            if data:
                link.send(data)
            opened += 1
        except OSError as error:
            return opened, repr(error)
        HOARD.append(link)
    return opened


def _auto(agent, current, new, seconds):
    """Answers one prompt: the current passcode, then the new one twice. Returns when the prompt ends."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kind, contents = agent.get(end - time.monotonic())
        number, (what, value) = contents
        if what == 2:
            return True
        if what == 0:
            agent.shown = [number, value]
            agent.event([0])
            value = value[15]
        if value[5] == 0:
            if value[1] in (2, 5):
                agent.event([3])
            elif value[6]:
                if value[6] > 5:
                    agent.event([3])
            elif value[8] == 1:
                # A first passcode needs the password of the account (machine.py).
                agent.event([5, b"the password of " + pwd.getpwuid(os.getuid()).pw_name.encode()])
            else:
                agent.event([5, current or b"none"])
        elif value[5] == 2 and agent.shown[1][1] == 7:
            # The word that confirms that a store is accepted.
            agent.event([10, b"accept"])
        elif value[5] == 3:
            agent.event([11, new])
        elif value[5] == 4:
            agent.event([12, new])


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
