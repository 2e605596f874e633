# SPDX-License-Identifier: Apache-2.0
"""`make format` would change nothing."""

import subprocess

from repository import ROOT


def test_sources_are_formatted():
    done = subprocess.run(["swift", "format", "lint", "--strict", "--parallel", "--recursive", "."], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
