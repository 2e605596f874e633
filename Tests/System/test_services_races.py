# SPDX-License-Identifier: Apache-2.0
"""Many processes at once: no update is lost, none waits for ever, and one item is added once."""

import json
import os
import subprocess

import pytest

from machine import fact
from services import ServiceTest

# A user has at most 64 connections, of which some are those of processes that have just ended.
USERS, PROCESSES, ROUNDS = ("alice", "bob"), 32, 3

# Begins when standard input ends, adds the same item, and prints the exit status.
RACE = 'cat; echo "$1" | latchkey set --protect none race 2>/dev/null; echo $?'
# Writes an item of its own and reads it, ROUNDS times; reads and lists those of others between; prints its last value.
MIXED = """
set -e
for round in $(seq $2); do
    echo "$1 $round" | latchkey set --protect none --replace "own $1"
    [ "$(latchkey get "own $1")" = "$1 $round" ]
    latchkey get shared >/dev/null
    echo "$1" | latchkey set --protect none --replace shared
    latchkey list --json >/dev/null
    echo x | latchkey set --protect none "short $1"
    latchkey delete "short $1" >/dev/null
done
latchkey get "own $1"
"""
ADDED, EXISTS = 0, 73


class RaceTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.remove_stores()
        self.addCleanup(self.remove_stores)

    def together(self, user, script, *arguments, stdin=subprocess.DEVNULL):
        """Runs a script as a user in many processes at once, each with its own arguments."""
        return [subprocess.Popen(self.machine.command(["sh", "-c", script, "sh", *map(str, each)], user=user),
                                 stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for each in arguments]

    @pytest.mark.promise("abuse.38")
    def test_of_many_processes_that_add_the_same_item_one_succeeds_abuse38(self):
        self.status()
        waited, start = os.pipe()
        running = self.together("alice", RACE, *((number,) for number in range(PROCESSES)), stdin=waited)
        os.close(waited)
        # All of them read until the end of the same pipe.
        os.close(start)
        statuses = [int(process.communicate(timeout=120)[0]) for process in running]
        self.assertEqual((statuses.count(ADDED), statuses.count(EXISTS)), (1, PROCESSES - 1), statuses)
        self.assertEqual(self.latchkey("get", "race").stdout, f"{statuses.index(ADDED)}\n")
        self.assertEqual(len(json.loads(self.latchkey("list", "--json").stdout)), 1)

    @pytest.mark.promise("abuse.37")
    def test_many_processes_that_write_and_read_lose_no_update_abuse37(self):
        for user in USERS:
            self.latchkey("set", "--protect", "none", "shared", user=user, input="-")
        running = {user: self.together(user, MIXED, *((number, ROUNDS) for number in range(PROCESSES)))
                   for user in USERS}
        for processes in running.values():
            for number, process in enumerate(processes):
                output, errors = process.communicate(timeout=300)
                self.assertEqual((process.returncode, output, errors), (0, f"{number} {ROUNDS}\n", ""))
        self.stop_services()
        for user in USERS:
            names = {item["name"] for item in json.loads(self.latchkey("list", "--json", user=user).stdout)}
            self.assertEqual(names, {"shared"} | {f"own {number}" for number in range(PROCESSES)})
            self.latchkey("check", user=user)
        fact("processes at once", f"{PROCESSES} of each of two users, {2 * PROCESSES * ROUNDS * 7} calls, none lost")
