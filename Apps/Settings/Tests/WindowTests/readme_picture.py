# SPDX-License-Identifier: Apache-2.0
"""Writes the picture of the settings window that the README shows.

usage: scripts/with-display /usr/bin/python3 -B Apps/Settings/Tests/WindowTests/readme_picture.py FILE
"""

import subprocess
import sys

from settings_screen import Machine


def main(file):
    with Machine() as machine:
        machine.set_passcode()
        machine.latchkey("set", "--protect", "none", "token", "--service", "forge.example", input="1\n", app="builder")
        machine.latchkey("set", "anna", "--service", "mail.example", "--protect", "none", input="2\n", app="mail")
        machine.latchkey("set", "login", "--service", "bank.example", "--protect", "passcode", input="3\n", app="bank")
        machine.latchkey("get", "anna", "--service", "mail.example", app="mail")
        reading = subprocess.Popen(
            [machine.app("bank"), "get", "login", "--service", "bank.example"], env=machine.environment,
            stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True)
        machine.prompt.enter("135790")
        reading.wait(20)
        machine.prompt.is_gone()
        window = machine.open("activity")
        window.sees("bank read “login (bank.example)”")
        window.readme_picture(file)


main(sys.argv[1])
