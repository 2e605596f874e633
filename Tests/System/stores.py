# SPDX-License-Identifier: Apache-2.0
"""The files of a store, which tests change while neither service runs."""

import json

from clients import ClientTest
from services import STORES

FOLDER, KEPT = f"{STORES}/1001", "/run/kept"

# Runs statements in the database argv[1] and prints the rows of the last one.
STATEMENTS = """
import json, sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    for statement in sys.argv[2:]:
        rows = database.execute(statement).fetchall()
print(json.dumps([[value.hex() if isinstance(value, bytes) else value for value in row] for row in rows]))
"""


class FileTest(ClientTest):
    """A store of alice with a passcode, an item that asks for a person, and one that does not."""

    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()

    def restart(self):
        """Both services, and the same programs."""
        self.first, self.prompts = self.app(), self.agent()

    def shell(self, command):
        return self.machine.run("sh", "-c", command)

    def query(self, *statements, folder=FOLDER):
        """Runs statements in the database as the user of the service, which owns it."""
        done = self.machine.run("python3", "-c", STATEMENTS, f"{folder}/keychain.sqlite", *statements, user="latchkey")
        return json.loads(done.stdout)

    def read(self, account, **options):
        return self.first.do("app.read", account, None, False, **options)
