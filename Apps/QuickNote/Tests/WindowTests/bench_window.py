# SPDX-License-Identifier: Apache-2.0
"""Measures the window of a release build: from its start to its first frame, and from the password to 1,000 notes.

usage: scripts/bench notes
"""

import statistics
import subprocess
import time

from accessible import until
from notes_screen import Machine, NOTE_WRITER

NOTES, RUNS = 1000, 7


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC) * 1000


def times(window):
    return {w[1]: float(w[2]) for line in window.said().splitlines() if (w := line.split()) and w[0] == "time:"}


def wait(window, event):
    until(lambda: event in times(window), lambda: f"{event} was not reported:\n{window.said()}", every=0.005)
    return times(window)[event]


def tell(words, values, goal):
    print(
        f"{words}: median {statistics.median(values):.0f} ms, {min(values):.0f} to {max(values):.0f} ms, "
        f"{len(values)} runs, goal {goal} ms")


def main():
    with Machine() as machine:
        subprocess.run([NOTE_WRITER, "notes", str(NOTES)], env=machine.environment, check=True)
        starts, unlocks, fingers = [], [], []
        for _ in range(RUNS):
            begin = now()
            window = machine.open("--times")
            starts.append(wait(window, "visible") - begin)
            window.sees("Your Notes Are Locked")
            window.press_button("Use Password")
            window.sees(lambda t: (n := t.named("Password", "password text")) and n.focused)
            window.enter("pw")
            unlocks.append(wait(window, "notes") - times(window)["password"])
            window.end()
            window = machine.open("--times")
            window.sees("Your Notes Are Locked")
            window.keys("Return")
            window.sees("Put your finger on the sensor.")
            machine.happens("prompt: touchID, tries left: 3", len(fingers) + 1)
            begin = now()
            machine.sim("touch")
            fingers.append(wait(window, "notes") - begin)
            window.end()
        tell("start to first frame", starts, 300)
        tell(f"password to {NOTES} notes drawn (scrypt included)", unlocks, 200)
        tell(f"finger to {NOTES} notes drawn (start of `latchkey` included)", fingers, 200)


main()
