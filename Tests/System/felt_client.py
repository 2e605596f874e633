# SPDX-License-Identifier: Apache-2.0
"""Measures what a person waits for: the time from the touch, or from the Enter key after the passcode, until the command that
asked for a signature has ended. Runs inside the machine as root, in the session of alice.

usage: felt_client.py ROUNDS PAUSE PASSCODE LOG

PAUSE is how many seconds come before each first signature; LOG is that of chip_relay.py. Prints lists of [use, turn, begin, end] as JSON, in nanoseconds of the monotonic clock."""

import json
import os
import select
import sys
import time

from person_client import SECONDS, assert_signed, finger, latchkey, prepare_files, signing

# Longer than the slowest command.
REST_SECONDS = 1
# `first`: nothing is in the TPM any more after a minute. `at once`: the person answers as soon as the prompt is shown.
TURNS = ("first", "second", "at once")


def at_rest(log):
    """Waits until the TPM gets no further command: what is done while the prompt is shown is complete."""
    size, since, deadline = None, time.monotonic(), time.monotonic() + SECONDS
    while time.monotonic() - since < REST_SECONDS:
        assert time.monotonic() < deadline, "the TPM is not at rest"
        if size != (now := os.path.getsize(log)):
            size, since = now, time.monotonic()
        # Nothing reports that no command follows.
        time.sleep(0.05)


def signed(name, words, answer, turn, log):
    terminal = signing(name)
    terminal.expect(words)
    if turn != "at once":
        at_rest(log)
    ended = os.pidfd_open(terminal.pid)
    begin = time.monotonic_ns()
    answer(terminal)
    assert select.select([ended], [], [], SECONDS)[0], terminal.output
    end = time.monotonic_ns()
    os.close(ended)
    terminal.end()
    at_rest(log)
    return begin, end


def main(rounds, pause, passcode, log):
    prepare_files()
    uses = (("finger", "biometry", "Touch the sensor", lambda _: finger("touch")),
            ("passcode", "passcode", "Type your passcode", lambda terminal: terminal.type(passcode)))
    found = []
    for name, rule, *_ in uses:
        latchkey("key", "create", name, "--enclave", "--protect", rule)
    for _ in range(int(rounds)):
        for name, _, words, answer in uses:
            time.sleep(float(pause))
            found += [(name, turn, *signed(name, words, answer, turn, log)) for turn in TURNS]
            assert_signed(name)
    print(json.dumps(found))


main(*sys.argv[1:])
