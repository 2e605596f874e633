# SPDX-License-Identifier: Apache-2.0
"""What the app's side of signing in adds to bare requests and a bare signature.

usage: scripts/bench sign-in [COUNT]"""
import subprocess
import sys

from server import Server
from sign_in_machine import Machine

program, count = sys.argv[1:]
settings = {"relying_party_id": "localhost", "minimum_tier": "simulated", "trusted_proxies": None}
with Server(**settings) as server, Machine() as machine:
    subprocess.run([program, f"http://localhost:{server.port}", "localhost", server.command("code", "ada"), count],
                   env=machine.environment, check=True)
