# SPDX-License-Identifier: Apache-2.0
"""The vectors are computed again, so that each file is what its program writes."""
import pathlib
import subprocess
import sys

import pytest

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "Vectors"


@pytest.mark.parametrize("name", ["challenge", "webauthn"])
def test_a_file_of_vectors_is_what_its_program_writes(name):
    written = subprocess.run([sys.executable, "-B", VECTORS / f"{name}.py"], check=True, capture_output=True).stdout
    assert written == (VECTORS / f"{name}.tsv").read_bytes()
