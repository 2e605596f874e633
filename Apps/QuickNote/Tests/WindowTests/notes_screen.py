# SPDX-License-Identifier: Apache-2.0
"""QuickNote on a simulated machine."""

import os

import simulated

QUICKNOTE = os.environ["QUICKNOTE"]
NOTE_WRITER = os.path.join(os.path.dirname(QUICKNOTE), "note-writer")


class Machine(simulated.Machine):
    program = QUICKNOTE
    name = "quicknote"
    title = "QuickNote"
