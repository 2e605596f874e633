# SPDX-License-Identifier: Apache-2.0
"""Measures both services as a person at the machine notices them: the time from `evaluatePolicy` to the visible prompt,
the time from a recognised finger to the secret, and the time in which both services start. `make bench PART=services` runs it
with run.py.

A queued touch is used as soon as the prompt is visible, so the duration of a call is that time plus the reply.
"""

import statistics
import subprocess

from clients import FOLDER, SECRET, ClientTest
from desktops import WithDesktop
from fingers import WithFingers
from fprint import WithFprintd
from machine import CHECKOUT, RELEASE, fact
from modules import install_compiled
from prompts import PromptTest
from sensors import WithSensor
from services import SERVICES

BUILT, APP = RELEASE / "latchkey-test-client", "/usr/bin/vault"
ROUNDS = 31
# The first request of a program that waits at the socket of systemd, with the answer of both services.
START = f"""
import sys, time
sys.path.insert(0, "{FOLDER}")
import attack_client
begin = time.perf_counter()
assert attack_client.App().call(2)[0] != 0
print((time.perf_counter() - begin) * 1000)
"""
# The same for two services that only answer, with the units of Latchkey's under other names.
FLOOR, FLOOR_FOLDER = "/usr/libexec/start-floor", "/run/start-floor"
FLOOR_UNITS = {"latchkey-authd": "floor-authority", "latchkeyd": "floor-keychain"}
FLOOR_SOCKETS = [f"{name}.socket" for name in FLOOR_UNITS.values()]
START_FLOOR = f"""
import socket, time
begin = time.perf_counter()
with socket.socket(socket.AF_UNIX) as caller:
    caller.connect("{FLOOR_FOLDER}/public/keychain.sock")
    assert caller.recv(1) == b"!"
print((time.perf_counter() - begin) * 1000)
"""

# Prints when each match arrives that fprintd announces, in nanoseconds of CLOCK_MONOTONIC.
WATCH = """
import time
from gi.repository import Gio, GLib
bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
def received(bus, sender, path, interface, name, arguments):
    now = time.monotonic_ns()
    if arguments[0] == "verify-match":
        print(now, flush=True)
bus.signal_subscribe(None, "net.reactivated.Fprint.Device", "VerifyStatus", None, None, 0, received)
# The answer of the bus, which has the rule of the subscription by then.
bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", None, None, 0, -1, None)
print("ready", flush=True)
GLib.MainLoop().run()
"""


def row(values, goal):
    values = sorted(values)
    return (f"median {statistics.median(values):.1f} ms, fastest {values[0]:.1f}, slowest {values[-1]:.1f} "
            f"(of {len(values)}; goal {goal})")


class PromptBench(WithSensor, WithDesktop, PromptTest):
    def test_the_prompt_is_visible(self):
        seat = self.enterContext(self.machine.seat("alice"))
        self.machine.copy(BUILT, APP)
        self.addCleanup(self.machine.run, "rm", "-f", APP)
        self.desktop(seat)
        # The first window of a program loads fonts and icons; the agent starts with the session.
        times = [self.evaluated(seat) for _ in range(1 + ROUNDS)][1:]
        fact("prompt visible", row(times, 150))

    def evaluated(self, seat):
        """The milliseconds of a call of `evaluatePolicy` that a queued touch answers."""
        self.finger("touch")
        process = seat.start(APP, "evaluate", "--reason", "bench", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             text=True)
        words = process.communicate(timeout=30)[0].split()
        self.assertEqual(words[:1], ["granted"], words)
        return float(words[1]) / 1000


class FingerBench(WithFprintd, WithFingers, ClientTest):
    def test_a_recognised_finger_releases_a_secret(self):
        """The time by which the reply to the app is later than fprintd's signal at another program of the bus."""
        watcher = self.machine.start("/usr/bin/python3", "-c", WATCH, stdout=subprocess.PIPE, text=True)
        self.addCleanup(watcher.communicate)
        self.addCleanup(watcher.kill)
        self.assertEqual(watcher.stdout.readline(), "ready\n")
        times = []
        for _ in range(1 + ROUNDS):
            self.first.begin("app.read_at", "any", None, True, None, 20)
            self.asked()
            self.finger("touch")
            secret, replied = self.first.end()
            self.assertEqual(secret, SECRET)
            times.append((replied - int(watcher.stdout.readline())) / 1e6)
            self.await_end()
        fact("fprintd's match to the secret in the app", row(times[1:], 2))


class StartBench(PromptTest):
    def test_both_services_start(self):
        for path in ("Tests/System/attack_client.py", "Tests/Wire/deterministic_cbor.py"):
            self.machine.copy(CHECKOUT / path, f"{FOLDER}/{path.rsplit('/', 1)[1]}")
        self.install_floor()
        times, floors = [], []
        for _ in range(ROUNDS):
            times.append(self.started(SERVICES, START))
            floors.append(self.started([f"{name}.service" for name in FLOOR_UNITS.values()], START_FLOOR))
        fact("start of both services to the first answer", row(times, "20 above the next line"))
        fact("the same, two programs that only answer", row(floors, "none: systemd and Latchkey's settings"))
        fact("what the services themselves take", f"{statistics.median(times) - statistics.median(floors):.1f} ms")

    def started(self, services, request):
        """The milliseconds in which stopped services answer a request."""
        self.machine.run("systemctl", "stop", *services)
        self.machine.run("systemctl", "reset-failed", *services, check=False)
        return float(self.machine.run("/usr/bin/python3", "-c", request, user="alice").stdout)

    def install_floor(self):
        """Installs services that only answer, whose units differ from Latchkey's in names, paths and programs."""
        install_compiled(self, "start_floor.c", FLOOR)
        for name, other in FLOOR_UNITS.items():
            for kind in ("socket", "service"):
                unit = (CHECKOUT / f"packaging/systemd/{name}.{kind}").read_text()
                # The second socket of latchkey-authd is for agents.
                unit = unit.replace(" latchkey-agents.socket", "").replace("/run/latchkey/", f"{FLOOR_FOLDER}/")
                unit = unit.replace("/usr/libexec/latchkeyd --system", f"{FLOOR} {FLOOR_FOLDER}/authd.sock")
                unit = unit.replace("/usr/libexec/latchkey-authd", FLOOR).replace("AppArmorProfile", "#")
                for before, after in FLOOR_UNITS.items():
                    unit = unit.replace(f"{before}.s", f"{after}.s")
                self.machine.add_unit(f"{other}.{kind}", unit)
        self.machine.run("systemctl", "start", *FLOOR_SOCKETS)
        self.addCleanup(self.machine.run, "systemctl", "stop", *FLOOR_SOCKETS,
                        *(f"{name}.service" for name in FLOOR_UNITS.values()))


del PromptTest, ClientTest
