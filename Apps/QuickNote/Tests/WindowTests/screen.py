# SPDX-License-Identifier: Apache-2.0
"""QuickNote on a simulated machine."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../Widgets/Tests"))
import simulated  # noqa: E402
from accessible import check, everything_has_a_name, run, until  # noqa: E402, F401

QUICKNOTE = os.environ["QUICKNOTE"]


class Machine(simulated.Machine):
    program = QUICKNOTE
    name = "quicknote"
    title = "QuickNote"
