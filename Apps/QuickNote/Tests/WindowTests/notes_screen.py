# SPDX-License-Identifier: Apache-2.0
"""QuickNote on a simulated machine."""

import os

import simulated

QUICKNOTE = os.environ["QUICKNOTE"]


class Machine(simulated.Machine):
    program = QUICKNOTE
    name = "quicknote"
    title = "QuickNote"
