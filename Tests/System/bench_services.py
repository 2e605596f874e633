#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a read and an evaluation without a person through the system's services with those of tier user, in one run.

Both are measured with the same client in Python, whose own time is part of every number.
usage: Tests/System/bench_services.py      as root, after `make build system-programs`
"""

import json
import os
import pathlib
import subprocess

import machine

CLIENT = ("System/attack_client.py", "System/bench_client.py", "Wire/deterministic_cbor.py")


def main():
    os.chdir(machine.CHECKOUT)
    image = pathlib.Path(subprocess.run(["scripts/system-image", "machine"], stdout=subprocess.PIPE, text=True,
                                        check=True).stdout.strip())
    with machine.Machine(image, pathlib.Path(".build/static/release")) as booted:
        for path in (pathlib.Path("Tests") / name for name in CLIENT):
            booted.copy(path, f"/usr/local/lib/latchkey/{path.name}")
        result = booted.run("python3", "/usr/local/lib/latchkey/bench_client.py", "/home/alice/store", user="alice",
                            env={"HOME": "/home/alice"}, timeout=120)
    print(f"{'us a call':<12} {'user':>8} {'system':>8} {'ratio':>6}")
    for user, system in json.loads(result.stdout):
        for name in user:
            print(f"{name:<12} {user[name]:8.1f} {system[name]:8.1f} {system[name] / user[name]:5.2f}x")


main()
