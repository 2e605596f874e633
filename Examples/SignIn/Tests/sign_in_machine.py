# SPDX-License-Identifier: Apache-2.0
"""The machine on which the example app signs in, for tests, the demonstration and the benchmark."""
import os
import pathlib
import subprocess
import tempfile

from server import wait_until

LATCHKEY, SIGN_IN = os.environ["LATCHKEY_PROGRAMS"] + "/latchkey", os.environ.get("LATCHKEY_SIGN_IN_EXAMPLE", "")


class Machine:
    """A simulated machine with one enrolled finger."""

    def __init__(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.environment = os.environ | {"LATCHKEY_HOME": self.scratch.name}
        self.process = int(self.sim("start", "--ready").split("process ")[1].split(",")[0])

    def sim(self, *words):
        return subprocess.run([LATCHKEY, "sim", *words], env=self.environment, check=True, capture_output=True,
                              text=True).stdout

    def latchkey(self, *words):
        return subprocess.run([LATCHKEY, *words], env=self.environment, check=True, stdout=subprocess.PIPE).stdout

    def prompts(self):
        return [line.split("asks: ")[1].strip('"') for line in self.sim("transcript").splitlines() if "asks: " in line]

    def app(self, address, *words, party="localhost", fingers=0, before=(), **environment):
        """The exit code of the app, and what it printed."""
        for _ in range(fingers):
            self.sim("touch")
        # An app that asks for more fingers than there are would wait for ever.
        ended = subprocess.run([*before, SIGN_IN, address, party, "ada", *words], capture_output=True, text=True,
                               timeout=40, env=self.environment | environment)
        assert not ended.stderr, ended.stderr
        return ended.returncode, ended.stdout

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sim("stop")
        wait_until(lambda: not pathlib.Path(f"/proc/{self.process}").exists())
        self.scratch.cleanup()
