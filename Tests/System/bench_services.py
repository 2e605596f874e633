#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the services of a system: calls in comparison with tier user, many users, and what they do when idle.

Calls are measured with the same client in Python, whose own time is part of every number.
usage: Tests/System/bench_services.py      as root, after `make build system-programs`
"""

import json
import os
import pathlib
import subprocess

import image
import machine

CLIENT = ("System/attack_client.py", "System/bench_client.py", "System/bench_users.py", "Wire/deterministic_cbor.py")
FOLDER = "/usr/local/lib/latchkey"
# The items of many users are created for at most these seconds.
USERS, ITEMS, SECONDS = 20, 10_000, 240
SERVICES = ("latchkeyd", "latchkey-authd")
# What a read may cost in comparison with tier user, how long an evaluation without a person may take, the memory of an idle
# service, and how often it may wake up.
GOALS = {"read": "goal: at most 1.10x", "evaluation": "goal: less than 1000 us"}
MEBIBYTES, WAKEUPS = "goal: less than 10", "goal: 0"


def print_calls(rounds):
    print(f"{'us a call':<12} {'user':>8} {'system':>8} {'ratio':>6}")
    for user, system in rounds:
        for name in user:
            print(f"{name:<12} {user[name]:8.1f} {system[name]:8.1f} {system[name] / user[name]:5.2f}x  {GOALS[name]}")


def print_services(title, rows):
    """Prints a table with a column for each service, and the goal of a row that has one."""
    print(f"\n{title:<44} {SERVICES[0]:>12} {SERVICES[1]:>15}")
    for name, values, *goal in rows:
        print("  ".join((f"{name:<44} {values[SERVICES[0]]:12.1f} {values[SERVICES[1]]:15.1f}", *goal)))


def print_users(found):
    items, one, many = found["items"], found["one"], found["all"]
    complete = "" if min(items) == ITEMS else f" (at most {SECONDS} s)"
    print(f"\n{sum(items)} items of {len(items)} users, {min(items)} to {max(items)} each, were created in "
          f"{found['seconds']:.0f} s{complete}")
    print(f"a read of one user: {one['read']:.1f} us alone, {many['read']:.1f} us while the stores of all are open, "
          f"{many['read'] / one['read']:.2f}x")
    print_services("MiB of anonymous memory", (
        ("idle, one user without an item", found["empty"], MEBIBYTES), (f"one user with {items[0]} items", one["memory"]),
        (f"{len(items)} users", many["memory"]),
        (f"{len(items)} users, after 46 s without a request", found["rested"], f"goal: less than {10 * len(items)}"),
        ("after the connections of all have ended", found["ended"])))
    measured = (("one user", found["empty idle"]), (f"{len(items)} users", found["idle"]))
    print_services("in 10 s, 36 s after the last request", [
        (f"{what}, {name}", {service: values[service][part] for service in SERVICES}, *goal)
        for part, (what, *goal) in enumerate((("wake-ups", WAKEUPS), ("ms of processor time",)))
        for name, values in measured])


def main():
    os.chdir(machine.CHECKOUT)
    folder, lock = image.image("machine")
    with lock, machine.Machine(folder, machine.RELEASE) as booted:
        for path in (pathlib.Path("Tests") / name for name in CLIENT):
            booted.copy(path, f"{FOLDER}/{path.name}")
        calls = booted.run("python3", f"{FOLDER}/bench_client.py", "/home/alice/store", user="alice",
                           env={"HOME": "/home/alice"}, timeout=120)
        print_calls(json.loads(calls.stdout))
        booted.run("systemctl", "stop", *SERVICES)
        with booted.start("python3", f"{FOLDER}/bench_users.py", USERS, ITEMS, SECONDS, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True) as users:
            print_users(json.loads(users.stdout.readline()))
            users.kill()


main()
