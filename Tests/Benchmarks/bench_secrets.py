# SPDX-License-Identifier: Apache-2.0
"""The Secret Service: one client of libsecret with each provider, beside the calls of the bus alone, and beside a provider that
has one item in memory and does nothing but answer.

All have stores, buses and folders of this run. A round measures them in turn, so that a busy moment hits all.

usage: scripts/bench secrets [quick]      `quick` leaves out 10,000 items"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from providers import gnome_keyring, keyring_environment, private_bus
from store import PROGRAMS, SIMULATED, Store

CLIENT = os.environ.get("LATCHKEY_BENCH_KEYRING", "")
FIXED = str(pathlib.Path(CLIENT).with_name("fixed-provider"))
SERVICE, SECRET = "bench", "a token of forty characters, as a forge gives"
ROUNDS, STORES = 200, 20
# Calls of the bus for one lookup of libsecret with an open session: SearchItems and GetSecrets.
CALLS = 2


class Provider:
    """A bus with a provider, and a client on it."""

    def __init__(self, folder, environment):
        folder.mkdir(mode=0o700)
        self.bus, address = private_bus(folder)
        self.environment = {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environment(folder), "DBUS_SESSION_BUS_ADDRESS": address}
        self.process = self.begin()
        self.client = subprocess.Popen(
            [CLIENT, SERVICE, SECRET], env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.client.stdout.readline() == "ready\n", f"{self.name} does not answer"

    def timed(self, verb, account):
        """Microseconds of a call."""
        self.client.stdin.write(f"{verb} {account}\n")
        self.client.stdin.flush()
        answer = self.client.stdout.readline()
        assert not answer.startswith("error"), f"{self.name}: {answer}"
        return int(answer) / 1000

    def fill(self, start, end):
        for number in range(start, end):
            self.timed("add", f"account{number}")

    def memory(self, *kinds):
        """KiB of memory of these kinds that the provider alone uses."""
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return sum(int(line.split()[1]) for line in text.splitlines() if line.split(":")[0] in kinds)

    def wake_ups(self, seconds):
        """Times that the idle provider was given the processor."""
        def count():
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
            return sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches" in line)
        before = count()
        # There is no event to wait for: what is measured is that nothing happens.
        time.sleep(seconds)
        return count() - before

    def end(self):
        for process in (self.client, self.process, self.bus):
            process.terminate()
            process.wait()


class Latchkey(Provider):
    name = "latchkey-secrets"

    def __init__(self, folder):
        self.store = Store(SIMULATED)
        super().__init__(folder, lambda _: self.store.environment)

    def begin(self):
        program = f"{PROGRAMS}/latchkey-secrets"
        subprocess.run([program, "enable"], env=self.environment, stdout=subprocess.DEVNULL, check=True)
        return subprocess.Popen([program, "--serve"], env=self.environment, stdout=subprocess.DEVNULL)

    def end(self):
        super().end()
        self.store.__exit__()


class Gnome(Provider):
    name = "gnome-keyring"

    def __init__(self, folder):
        super().__init__(folder, keyring_environment)

    def begin(self):
        return gnome_keyring(self.environment)


class Fixed(Provider):
    name = "fixed-provider"

    def __init__(self, folder):
        super().__init__(folder, keyring_environment)

    def begin(self):
        file = f"{self.environment['HOME']}/written"
        return subprocess.Popen([FIXED, SECRET, file], env=self.environment)


def row(*cells):
    print(f"{cells[0]:<44}" + "".join(f"{cell:>14}" for cell in cells[1:]), flush=True)


def measure(ours, fixed, theirs, count, rounds, stores):
    providers = [provider for provider in (ours, fixed, theirs) if provider]
    samples = {(provider, verb): [] for provider in providers for verb in ("read", "ping", "add")}
    for turn in range(rounds):
        account = f"account{turn * 7919 % count}"
        for provider in providers:
            samples[provider, "read"].append(provider.timed("read", account))
            samples[provider, "ping"].append(sum(provider.timed("ping", account) for _ in range(CALLS)))
            if turn < stores:
                samples[provider, "add"].append(provider.timed("add", f"new{turn}"))
                provider.timed("clear", f"new{turn}")
    median = {key: statistics.median(values) for key, values in samples.items()}
    calls = median[ours, "ping"]
    for verb, name, floor in (("read", f"lookup of 1 of {count:,}, µs", calls), ("add", f"store at {count:,}, µs", None)):
        mine, least, other = (median.get((provider, verb)) for provider in (ours, fixed, theirs))
        row(name, f"{mine:.0f}", f"{floor:.0f}" if floor else "", f"{mine / floor:.2f}x" if floor else "",
            f"{least:.0f}", f"{mine / least:.2f}x", *((f"{other:.0f}", f"{other / mine:.1f}x") if other else ("-", "-")))


def main():
    if not CLIENT:
        sys.exit("skip  the Secret Service: the client of libsecret cannot be built")
    with tempfile.TemporaryDirectory(prefix="lk-secrets.") as name:
        folder = pathlib.Path(name)
        ours, fixed, theirs = Latchkey(folder / "ours"), None, None
        try:
            fixed, theirs = Fixed(folder / "fixed"), Gnome(folder / "theirs")
            row("", "latchkey", "bus calls", "ratio", "answers only", "ratio", "gnome-keyring", "to latchkey")
            ours.fill(0, 1000)
            theirs.fill(0, 1000)
            measure(ours, fixed, theirs, 1000, ROUNDS, STORES)
            if sys.argv[1:] != ["quick"]:
                # Without gnome-keyring, which writes its whole file for each item: to fill it would take an hour.
                ours.fill(1000, 10_000)
                measure(ours, fixed, None, 10_000, ROUNDS, STORES)
            # What was written needs memory or swap; pages of the program's file are read again when they are needed.
            for name, kinds in (("idle: memory that was written, KiB", ("Private_Dirty",)),
                                ("idle: and pages of files, KiB", ("Private_Dirty", "Private_Clean"))):
                row(name, f"{ours.memory(*kinds)}", "", "", "", "", f"{theirs.memory(*kinds)}", "")
            row("idle: wake-ups in 5 s", f"{ours.wake_ups(5)}", "", "", "", "", f"{theirs.wake_ups(5)}", "")
        finally:
            for provider in filter(None, (ours, fixed, theirs)):
                provider.end()


if __name__ == "__main__":
    main()
