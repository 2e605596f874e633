# SPDX-License-Identifier: Apache-2.0
"""What processes of alice do to both services, and what bob notices of it (docs/design/decisions/044-process-per-user.md)."""

import statistics
import subprocess
import time

import pytest

from clients import DONE, NOT_FOUND, SECRET, SET_PASSCODE, ClientTest
from machine import fact
from services import AUTHORITY, KEYCHAIN, RECORDS, STORES, filled

MINE = "/usr/bin/latchkey-test-target"
# Connections that a program tries to have.
FLOOD = 400
# Requests of a program that wait for its identification (`Limits`).
WAITING_FRAMES = 64

# Opens connections to the paths of argv[2:] and holds as many as it gets; prints the number, and waits.
HOLD = """
import socket, sys, time
held = []
for path in sys.argv[2:]:
    for number in range(int(sys.argv[1])):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(2)
        try:
            connection.connect(path)
        except OSError:
            break
        held.append(connection)
print(len(held), flush=True)
sys.stdin.read()
"""

# Connects and, without an answer, closes again, for as long as its input is open.
KNOCK = """
import os, select, socket, sys
count = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    for path in sys.argv[1:]:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(1)
        try:
            connection.connect(path)
        except OSError:
            pass
        connection.close()
        count += 1
    if count == len(sys.argv) - 1:
        print("begun", flush=True)
print(count)
"""

# Connects, executes argv[1] with the connection in a child, and prints what the child gets for reading the item argv[2].
HAND_OVER = """
import os, sys
sys.path.insert(0, "/usr/local/lib/latchkey")
import attack_client
link = attack_client.App(None)
early = sys.argv[3] == "early"
if early:
    # The requests of the child's work are sent before the program is executed.
    number = link.send(1, {0: "x"})
    reading = link.send(11, link.reading(sys.argv[2], interactive=False))
reader, writer = os.pipe()
if os.fork() == 0:
    os.close(writer)
    # Ends when the process executes the program, which closes its end.
    os.read(reader, 1)
    try:
        if early:
            print(link.answer(number), link.answer(reading))
        else:
            hello = link.call(1, {0: "x"})
            if hello and hello[0] == 2:
                link.call(1, {0: "x", 3: hello[1][2]})
            print(hello, link.read(sys.argv[2], interactive=False))
    except Exception as error:
        print(repr(error))
    sys.stdout.flush()
    os._exit(0)
os.execv(sys.argv[1], [sys.argv[1], "-c", "import os; os.wait()"])
"""


class IsolationTest(ClientTest):
    """Bob has an app with an item, and measures how long it takes."""

    def setUp(self):
        super().setUp()
        self.bobs = self.app("bob")
        self.assertEqual(self.bobs.do("app.add", "token", SECRET), DONE)

    def measured(self, count=40):
        """The 95th percentile of a new connection of bob's that reads an item, in milliseconds; every one succeeds."""
        times = []
        for number in range(count):
            begin = time.monotonic()
            client = self.bobs
            client.do("App", kept="fresh")
            self.assertEqual(client.do("fresh.read", "token"), SECRET)
            times.append((time.monotonic() - begin) * 1000)
            client.do("fresh.close")
            self.assertEqual(client.do("app.add", f"written {number} {begin}", b"x"), DONE)
        return statistics.quantiles(times, n=20)[-1]

    def assertUnharmed(self, name, before):
        """Bob is at most 50 ms slower than before, and what the processor's other work makes of that."""
        during = self.measured()
        fact(name, f"bob: {before:.1f} ms before, {during:.1f} ms meanwhile (95th percentile)")
        self.assertLess(during, 2 * before + 50)

    def running(self, code, *argv, user="alice"):
        process = self.machine.start("python3", "-c", code, *argv, user=user, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


class WorkerTests(IsolationTest):
    @pytest.mark.promise("users.separate")
    def test_processes_of_alice_that_are_stuck_cost_bob_nothing(self):
        self.app().do("app.add", "mine", SECRET)
        before = self.measured()
        stuck = [self.process_of(KEYCHAIN), self.process_of(AUTHORITY)]
        for pid in stuck:
            self.machine.run("kill", "-STOP", pid)
        try:
            holder = self.running(HOLD, str(FLOOD), "/run/latchkey/public/keychain.sock", "/run/latchkey/agents.sock")
            self.assertGreater(int(holder.stdout.readline()), 100)
            self.assertUnharmed("stuck processes of another user", before)
            # A process of bob's that is started meanwhile is ready, too.
            for unit in (KEYCHAIN, AUTHORITY):
                self.machine.run("kill", "-KILL", self.process_of(unit, "bob"))
            self.bobs = self.app("bob")
            self.assertEqual(self.bobs.do("app.read", "token"), SECRET)
        finally:
            for pid in stuck:
                self.machine.run("kill", "-CONT", pid, check=False)

    @pytest.mark.promise("users.stuck")
    def test_services_stop_although_a_process_of_a_user_does_not(self):
        self.app().do("app.add", "mine", SECRET)
        pid = self.process_of(KEYCHAIN)
        self.machine.run("kill", "-STOP", pid)
        self.machine.run("systemctl", "stop", "latchkeyd.socket", KEYCHAIN)
        self.assertEqual(self.machine.run("ls", f"/proc/{pid}", check=False).returncode, 2)
        self.machine.run("systemctl", "start", "latchkeyd.socket")

    def test_a_process_of_a_user_that_was_killed_is_started_again(self):
        for unit in (KEYCHAIN, AUTHORITY):
            self.machine.run("kill", "-KILL", self.process_of(unit, "bob"))
            done = self.latchkey("get", "token", user="bob", program="/usr/bin/latchkey", check=False)
            self.assertIn(done.returncode, (0, 66), done.stderr)

    def test_users_without_an_account_get_no_process_and_no_folder(self):
        self.measured(2)
        knocking = ("import os, sys; os.setgroups([]); os.setresgid(*[int(sys.argv[1])] * 3); "
                    "os.setresuid(*[int(sys.argv[1])] * 3); sys.path.insert(0, '/usr/local/lib/latchkey'); "
                    "import attack_client; print(attack_client.App().welcome[1][1])")
        done = self.machine.run("python3", "-c", knocking, "300000")
        self.assertIn("has no account", done.stdout)
        for folder in (STORES, RECORDS):
            self.assertNotIn("300000", self.machine.run("ls", folder).stdout)
        self.assertEqual([words for words in self.processes(KEYCHAIN).values() if "300000" in words], [])


class FloodTests(IsolationTest):
    @pytest.mark.promise("users.share")
    def test_connections_that_alice_holds_leave_bob_his_own(self):
        self.app()
        before = self.measured()
        held = 0
        for number in range(4):
            process = self.running(HOLD, "100", "/run/latchkey/public/keychain.sock", "/run/latchkey/agents.sock")
            held += int(process.stdout.readline())
        self.assertGreater(held, 200)
        self.assertUnharmed("connections that another user holds", before)
        agent = self.agent("bob")
        with self.typing(agent, None, b"bob's passcode"):
            self.assertEqual(self.bobs.do("app.call", 20, {0: SET_PASSCODE}, 20), DONE)

    def test_a_flood_of_connections_costs_bob_no_more_than_the_processor_time(self):
        self.app()
        # The same load outside of the services: the flood, and what its user's processes may do for it.
        code = "import sys, select\nwhile not select.select([sys.stdin], [], [], 0)[0]: pass"
        busy = [self.running(code) for _ in range(2)]
        before = self.measured()
        for process in busy:
            process.kill()
        flood = self.running(KNOCK, "/run/latchkey/public/keychain.sock", "/run/latchkey/agents.sock")
        self.assertEqual(flood.stdout.readline(), "begun\n")
        self.assertUnharmed("a flood of connections", before)
        flood.stdin.close()
        fact("connections of the flood", flood.stdout.readline().strip())

    def test_large_environments_of_alice_do_not_delay_bob(self):
        before = self.measured()
        # 1 MiB in 250,000 entries, in each of four programs that connect again and again.
        code = ("import os, sys\n"
                "os.execve('/usr/bin/python3', ['python3', '-c', sys.argv[1], *sys.argv[2:]], "
                "{f'{n:x}': '' for n in range(120_000)})")
        floods = [self.running(code, KNOCK, "/run/latchkey/public/keychain.sock") for _ in range(2)]
        for flood in floods:
            self.assertEqual(flood.stdout.readline(), "begun\n")
        self.assertUnharmed("large environments", before + 20)
        for flood in floods:
            flood.kill()

    def test_a_flood_of_slow_requests_of_alice_does_not_delay_bob(self):
        before = self.measured()
        floods = []
        for number in range(4):
            flood = self.client()
            flood.do("App", kept="app")
            flood.begin("app.call", 12, {0: {0: 1, 1: {}}, 1: {}, 4: {1: False, 2: {0: "", 3: False}}}, 1)
            floods.append(flood)
        process = self.running(HOLD, "60", "/run/latchkey/public/keychain.sock")
        process.stdout.readline()
        self.assertUnharmed("slow requests", before)


class SenderTests(ClientTest):
    """A connection is for the process that made it, and for the program that it executes."""

    def hand_over(self, manner):
        done = self.machine.run("python3", "-c", HAND_OVER, MINE, "token", manner, user="alice", check=False)
        return done.stdout

    @pytest.mark.promise("users.connection")
    def test_a_child_gets_no_item_of_the_program_that_its_parent_executes(self):
        mine = self.app(program=self.program(MINE))
        mine.do("app.add", "token", SECRET)
        for manner in ("late", "early"):
            for _ in range(4):
                seen = self.hand_over(manner)
                self.assertNotIn(SECRET.decode(), seen)
        # The program itself still reads it.
        self.assertEqual(self.app(program=MINE).do("app.read", "token"), SECRET)
        self.assertEqual(self.app().do("app.read", "token"), NOT_FOUND)

    def test_requests_of_a_program_that_is_not_identified_are_few(self):
        self.app()
        authority = self.process_of(AUTHORITY)
        self.machine.run("kill", "-STOP", authority)
        try:
            client = self.client()
            client.do("App", None, kept="app")
            for _ in range(WAITING_FRAMES + 1):
                client.do("app.send", 2)
            reply = client.do("app.answer", 1)
            self.assertIn("may not send more", filled(*reply[1][1]))
            self.assertTrue(client.do("app.ends", 5))
        finally:
            self.machine.run("kill", "-CONT", authority)
