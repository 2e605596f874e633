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
        shown.prompt.readme_picture(file)


main(sys.argv[1])
