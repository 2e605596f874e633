# SPDX-License-Identifier: Apache-2.0
"""The app on a simulated machine, and a server."""

import os

import server
import simulated

SIGN_IN = os.environ["LATCHKEY_SIGN_IN"]


class Machine(simulated.Machine):
    program = SIGN_IN
    name = "latchkey-sign-in"
    title = "Sign In"


class Server(server.Server):
    """A server that accepts keys of simulated machines."""

    def __init__(self):
        super().__init__(relying_party_id="localhost", minimum_tier="simulated")
        self.address = f"localhost:{self.port}"

    def code(self, user="ada"):
        return self.command("code", user)
