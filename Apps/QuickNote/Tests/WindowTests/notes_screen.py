# SPDX-License-Identifier: Apache-2.0
"""QuickNote on a simulated machine."""

import os

import simulated
from accessible import check, everything_has_a_name, until  # noqa: F401

QUICKNOTE = os.environ["QUICKNOTE"]


class Machine(simulated.Machine):
    program = QUICKNOTE
    name = "quicknote"
    title = "QuickNote"
