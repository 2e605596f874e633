# SPDX-License-Identifier: Apache-2.0
"""QuickNote on a simulated machine."""

import os

import simulated
from accessible import check, everything_has_a_name, until  # noqa: F401

QUICKNOTE = os.environ["QUICKNOTE"]
NOTE_WRITER = os.path.join(os.path.dirname(QUICKNOTE), "note-writer")


class Machine(simulated.Machine):
    program = QUICKNOTE
    name = "quicknote"
    title = "QuickNote"
