# SPDX-License-Identifier: Apache-2.0
"""Measures the services of a system with many users, inside the machine as root; bench_services.py calls it.

Prints progress on standard error, and the result as JSON. The creation of items ends at its deadline, and the result
says how many there are.
usage: bench_users.py USERS ITEMS SECONDS
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

from attack_client import PUBLIC, pause
from bench_client import NO_PROMPT, Connection, median

FIRST, AT_ONCE, READS = 30_000, 4, 500
# 5 s after the last event the services release memory once (`Limits.restSeconds`), and after 30 s fprintd ends, which
# latchkey-authd is told. Neither is a wake-up of an idle service.
REST, IDLE = 36, 10
SERVICES = ("latchkeyd", "latchkey-authd")
PR_SET_PDEATHSIG = 1  # linux/prctl.h
CHILDREN = []


def pids(service):
    """The processes of a service: one that accepts connections, and one for each user."""
    group = subprocess.run(["systemctl", "show", "-P", "ControlGroup", service], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.strip()
    with open(f"/sys/fs/cgroup{group}/cgroup.procs") as file:
        return file.read().split()


def anonymous():
    """The anonymous memory of each service, in MiB."""
    result = {}
    for service in SERVICES:
        result[service] = 0
        for pid in pids(service):
            with open(f"/proc/{pid}/status") as file:
                fields = dict(line.split(":", 1) for line in file)
            result[service] += int(fields["RssAnon"].split()[0]) / 1024
    return result


def wakeups():
    """How often the threads of each service were woken, and their processor time in ms, so far."""
    result = {}
    for service in SERVICES:
        switches, nanoseconds = 0, 0
        folders = [f"/proc/{pid}/task" for pid in pids(service)]
        for task in (f"{folder}/{task}" for folder in folders for task in os.listdir(folder)):
            with open(f"{task}/status") as status, open(f"{task}/schedstat") as statistics:
                switches += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
                nanoseconds += int(statistics.read().split()[0])
        result[service] = (switches, nanoseconds / 1e6)
    return result


def idle():
    """Wake-ups and processor time of each service in a time without a request, after it has released memory."""
    pause(REST)
    before = wakeups()
    pause(IDLE)
    after = wakeups()
    return {service: [after[service][part] - before[service][part] for part in (0, 1)] for service in SERVICES}


def as_user(user, work):
    """Runs a function in a process of a user; the result is what reads its answer, one line of JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            os.write(writing, json.dumps(work()).encode() + b"\n")
            # Its connection keeps the store open until the first process ends.
            signal.pause()
        finally:
            os._exit(0)
    os.close(writing)
    CHILDREN.append(child)
    return os.fdopen(reading)


def sockets():
    """How many sockets the processes of latchkeyd have."""
    count = 0
    for folder in (f"/proc/{pid}/fd" for pid in pids("latchkeyd")):
        # Descriptors and processes end meanwhile.
        with contextlib.suppress(FileNotFoundError):
            for each in os.listdir(folder):
                with contextlib.suppress(FileNotFoundError):
                    count += os.readlink(f"{folder}/{each}").startswith("socket:")
    return count


def end_children():
    """Ends every process of a user, and waits until latchkeyd has none of their connections, of which each had one."""
    before = sockets()
    for child in CHILDREN:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    deadline = time.monotonic() + 10
    while sockets() > before - len(CHILDREN) and time.monotonic() < deadline:
        pause(0.1)


KEPT = []


def fill(items, deadline):
    connection = Connection(PUBLIC)
    KEPT.append(connection)
    for number in range(items):
        if number % 100 == 0 and time.monotonic() > deadline:
            return number
        connection.call(10, {0: 1, 1: {2: f"a{number}"}, 2: [4, 0], 3: b"secret", 4: 0, 5: NO_PROMPT})
    return items


def read(items):
    connection = Connection(PUBLIC)
    KEPT.append(connection)
    return median(READS, lambda number: connection.call(
        11, {0: {0: 1, 1: {2: f"a{number * 7919 % items}"}}, 1: 1, 2: 2, 3: NO_PROMPT}))


def answer(file):
    return json.loads(file.readline())


def main():
    users, items, seconds = map(int, sys.argv[1:])
    with open("/etc/passwd", "a") as file:
        file.write("".join(f"u{user}:x:{user}:{user}::/nonexistent:/bin/sh\n" for user in range(FIRST, FIRST + users)))
    answer(as_user(FIRST, lambda: fill(0, 0)))
    result = {"empty": anonymous(), "empty idle": idle()}
    begin = time.monotonic()
    deadline = begin + seconds
    before = wakeups()
    first = answer(as_user(FIRST, lambda: fill(items, deadline)))
    if wakeups() == before:
        raise SystemExit("error: the wake-ups of the services are not counted here")
    result["one"] = {"memory": anonymous(), "read": answer(as_user(FIRST, lambda: read(first)))}
    filled, waiting = {FIRST: first}, {}
    for user in range(FIRST + 1, FIRST + users):
        while len(waiting) >= AT_ONCE:
            earliest = min(waiting)
            filled[earliest] = answer(waiting.pop(earliest))
        waiting[user] = as_user(user, lambda: fill(items, deadline))
        print(f"  {time.monotonic() - begin:4.0f} s: {sum(filled.values())} items of {len(filled)} users",
              file=sys.stderr, flush=True)
    for user, file in waiting.items():
        filled[user] = answer(file)
    result["seconds"] = time.monotonic() - begin
    result["items"] = list(filled.values())
    result["all"] = {"memory": anonymous(), "read": answer(as_user(FIRST, lambda: read(first)))}
    result["idle"] = idle()
    result["rested"] = anonymous()
    end_children()
    result["ended"] = anonymous()
    print(json.dumps(result))


main()
