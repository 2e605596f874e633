#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks the two services of a system on a machine with systemd, and prints a verdict for each attack.

The client (attack_client.py) is written from docs/reference/services.md, docs/reference/protocol.md and docs/reference/identity.md. Each attack boots
a machine of its own. The verdicts are:

  held        the services resisted the attack
  FELL        the attack succeeded, or its script failed
  no promise  the attack succeeded, and the documents state that limit

The exit code is 1 if the verdict of an attack is FELL.

With --soak, all plays of attack_users.py run in turns for so many seconds instead.

usage: Tests/System/attack_services.py [--list | --soak SECONDS | NAME...]      as root, after `make build system-programs`
"""

import argparse
import functools
import os
import pathlib
import pwd
import random
import subprocess
import sys
import time
import traceback

import attack_users
from attack_client import ALICE, AGENTS, AUTHD, BOB, PUBLIC, Child, encode, failure, frame, started, struct, touch

# The event with the password of the account, which a first passcode needs (machine.py).
ACCOUNT = [5, b"the password of alice"]

ATTACKS = {}
RESULTS = []


def attack(function):
    ATTACKS[function.__name__] = function
    return function


def expect(good, tried, seen, otherwise="FELL"):
    """Prints the line of one attack."""
    verdict = "held" if good else otherwise
    RESULTS.append(verdict)
    print(f"{verdict:<11} {tried}: {str(seen)[:200]}", flush=True)


def shell(command, user=None):
    prefix = ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--reset-env", "env", "-i",
              "PATH=/usr/bin:/bin"] if user else []
    done = subprocess.run([*prefix, "sh", "-c", command], capture_output=True, text=True, timeout=60)
    return (done.stdout + done.stderr).strip()


def stop_services():
    shell("systemctl stop latchkeyd latchkey-authd; systemctl reset-failed")


def attempt(child, *arguments, **options):
    """The result of a call, or the text of its failure."""
    try:
        return child.do(*arguments, **options)
    except RuntimeError as error:
        return str(error)


class Hostile:
    """A hostile latchkeyd with a caller and an agent of alice."""

    def __init__(self, passcode=b"1234", fresh=True):
        shell("systemctl stop latchkeyd.socket")
        stop_services()
        if fresh:
            shell("rm -rf /var/lib/latchkey-authd/1*")
        service = pwd.getpwnam("latchkey")
        self.child, self.caller, self.agent = Child(service.pw_uid, service.pw_gid), Child(ALICE), Child(ALICE)
        self.connect(False)
        self.agent.do("Agent", kept="agent")
        if passcode:
            self.evaluate([ACCOUNT, [11, passcode], [12, passcode]], plan=[], purpose=8, step=3)
            self.call("s.change", 5)
            self.connect(True)

    def connect(self, passcode):
        self.child.do("drop", "s")
        end = time.monotonic() + 5
        while "Ended" in str(attempt(self.child, "Service", kept="s")) and time.monotonic() < end:
            pass
        return self.call("s.attach", ALICE, passcode)

    def call(self, *arguments, **options):
        return attempt(self.child, *arguments, **options)

    def evaluate(self, events, wait=3, **options):
        """Evaluates, answers the prompt with events, then cancels it; the reply, and the prompt or None."""
        self.child.begin("s.evaluate", options.pop("pid", self.caller.pid), wait, **options)
        prompt = last = None
        try:
            prompt = self.agent.do("agent.await_prompt", 1)
            for event in events:
                if isinstance(event, str):
                    touch(event)
                else:
                    self.agent.do("agent.event", event)
                last = self.agent.do("agent.follow", 15)
                if last[0] == 2:
                    break
            if not last or last[0] != 2:
                self.agent.do("agent.event", [3])
                self.agent.do("agent.follow", 3)
        except RuntimeError:
            pass
        return self.child.end(), prompt

    def counters(self):
        self.call("s.identify", self.caller.pid)
        return self.call("s.states")[ALICE][3]


# MARK: a hostile latchkeyd

@attack
def hostile_removes_the_passcode():
    h = Hostile()
    before = shell("stat -c %s /var/lib/latchkey-authd/1001/passcodes")
    expect(failure_of(h.call("s.change", 6)), "passcodeRemoved without an evaluation", "refused")
    h.evaluate([[5, b"aaaa"], [5, b"bbbb"], [5, b"cccc"]])
    counted = h.counters()
    reply, prompt = h.evaluate([], plan=[], purpose=5)
    removed = h.call("s.change", 6)
    after = shell("stat -c %s /var/lib/latchkey-authd/1001/passcodes")
    expect(removed != [0, {}], "evaluation of an empty plan for purpose 5, then passcodeRemoved: is the record kept?",
           f"prompt {prompt}, reply {removed}, record {before} -> {after} bytes")
    expect(h.counters()[1] == counted[1], "the same: is the count of wrong passcodes kept?",
           f"{counted} -> {h.counters()}")


@attack
def hostile_replaces_the_passcode_by_a_touch():
    for purpose, plan, attached in ((5, [[1]], True), (5, [[1, 2]], True), (6, [], True), (6, [[1]], True), (5, [], False), (6, [], False)):
        h = Hostile()
        h.connect(attached)
        h.evaluate(["touch"] if plan else [], plan=plan, purpose=purpose)
        removed = h.call("s.change", 6)
        expect(removed != [0, {}], f"record removed after plan {plan}, purpose {purpose}, attached with passcode {attached}", removed)
    for purpose, plan in ((4, [[1]]), (4, [[1, 2]]), (8, []), (8, [[1]]), (0, []), (0, [[1]])):
        h = Hostile()
        _, prompt = h.evaluate((["touch"] if plan else []) + [[11, b"zzzz"], [12, b"zzzz"]], plan=plan, purpose=purpose, step=3)
        committed = h.call("s.change", 5)
        expect(committed != [0, {}], f"new passcode after plan {plan}, purpose {purpose}", committed)


@attack
def hostile_changes_the_passcode():
    h = Hostile()
    expect(failure_of(h.call("s.change", 5)), "passcodeCommitted without a new passcode", "refused")
    h.evaluate([[5, b"aaaa"], [5, b"bbbb"], [5, b"cccc"]])
    reply, prompt = h.evaluate([[11, b"zzzz"], [12, b"zzzz"]], plan=[], purpose=4, step=3)
    committed = h.call("s.change", 5)
    expect(committed != [0, {}], "empty plan for a change, while entry is delayed: is the current passcode asked for?",
           f"first step {prompt and prompt[14][5]}, committed {committed}")
    h = Hostile()
    h.connect(False)
    reply, prompt = h.evaluate([ACCOUNT, [11, b"zzzz"], [12, b"zzzz"]], plan=[], purpose=8, step=3)
    committed = h.call("s.change", 5)
    expect(committed != [0, {}], "attach as if no passcode were set, then set a first one beside authd's record",
           f"committed {committed}")


@attack
def hostile_counts():
    h = Hostile()
    h.child.do("set_opens", "s", "false")
    reply, _ = h.evaluate([[5, b"1234"]])
    expect(reply[0] != 3, "open answered with not-opened for the right passcode: granted?", reply)
    # The try is counted before it is verified, and taken back after the reply.
    deadline = time.monotonic() + 2
    while h.counters()[1] != 0 and time.monotonic() < deadline:
        time.sleep(0.02)
    expect(h.counters()[1] == 0, "the same: an unauthenticated wrong changes no counter (PROTOCOLS.md 3)", h.counters())
    h.child.do("set_opens", "s", "true")
    reply, _ = h.evaluate([[5, b"abcd"]])
    expect(reply[0] == 1, "open answered with opened for a wrong passcode", reply)
    before = h.counters()
    for kind in (1, 2, 3, 4):
        h.call("s.change", kind)
    h.connect(False)
    h.connect(True)
    expect(h.counters()[1] >= before[1], "locks, unlocks and attaches change no count", f"{before} -> {h.counters()}")
    h.child.do("set_opens", "s", "none")
    begin = time.monotonic()
    reply, _ = h.evaluate([[5, b"1234"]], wait=20)
    expect(reply is not None and reply[0] == 1 and time.monotonic() - begin < 15, "open never answered",
           f"{reply} after {time.monotonic() - begin:.1f} s")


@attack
def hostile_biometry():
    h = Hostile()
    expect(failure_of(h.call("s.call", 6, {0: ALICE, 1: "x", 2: True})), "grants a face permission", "refused")
    h.evaluate([], plan=[], purpose=1)
    h.call("s.change", 2)
    expect(6 not in h.call("s.states")[ALICE], "unlocked after an unlock without a method: by biometry?", "no")
    h.evaluate(["touch"], plan=[[1]])
    h.call("s.change", 1)
    h.call("s.change", 2)
    reply, prompt = h.evaluate([], plan=[[1]], reuse=300)
    expect(prompt is not None and reply[0] == 1, "a touch for an app counts as an unlock", reply)
    h.call("s.change", 1)
    h.evaluate(["touch"], plan=[[1]], purpose=1)
    h.call("s.change", 2)
    h.call("s.change", 1)
    h.call("s.change", 2)
    reply, prompt = h.evaluate([], plan=[[1]], reuse=300)
    expect(prompt is not None and reply[0] == 1, "one touch for two unlocks", reply)


@attack
def hostile_names():
    h, bob = Hostile(), Child(BOB)
    label = h.call("s.identify", bob.pid, uid=ALICE)[1]
    expect(label[3] == ["user:1001"], "a process of bob named as one of alice", label)
    for text, options in (("a wrong start time", {"start": 77}), ("a dead process", {"pid": 999999, "start": 7}),
                          ("a process of root", {"pid": 1}), ("a process of bob", {"pid": bob.pid})):
        reply, prompt = h.evaluate([], **options)
        expect(prompt is None or prompt[2] == "A program that could not be determined" and "/" not in prompt[3],
               f"evaluation for {text}: named by authd as a program?", prompt and prompt[2:4])
    expect("not attached" in str(h.evaluate([], uid=BOB, pid=bob.pid)[0]), "a user who is not attached", "refused")
    for uid in (65534, 0xFFFFFFFF):
        reply = h.call("s.attach", uid)
        expect(reply != [0, {}], f"attach of {uid} (identity.md: refused)", reply)
        h.connect(True)
    for step, code in ((0, b"CODE"), (2, b"CODE"), (3, b"CODE"), (1, None), (1, b"")):
        reply, prompt = h.evaluate([], plan=[], purpose=2, step=step, code=code)
        expect(prompt is None, f"recovery code {code} in step {step}", reply)


@attack
def hostile_floods():
    h, bob, agent = Hostile(None), Child(BOB), Child(BOB)
    agent.do("Agent", kept="agent")
    expect(failure_of(h.call("s.attach", BOB)), "bob on alice's connection", "refused")
    h.child.do("Service", BOB, kept="b")
    h.call("b.attach", BOB)
    h.child.do("flood", "s", h.call("s.evaluation", h.caller.pid, plan=[], purpose=8, step=3), 10000)
    begin = time.monotonic()
    h.child.begin("b.evaluate", bob.pid, 10, uid=BOB, plan=[], purpose=8, step=3)
    shown = attempt(agent, "agent.await_prompt", 5)
    delay = time.monotonic() - begin
    attempt(agent, "agent.event", [3])
    h.child.end()
    expect(isinstance(shown, list) and delay < 1, "10,000 evaluations of alice: the prompt of bob", f"{delay:.3f} s")
    h.connect(False)
    results = h.child.do("attaches", "s", 10000)
    expect("ended" not in results, "10,000 attaches are limited", results)
    h.connect(False)
    for name, data in (("a frame of 4 GiB", struct.pack(">BI", 2, 0xFFFFFFFF)), ("another version", b"\1\0\0\0\0"),
                       ("an empty frame", frame(b"")), ("nested arrays", frame(b"\x81" * 1000)),
                       ("an indefinite length", frame(b"\x9f\xff")), ("a tag", frame(b"\xc0\0")),
                       ("two equal keys", frame(b"\xa2\0\0\0\0")), ("an array of 2^64", frame(b"\x9b" + b"\xff" * 8)),
                       ("bytes after the item", frame(encode([0, 1, [1, [1, 1, 1]]]) + b"\0")),
                       ("a head that is not the shortest", frame(b"\x83\x18\0\1\x82\1\x83\1\1\1")),
                       ("a reply without a call", frame(encode([3, 77, [0, {}]]))),
                       ("a call of the other side", frame(encode([2, 1, [1, {}]]))),
                       ("half a frame", struct.pack(">BI", 2, 100) + b"x")):
        h.connect(False)
        h.call("s.raw", data)
        expect(h.call("s.ends", 12) is True, f"{name} ends the connection", "yes")
    h.connect(False)
    service = pwd.getpwnam("latchkey")
    other = Child(service.pw_uid, service.pw_gid)
    expect("Ended" in str(attempt(other, "Service", kept="s")), "a second connection of latchkeyd", "closed")
    expect(h.call("s.identify", h.caller.pid)[0] == 2, "the first one goes on", "yes")
    for uid, gid in ((ALICE, ALICE), (ALICE, service.pw_gid)):
        seen = attempt(Child(uid, gid), "Service", kept="s")
        expect("Permission" in str(seen) or "Ended" in str(seen), f"authd.sock as user {uid}, group {gid}", seen)
    seen = shell("cat /var/lib/latchkey-authd/1001/*; for pid in $(pidof latchkey-authd); do head -c 1 /proc/$pid/mem; "
                 "cat /proc/$pid/environ; ls /proc/$pid/fd; strace -p $pid; kill -9 $pid; done", "latchkey")
    expect(h.call("s.identify", h.caller.pid)[0] == 2 and all(
        "ermi" in line or "denied" in line or "not perm" in line or not line.strip() for line in seen.splitlines()),
        "files, memory and signals of authd as the user latchkey", seen.replace("\n", " | "))


def failure_of(reply):
    return isinstance(reply, list) and reply[0] == 1


# MARK: the public socket

@attack
def programs_are_told_apart():
    expect("/usr/bin/latchkey" in shell("latchkey status | grep group", "alice"),
           "with the shipped unit a program of root has its path as identity", shell("latchkey status | grep group", "alice"))
    allow_path_identities()
    shell("echo topsecret | latchkey set --protect none mine", "alice")
    expect(shell("latchkey get mine", "alice") == "topsecret", "the program reads its item (without NoNewPrivileges)", "yes")
    a, b = Child(ALICE), Child(BOB)
    for hello in ({0: "/usr/bin/latchkey"}, {0: "x", 2: ["/usr/bin/latchkey"]}, {0: "x", 130: 1002}):
        a.do("App", kept="app", hello=hello)
        seen = [a.do("app.group"), a.do("app.read", "mine"), a.do("app.read", "mine", group="/usr/bin/latchkey")]
        expect(seen == ["user:1001", 44, 45], f"hello {hello}", seen)
    b.do("App", kept="app")
    expect(b.do("app.read", "mine", group="/usr/bin/latchkey") == 45, "the item of another user", "missingEntitlement")
    for name, command in (
            ("LD_PRELOAD", "LD_PRELOAD=/lib/x86_64-linux-gnu/libsqlite3.so.0 latchkey get mine"),
            ("a copy in the home folder", "cp /usr/bin/latchkey /tmp/alices; /tmp/alices get mine"),
            ("a debugger", "strace -f -o /dev/null latchkey get mine"),
            ("the dynamic loader", "/lib64/ld-linux-x86-64.so.2 /usr/bin/latchkey get mine"),
            ("a user namespace", "unshare -r latchkey get mine"),
            ("a mount over the path", "unshare -Urm sh -c 'mount --bind /tmp/alices /usr/bin/latchkey; latchkey get mine'")):
        seen = shell(command, "alice")
        expect("topsecret" not in seen, name, seen)
    shell("cp /usr/bin/latchkey /usr/local/bin/suid; chown bob /usr/local/bin/suid; chmod 4755 /usr/local/bin/suid")
    expect("topsecret" not in shell("/usr/local/bin/suid get mine", "alice"), "a program with set-user-ID", "nothing")
    shell("cp -L /usr/bin/python3 /usr/bin/notes")
    who = "cd /opt/attack; {} -c 'from attack_client import *; print(App().group())'"
    expect(shell(who.format("/usr/bin/notes"), "alice") == "/usr/bin/notes", "a client of a program of root", "its path")
    expect(shell(who.format("PYTHONPATH=/tmp /usr/bin/notes"), "alice") == "user:1001", "PYTHONPATH", "user")
    expect(shell(who.format("python3"), "alice") == "user:1001", "a script", "user")
    seen = attempt(a, "handed")
    expect("topsecret" not in str(seen), "a connection handed over by a process that executes the program", seen, "no promise")
    a.do("App", kept="one")
    a.do("App", kept="two")
    handle = a.do("one.call", 3)[1]
    expect(a.do("two.read", "x", context=handle) == 79, "the handle of another connection", "invalidContext")
    for operation, parameters in ((15, {}), (20, {0: 1, 1: b"abcd"}), (20, {0: 2, 1: b"abcd"}), (30, {0: 5, 1: 1}), (31, {})):
        expect(failure(a.do("one.call", operation, parameters)) == 7, f"operation {operation} {parameters}", "notPermitted")
    expect(failure(a.do("one.call", 45, {})) == 74, "a forgotten passcode where none is set", "passcodeNotSet")
    overflow = Child(65534)
    attempt(overflow, "App", kept="app")
    seen = attempt(overflow, "app.welcome")
    expect(not isinstance(seen, list) or seen[0] == 0, "the user 65534 on the public socket", seen)


def allow_path_identities():
    shell("mkdir -p /run/systemd/system/latchkey-authd.service.d; printf '[Service]\nNoNewPrivileges=no\n' "
          "> /run/systemd/system/latchkey-authd.service.d/x.conf; systemctl daemon-reload")
    stop_services()


@attack
def floods_of_the_public_sockets():
    a = Child(ALICE)
    a.do("App", kept="app")

    def slowest():
        begin = time.monotonic()
        for _ in range(50):
            a.do("app.read", "x")
        new = Child(ALICE)
        welcome = attempt(new, "App", kept="app") or new.do("app.welcome")
        new.stop()
        return (time.monotonic() - begin) / 51 if isinstance(welcome, list) and welcome[0] == 2 else 99

    quiet = slowest()
    hello = frame(encode([0, 1, [1, {0: "x"}]]))
    for name, path, count, data in (
            ("connections", PUBLIC, 300, b""), ("half frames", PUBLIC, 100, hello[:7]),
            ("large frames", PUBLIC, 16, hello + struct.pack(">BI", 2, 2 << 20) + bytes(150000)),
            ("connections of agents", AGENTS, 600, b"")):
        bobs = [Child(BOB) for _ in range(6)]
        for bob in bobs:
            bob.do("hoard", path, count, data)
        seen = slowest()
        expect(seen < max(0.05, 20 * quiet), f"{name} of bob: alice's requests", f"{seen * 1e3:.2f} ms, quiet {quiet * 1e3:.2f} ms")
        agent = Child(ALICE)
        attempt(agent, "Agent", kept="agent")
        expect(attempt(agent, "agent.registered") == [1, {}], f"{name} of bob: alice's agent registers", "yes")
        for child in bobs + [agent]:
            child.stop()


@attack
def first_connection():
    for when in ("after boot", "after a stop of both"):
        a = Child(ALICE)
        attempt(a, "App", kept="app")
        seen = attempt(a, "app.welcome")
        expect(isinstance(seen, list) and seen[0] == 2, f"the first connection {when} is served", seen)
        stop_services()


# MARK: agents

@attack
def hostile_agents():
    a, agent, second, bob = Child(ALICE), Child(ALICE), Child(ALICE), Child(BOB)
    a.do("App", kept="app")
    bob.do("Agent", kept="agent")
    seen = attempt(a, "app.call", 20, {0: 4})
    expect(isinstance(seen, list) and failure(seen) == 84, "an agent of bob for a prompt of alice", seen)
    agent.do("Agent", kept="agent")
    second.do("Agent", kept="agent")
    expect(second.do("agent.registered") == [2, 1], "a second agent", "refused")
    expect(second.do("agent.ends", 15) is True, "the connection of a refused agent is closed", "15 s")
    second.stop()
    agent.begin("auto", "agent", None, b"1234", 20)
    set_reply = attempt(a, "app.call", 20, {0: 4}, 20)
    attempt(agent, "drop", "agent") if set_reply != [1, {}] else agent.end()
    expect(set_reply == [1, {}], "a passcode is set at the prompt", set_reply)
    a.do("app.add", "guarded", b"guardedsecret", 1)
    for name, event, number in (
            ("a touch in tier file", [6, True], None), ("a confirmation", [7], None), ("a new passcode", [11, b"1234"], None),
            ("a recovery code", [10, b"1234"], None), ("a code that is written down", [9], None),
            ("an answer to another prompt", [5, b"1234"], 12345), ("1,025 bytes", [5, b"1" * 1025], None),
            ("an unknown event", [77], None)):
        a.begin("app.read", "guarded", None, True, None, 10)
        attempt(agent, "agent.await_prompt", 3)
        attempt(agent, "agent.event", event, number)
        attempt(agent, "agent.event", [3])
        seen = a.end()
        expect(seen != b"guardedsecret", f"the agent sends {name}", seen)
        if attempt(agent, "agent.ends", 0.3) is not False:
            agent.do("drop", "agent")
            while "Ended" in str(attempt(agent, "Agent", kept="agent")) or agent.do("agent.registered") != [1, {}]:
                pass
    a.begin("app.read", "guarded", None, True, None, 10)
    attempt(agent, "agent.await_prompt", 3)
    for number in range(60):
        bob.do("agent.event", [3], number)
    expect("deadline" in str(attempt(bob, "agent.get", 1)), "bob's agent answers numbers of alice's prompts", "nothing happens")
    attempt(agent, "drop", "agent")
    expect(a.end() == 73, "an agent that is killed ends the prompt", "systemCancel")
    for name, value in (("makes a request", [0, 1, [2, {}]]), ("registers twice", [0, {}])):
        attempt(agent, "Agent", kept="agent")
        agent.do("agent.put", value)
        expect(agent.do("agent.ends", 3) is True, f"an agent that {name} is closed", "yes")


# MARK: ends of services, and files

@attack
def authority_is_killed():
    expect("tier" in shell("latchkey status", "alice"), "before", "reached")
    shell("kill -9 $(pidof latchkey-authd)")
    end, seen = time.monotonic() + 25, ""
    while time.monotonic() < end and not seen.startswith("tier"):
        time.sleep(2)
        seen = shell("latchkey status", "alice")
    expect(seen.startswith("tier"), "authd is killed: does latchkeyd connect again within 25 s?", seen.split("\n")[0])


class Person:
    """A program of alice and her agent, who answers every prompt with a passcode."""

    def __init__(self):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            self.app, self.agent = Child(ALICE), Child(ALICE)
            if not attempt(self.app, "App", kept="app"):
                self.status = attempt(self.app, "app.call", 2)
                if isinstance(self.status, list) and self.status[0] == 3:
                    self.agent.do("Agent", kept="agent")
                    self.status = self.status[1]
                    return
            self.stop()
        raise RuntimeError("the services were not reached")

    def stop(self):
        self.app.stop()
        self.agent.stop()

    def operate(self, number, current, new=None, during=None):
        self.agent.begin("auto", "agent", current, new, 8)
        self.app.begin("app.call", 20, {0: number}, 15)
        if during:
            during()
        try:
            reply = self.app.end()
        except RuntimeError as error:
            reply = str(error)
        try:
            self.agent.end()
        except RuntimeError:
            pass
        return reply

    def opens(self, passcode):
        self.agent.begin("auto", "agent", passcode, None, 8)
        seen = attempt(self.app, "app.read", "guarded", None, True, None, 15)
        try:
            self.agent.end()
        except RuntimeError:
            pass
        return seen == b"guardedsecret"


@attack
def items_of_another_store():
    person = Person()
    person.operate(4, None, b"good1")
    person.app.do("app.add", "mine", b"of alice")
    group = person.app.do("app.group")
    old = {0: 1, 1: {1: group, 2: "mine", 3: "attack", 6: 1}, 2: [1, 0], 3: b"planted"}
    key = {0: 3, 1: {1: group, 35: "com.apple.setoken", 36: bytes([4]) * 65}, 2: [1, 0], 3: b"chosen"}

    def page(ticket, items, last):
        return 61, {0: ticket, 1: items, 2: last}

    def ticket():
        person.agent.begin("auto", "agent", b"good1", None, 8)
        reply = person.app.do("app.call", 60, {}, 15)
        person.agent.end()
        return reply[1]

    thief, bob = Child(ALICE), Child(BOB)
    thief.do("App", kept="app")
    bob.do("App", kept="app")
    for made_up in (bytes(16), os.urandom(16)):
        seen = failure(thief.do("app.call", *page(made_up, [old], True)))
        expect(seen == 79, "items with a made-up ticket", seen)
    for malformed in (b"", bytes(15), bytes(17)):
        seen = failure(thief.do("app.call", *page(malformed, [old], True)))
        expect(seen == 1, f"items with a ticket of {len(malformed)} bytes", seen)
    seen = failure(bob.do("app.call", *page(ticket(), [old], True)))
    expect(seen == 79, "the ticket of another user", seen)
    stolen = ticket()
    expect(thief.do("app.call", *page(stolen, [old, key], False)) == [1, {}], "a ticket claimed by another process", "accepted")
    seen = failure(person.app.do("app.call", *page(stolen, [old], True)))
    expect(seen == 79, "the same ticket on a second connection", seen)
    seen = thief.do("app.call", *page(stolen, [], True))
    expect(seen[0] == 41 and seen[1][0] == 0, "an older item and a key of the enclave with a stolen ticket", seen)
    expect(person.app.do("app.read", "mine") == b"of alice", "the item is unchanged", "yes")
    seen = failure(thief.do("app.call", *page(stolen, [], True)))
    expect(seen == 79, "a ticket after its use", seen)
    late = ticket()
    person.app.do("app.call", 23)
    seen = failure(thief.do("app.call", *page(late, [old], True)))
    expect(seen == 79, "a ticket after a lock", seen)
    expect(failure(thief.do("app.call", 63, {0: late})) == 7, "the system's keychain moves itself", "notPermitted")


@attack
def services_are_killed_during_changes():
    person, current, wrong, rounds = Person(), None, [], 40
    for index in range(rounds):
        number, new = (4, b"pc%04d" % index) if current is None else (5, b"pc%04d" % index) if random.random() < .7 else (3, None)
        names = random.choice((["latchkeyd"], ["latchkey-authd"], ["latchkeyd", "latchkey-authd"]))
        delay = random.uniform(0, {3: .32, 4: .42, 5: .62}[number])

        def kill():
            time.sleep(delay)
            shell(f"kill -9 $(pidof {' '.join(names)})")

        reply = person.operate(number, current, new, kill)
        person.stop()
        stop_services()
        person = Person()
        if person.status[6]:
            if current is None:
                person.app.do("app.add", "guarded", b"guardedsecret", 16)
            right = [code for code in (current, new) if code and person.opens(code)]
            if len(right) > 1:
                right = [code for code in right if person.opens(code)]
            if len(right) != 1 or (reply == [1, {}] and right[0] != new):
                wrong.append((index, number, names, round(delay, 3), reply, right))
                break
            current = right[0]
        else:
            if number == 5 or (number == 4 and reply == [1, {}]):
                wrong.append((index, number, names, round(delay, 3), reply, "no passcode"))
            current = None
    expect(not wrong, f"{rounds} kills during set, change and remove: old or new passcode, never none or both", wrong)


@attack
def disk_is_full():
    folder = "/var/lib/latchkey-authd"
    # A connection that waits at a socket would start the service while its folder is replaced.
    sockets = "latchkeyd.socket latchkey-authd.socket latchkey-agents.socket"
    shell(f"systemctl stop {sockets}")
    stop_services()
    shell(f"rm -rf {folder}; mkdir -m 700 {folder}; mount -t tmpfs -o size=400k,mode=700 t {folder}")
    shell(f"systemctl start {sockets}")
    person = Person()
    person.operate(4, None, b"good1")
    person.app.do("app.add", "guarded", b"guardedsecret", 16)
    shell(f"dd if=/dev/zero of={folder}/fill bs=1k")
    expect(not person.opens(b"wrong") and person.opens(b"good1"), "full disk: a wrong, then the right passcode", "counted in place")
    reply = person.operate(5, b"good1", b"good2")
    expect(failure(reply) == 27 and person.opens(b"good1") and not person.opens(b"good2"), "full disk: a change", reply)
    person.opens(b"good1")
    reply = person.operate(3, b"good1")
    still = person.app.do("app.call", 2)[1][6]
    shell(f"rm {folder}/fill")
    again = person.operate(4, None, b"good3") if not still else person.operate(5, b"good1", b"good3")
    expect(failure(reply) == 27 or not still and again == [1, {}], "full disk: a removal that is acknowledged took place",
           f"removal {reply}, passcode set afterwards: {still}; with space again: {again}")


# MARK: several users

for _number, _count in (("one", 1), ("sixteen", 16)):
    for _play in attack_users.PLAYS:
        ATTACKS[f"{_number}_{_play}"] = functools.partial(attack_users.measure, expect, _play, _count)


# MARK: the host

def inside(name, soak):
    """Runs an attack in its machine."""
    try:
        if soak:
            attack_users.soak(expect, 2, soak)
        else:
            if name != "first_connection" and not name.startswith(("one_", "sixteen_")):
                Person().stop()
            ATTACKS[name]()
    except Exception:
        expect(False, f"{name} (its script failed)", traceback.format_exc().replace("\n", " ")[-190:])
    return 1 if "FELL" in RESULTS else 0


def main():
    parser = argparse.ArgumentParser(description="Attacks the two services of a system; needs root.")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--soak", type=int, default=0, metavar="SECONDS")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.list:
        print("\n".join(ATTACKS))
        return 0
    names = ["soak"] if options.soak else options.names or ATTACKS
    if options.inside:
        return inside(names[0], options.soak)
    if os.geteuid() != 0:
        print("skip  the attacks on both services: only root can boot a machine in new namespaces")
        return 1 if os.environ.get("CI") == "true" else 0
    from machine import CHECKOUT, Machine
    image = pathlib.Path(subprocess.run([CHECKOUT / "scripts/system-image", "machine"], stdout=subprocess.PIPE, text=True,
                                        check=True).stdout.strip())
    programs = CHECKOUT / ".build/static/release"
    fallen = False
    for name in names:
        print(f"-- {name}", flush=True)
        with Machine(image, programs) as machine:
            machine.copy(programs / "latchkey-authd-testing", "/usr/libexec/latchkey-authd")
            machine.run("sh", "-c", "echo 'allow-virtual-hardware = yes' >> /etc/latchkey/latchkeyd.conf; for unit in "
                        "latchkeyd latchkey-authd; do mkdir -p /run/systemd/system/$unit.service.d; printf "
                        "'[Unit]\\nStartLimitIntervalSec=0\\n' > /run/systemd/system/$unit.service.d/y.conf; done; "
                        "systemctl daemon-reload; systemctl start latchkeyd.socket latchkey-authd.socket latchkey-agents.socket")
            for file in ("attack_services.py", "attack_users.py", "attack_client.py", "../Wire/deterministic_cbor.py"):
                path = pathlib.Path(__file__).parent / file
                machine.copy(path, f"/opt/attack/{path.name}")
            done = subprocess.run(
                machine.command(["python3", "-u", "/opt/attack/attack_services.py", "--inside", "--soak", str(options.soak), name]),
                env=machine._environment, timeout=options.soak + 1200, stdin=subprocess.DEVNULL)
            fallen = fallen or done.returncode != 0
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main())
