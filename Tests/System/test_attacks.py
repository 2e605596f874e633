# SPDX-License-Identifier: Apache-2.0
"""Other users attack both services while bob works: each attack in a machine of its own. These take long."""

import json
import os

import pytest

import attack_users
from machine import CHECKOUT, Machine, MachineTest, fact

pytestmark = pytest.mark.long
FOLDER = "/opt/attack"
FILES = ("System/attack_users.py", "System/attack_client.py", "Wire/deterministic_cbor.py")
# Tests end services more often than systemd's limit of starts permits.
DROP_IN = "[Unit]\nStartLimitIntervalSec=0\n"
# What an item of bob's may take longer than beside other work, in milliseconds.
ALLOWED = 50
SECONDS = int(os.environ.get("LATCHKEY_SOAK", "120"))


@pytest.fixture
def attack(machine_image):
    """Runs attack_users.py in a new machine, and returns its result."""
    def run(*arguments, seconds=1200):
        return json.loads(machine.run("python3", f"{FOLDER}/attack_users.py", *arguments, timeout=seconds).stdout)

    with Machine(MachineTest.image, MachineTest.programs) as machine:
        for unit in ("latchkeyd", "latchkey-authd"):
            machine.write(f"/run/systemd/system/{unit}.service.d/limit.conf", DROP_IN)
        machine.run("systemctl", "daemon-reload")
        machine.run("systemctl", "start", "latchkeyd.socket", "latchkey-authd.socket", "latchkey-agents.socket")
        for name in FILES:
            path = CHECKOUT / "Tests" / name
            machine.copy(path, f"{FOLDER}/{path.name}")
        yield run
        print(machine.journal())


@pytest.mark.parametrize("users", (1, 16))
@pytest.mark.parametrize("play", attack_users.PLAYS)
def test_bob_is_served_in_time_and_loses_nothing(attack, play, users):
    found = attack(play, users)
    fact(f"{play}, users: {users}", f"bob {found['during']:.1f} ms, {found['beside']:.1f} beside other work")
    assert found["ended"] == 0, "processes of the attack have ended"
    assert found["faults"] == []
    assert found["during"] <= found["beside"] + ALLOWED


@pytest.mark.timeout(SECONDS + 1200)
def test_all_attacks_in_turns_leave_nothing_behind(attack):
    """Processes, descriptors, threads and memory end where they began; LATCHKEY_SOAK is the number of seconds."""
    found = attack("soak", SECONDS, seconds=SECONDS + 1100)
    fact("soak", f"{found['turns']} turns: {found['before']} processes, descriptors, threads, KiB before, {found['after']} after")
    assert found["faults"] == []
    *counts, memory = zip(found["before"], found["after"])
    assert all(after <= before for before, after in counts)
    assert memory[1] <= memory[0] * 1.1
