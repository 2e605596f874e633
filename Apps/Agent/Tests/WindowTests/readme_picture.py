# SPDX-License-Identifier: Apache-2.0
"""Writes the picture of a prompt that the README shows.

The prompt comes from this program instead of a daemon, so that the process that it names is always the same one. The same
agent, fonts and theme give the same file.

usage: scripts/with-display /usr/bin/python3 -B Apps/Agent/Tests/WindowTests/readme_picture.py FILE
"""

import sys

from shown_prompt import ASKS_FOR_FINGER, ShownPrompt, prompt


def main(file):
    with ShownPrompt(prompt(ASKS_FOR_FINGER)) as shown:
        shown.prompt.reads("Touch the sensor.")
        # A palette and no date: a small file, and the same one each time.
        shown.prompt.screenshot(
            f"PNG8:{file}", "-strip", "+dither", "-colors", "64", "-define", "png:exclude-chunks=date,time")


main(sys.argv[1])
