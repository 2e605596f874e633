# SPDX-License-Identifier: Apache-2.0
"""Template and catalogues are up to date and complete, and the programs would use every translation."""

import subprocess

import pytest
from repository import ROOT


@pytest.mark.parametrize("command", ["check", "keys"])
def test_texts_and_catalogues_agree(command):
    done = subprocess.run([ROOT / "scripts/words", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
