# SPDX-License-Identifier: Apache-2.0
"""What the processes of some users do to both services, and what another user notices of it. test_attacks.py runs it as root
in a machine of its own, and reads the result as JSON.

usage: attack_users.py PLAY USERS | soak SECONDS

Each play is a function that the processes of every attacking user run until they are ended. Bob measures meanwhile, and
before under the same number of processes that only use a processor.
"""

import ctypes
import errno
import json
import mmap
import os
import pathlib
import pty
import random
import signal
import socket
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time

from attack_client import AGENTS, ALICE, BOB, PUBLIC, App, Child, Ended, encode, frame, hoard, pause

# The users besides alice, whom `accounts` makes.
FIRST = 2001
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4  # linux/prctl.h
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000  # linux/sched.h
SERVICES = ("latchkeyd", "latchkey-authd")
HELLO = frame(encode([0, 1, [1, {0: "x"}]]))

PLAYS = {}


def play(*, processes):
    """Makes a function a play, which that many processes of each user run."""
    def add(function):
        PLAYS[function.__name__] = (function, processes)
        return function
    return add


# MARK: What the users do

def rest():
    while True:
        signal.pause()


@play(processes=4)
def held_connections():
    hoard(PUBLIC, 200)
    hoard(AGENTS, 200)
    hoard(PUBLIC, 100, HELLO[:7])
    rest()


@play(processes=1)
def knocking():
    while True:
        for path in (PUBLIC, AGENTS):
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(1)
            try:
                link.connect(path)
            except OSError:
                pause(0.01)
            link.close()


@play(processes=1)
def empty_frames_before_the_identification():
    data = HELLO + frame(b"") * 4096
    while True:
        try:
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(1)
            link.connect(PUBLIC)
            for _ in range(64):
                link.sendall(data)
        except OSError:
            pause(0.01)
        link.close()


@play(processes=2)
def large_environments():
    code = (f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import attack_users; "
            "attack_users.evaluations()")
    os.execve(sys.executable, ["python3", "-c", code], {f"{number:x}": "" for number in range(120_000)})


def evaluations():
    """Four connections of sixty evaluations each, again and again: each one identifies this process."""
    while True:
        apps = []
        try:
            for _ in range(4):
                apps.append(App())
            for app in apps:
                for _ in range(60):
                    app.send(6, {0: bytes(16), 1: 2, 2: {0: "x", 3: True}})
            for app in apps:
                app.answer(2, 2)
        except (OSError, Ended):
            pause(0.01)
        for app in apps:
            app.close()


@play(processes=1)
def copies_of_agents():
    for _ in range(45):
        if os.fork() == 0:
            follow_parent()
            for _ in range(6):
                link = socket.socket(socket.AF_UNIX)
                try:
                    link.connect(AGENTS)
                    link.sendall(frame(encode([0, {}])))
                except OSError:
                    # Refused; the others try as well.
                    pass
                KEPT.append(link)
            hoard(AGENTS, 4)
            rest()
    rest()


KEPT = []


def terminal_command(*argv):
    """A command on a terminal whose controlling side reads nothing: its process and the controlling side."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv("/usr/bin/latchkey", ["latchkey", *argv])
    return pid, terminal


def end_children():
    """Ends every other process of this user."""
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


@play(processes=1)
def prompts_on_stopped_terminals():
    while True:
        held = []
        for _ in range(6):
            pid, terminal = terminal_command("passcode", "set")
            held.append(terminal)
            termios.tcflow(terminal, termios.TCOOFF)
            # Output beyond its buffer blocks every process that writes to it.
            os.set_blocking(terminal, False)
            try:
                os.write(terminal, b"x" * 8192)
            except OSError:
                pass
        pause(random.uniform(0.2, 0.6))
        os.kill(-1, signal.SIGSTOP)
        pause(0.3)
        end_children()
        for terminal in held:
            os.close(terminal)


@play(processes=1)
def programs_that_are_stopped_at_their_start():
    while True:
        _, terminal = terminal_command("passcode", "set")
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            try:
                os.kill(-1, signal.SIGSTOP)
                pause(random.uniform(0, 0.02))
                os.kill(-1, signal.SIGCONT)
            except ProcessLookupError:
                pause(0.005)
        os.kill(-1, signal.SIGSTOP)
        pause(0.2)
        end_children()
        os.close(terminal)


@play(processes=2)
def wrong_application_passwords():
    def how(password):
        return {1: False, 2: {0: "", 3: False}, 3: password}
    while True:
        try:
            app = App()
            app.call(10, {0: 1, 1: {2: "stretched", 3: "attack"}, 2: [1, 1 << 31], 3: b"x", 4: 0, 5: how(b"right")}, 60)
            while True:
                numbers = [app.send(11, {0: {0: 1, 1: {2: "stretched"}}, 1: 1, 2: 1, 3: how(b"wrong")}) for _ in range(16)]
                for number in numbers:
                    app.answer(number, 60)
        except (OSError, Ended):
            pause(0.01)


@play(processes=2)
def groups_that_are_mapped():
    groups = [f"/usr/bin/{number:0200}" for number in range(256)]
    while True:
        try:
            app = App()
            numbers = [app.send(62, {0: groups}) for _ in range(60)]
            for number in numbers:
                app.answer(number, 20)
        except (OSError, Ended):
            pause(0.01)


@play(processes=1)
def items_without_end():
    number = 0
    while True:
        try:
            app = App()
            while True:
                number += 1
                app.add(f"{os.getpid()} {number}", bytes(60_000))
        except (OSError, Ended):
            pause(0.01)


@play(processes=1)
def connections_that_are_handed_over():
    while True:
        link = socket.socket(socket.AF_UNIX)
        try:
            link.connect(PUBLIC)
        except OSError:
            pause(0.01)
            continue
        child = os.fork()
        if child == 0:
            follow_parent()
            try:
                link.sendall(HELLO + frame(encode([0, 2, [2, {}]])))
                link.settimeout(1)
                link.recv(1 << 16)
            finally:
                os._exit(0)
        link.close()
        os.waitpid(child, 0)


@play(processes=1)
def memory_that_cannot_be_read():
    """Holds the lock of its own address space: a thread reads, through /proc/self/mem, a page of a file whose file system
    never answers, and another one waits in mmap(2). Reading the environment of this process then never ends."""
    folder = f"/tmp/silent-{os.getuid()}-{os.getpid()}"
    os.mkdir(folder)
    ready, going = os.pipe()
    server = os.fork()
    if server == 0:
        follow_parent()
        serve_a_silent_file(folder, going)
    os.close(going)
    if not os.read(ready, 1):
        raise RuntimeError("the file system was not mounted")
    link = socket.socket(socket.AF_UNIX)
    link.connect(PUBLIC)
    silent = os.open(f"/proc/{server}/root{folder}/silent", os.O_RDONLY)
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    address = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, silent, 0)
    threading.Thread(target=lambda: os.pread(memory, 1, address)).start()
    pause(0.3)
    threading.Thread(target=lambda: libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)).start()
    pause(0.3)
    link.sendall(HELLO)
    rest()


def serve_a_silent_file(folder, going):
    """A file system with the one file `silent`, in namespaces of its own; reading the file is never answered."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        pathlib.Path(f"/proc/self/{name}").write_text(text)
    # The kernel wants it opened in the namespace that mounts.
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={user},group_id={group}".encode()
    if libc.mount(b"silent", folder.encode(), b"fuse", 6, options) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    os.write(going, b"x")
    # linux/fuse.h: a header of 40 bytes asks, one of 16 bytes answers.
    attributes = struct.pack("<6Q10I", 1, 4096, 8, 0, 0, 0, 0, 0, 0, 0o100444, 1, user, group, 0, 4096, 0)
    root = struct.pack("<6Q10I", 1, 4096, 8, 0, 0, 0, 0, 0, 0, 0o40555, 2, user, group, 0, 4096, 0)
    valid = struct.pack("<QII", 3600, 0, 0)
    while True:
        request = os.read(device, 1 << 18)
        _, operation, unique, node = struct.unpack("<IIQQ", request[:24])
        if operation == 26:  # init
            body = struct.pack("<4I2H10I", 7, 31, 65536, 0, 12, 10, 65536, *[0] * 9)[:64]
        elif operation == 3:  # getattr
            body = valid + (root if node == 1 else attributes)
        elif operation == 1:  # lookup
            body = struct.pack("<4Q2I", 2, 0, 3600, 3600, 0, 0) + attributes
        elif operation in (14, 27):  # open, opendir
            body = struct.pack("<QII", 0, 0, 0)
        elif operation in (15, 2, 36, 42):  # read, and what needs no answer
            continue
        else:
            os.write(device, struct.pack("<IiQ", 16, -errno.ENOSYS, unique))
            continue
        os.write(device, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)


# MARK: Processes of users

def follow_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def accounts(count):
    """The ids of alice and, for more than one, of further users with an account."""
    users = range(FIRST, FIRST + count - 1)
    for user in users:
        subprocess.run(["useradd", "--uid", str(user), "--user-group", f"user{user}"], check=False, stderr=subprocess.DEVNULL)
    return [ALICE, *users]


class Attack:
    """Processes of each user that run a function, until the end of a block."""

    def __init__(self, function, users, processes):
        self.function, self.users, self.processes = function, users, processes

    def __enter__(self):
        self.children = [self.start(user) for user in self.users for _ in range(self.processes)]
        return self

    def start(self, user):
        child = os.fork()
        if child:
            return child
        try:
            os.setsid()
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            follow_parent()
            # As a process that was started as this user; its files of /proc would be of root.
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1)
            os.chdir("/")
            self.function()
        except BaseException as error:
            print(f"{self.function.__name__}: {error!r}", file=sys.stderr, flush=True)
        finally:
            os._exit(1)

    def ended(self):
        """How many of the processes have ended by themselves."""
        return sum(os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None for child in self.children)

    def __exit__(self, *_):
        for user in self.users:
            child = os.fork()
            if child == 0:
                try:
                    os.setuid(user)
                    # All of the user's but this one, so without a look into /proc, which a silent file would make endless.
                    os.kill(-1, signal.SIGKILL)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
        for child in self.children:
            os.waitpid(child, 0)


def busy():
    while True:
        pass


class Victim:
    """Bob, with an app, an agent, a passcode and items."""

    def __init__(self):
        self.agent, self.app = Child(BOB), Child(BOB)
        self.agent.do("Agent", kept="agent")
        self.app.do("App", kept="app")
        self.agent.begin("auto", "agent", None, b"right", 20)
        reply = self.app.do("app.call", 20, {0: 4}, 20)
        self.agent.end()
        if reply != [1, {}]:
            raise RuntimeError(f"bob's passcode: {reply}")
        self.app.do("app.add", "token", b"secret")
        self.app.do("app.add", "guarded", b"guarded", 16)
        self.group, self.written, self.faults = self.app.do("app.group"), 0, []

    def expect(self, good, what):
        if not good:
            self.faults.append(what)

    def measured(self, rounds):
        """The 95th percentile, in milliseconds, of a new connection that reads an item."""
        times = []
        for number in range(rounds):
            begin = time.monotonic()
            try:
                self.app.do("App", kept="fresh")
                seen = self.app.do("fresh.read", "token")
            except RuntimeError as error:
                seen = str(error)
            times.append((time.monotonic() - begin) * 1000)
            self.expect(seen == b"secret", f"read: {seen}")
            self.app.do("drop", "fresh")
            added = self.app.do("app.add", f"written {self.written}", b"x")
            self.written += 1
            self.expect(added == [1, {}], f"add: {added}")
            # Short processes of bob's, of whom none is ended by a signal.
            self.expect(os.waitstatus_to_exitcode(os.system("exec setpriv --reuid bob --regid bob --clear-groups true")) == 0,
                        "a process of bob's was ended by a signal")
            if number % 20 == 0:
                self.evaluate()
        return statistics.quantiles(times, n=20)[-1]

    def evaluate(self):
        self.agent.begin("auto", "agent", b"right", None, 15)
        try:
            seen = self.app.do("app.read", "guarded", None, True, None, 15)
        except RuntimeError as error:
            seen = str(error)
        self.expect(seen == b"guarded", f"read with the passcode: {seen}")
        try:
            self.agent.end()
        except RuntimeError as error:
            self.expect(False, f"agent: {error}")

    def verify(self):
        """What bob has lost or got after all."""
        self.expect(self.app.do("app.group") == self.group, "another group")
        for number in range(self.written):
            seen = self.app.do("app.read", f"written {number}")
            self.expect(seen == b"x", f"item {number}: {seen}")


def measure(name, count, rounds=60):
    """A play with that many attacking users, and what bob measured, in milliseconds, and lost."""
    users, victim = accounts(count), Victim()
    function, processes = PLAYS[name]
    with Attack(busy, users, 2):
        beside = victim.measured(rounds)
    victim.faults = []
    with Attack(function, users, processes) as attack:
        pause(1)
        during = victim.measured(rounds)
        ended = attack.ended()
    victim.verify()
    return {"beside": beside, "during": during, "ended": ended, "faults": victim.faults}


# MARK: The soak

def pids():
    """Every process of both services, by service."""
    found = {}
    for service in SERVICES:
        group = subprocess.run(["systemctl", "show", "-P", "ControlGroup", service], stdout=subprocess.PIPE, text=True,
                               check=True).stdout.strip()
        found[service] = pathlib.Path(f"/sys/fs/cgroup{group}/cgroup.procs").read_text().split()
    return found


def used():
    """Processes, descriptors, threads and anonymous memory in KiB of both services."""
    total = [0, 0, 0, 0]
    for numbers in pids().values():
        for pid in numbers:
            status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
            for index, value in enumerate((1, len(os.listdir(f"/proc/{pid}/fd")), int(status["Threads"]),
                                           int(status["RssAnon"].split()[0]))):
                total[index] += value
    return total


def soak(count, seconds):
    """All plays in turns for a time: what both services used before and after."""
    users, victim = accounts(count), Victim()

    def turn():
        for function, processes in PLAYS.values():
            with Attack(function, users, processes):
                pause(1)
                victim.measured(20)

    def settled():
        # The services release memory 5 s after the last event, and end what waits for a deadline within 30 s.
        pause(45)
        return used()

    turn()
    before, end, turns = settled(), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        turn()
        turns += 1
    after = settled()
    victim.verify()
    return {"turns": turns, "before": before, "after": after, "faults": victim.faults}


if __name__ == "__main__":
    print(json.dumps(soak(2, int(sys.argv[2])) if sys.argv[1] == "soak" else measure(sys.argv[1], int(sys.argv[2]))))
