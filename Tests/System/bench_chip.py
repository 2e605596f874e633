# SPDX-License-Identifier: Apache-2.0
"""Measures what a person waits for with a TPM that is as slow as a published firmware TPM, beside the model. `make bench
PART=services` runs it; with LATCHKEY_RELEASE=FOLDER it measures the services of another build."""

import itertools
import statistics

from chip_log import felt
from machine import fact
from test_services_slow_chip import SensorTest

# Longer than anything stays in the TPM without a use.
ROUNDS, PAUSE = 3, 61


class ChipBench(SensorTest):
    def test_what_is_felt(self):
        seat = self.enterContext(self.machine.seat("alice"))
        found = sorted(self.felt(seat, ROUNDS, PAUSE), key=lambda turn: (turn.use, turn.turn))
        for (use, turn), turns in itertools.groupby(found, lambda turn: (turn.use, turn.turn)):
            turns = list(turns)
            times, of_chip = ([getattr(turn, name) for turn in turns] for name in ("milliseconds", "of_chip"))
            bills = sorted({turn.bill for turn in turns})
            model = "; the model: {} commands of {} ms".format(*felt()[use]) if turn != "at once" else ""
            fact(f"felt by {use}, {turn}", f"median {statistics.median(times):.0f} ms, {min(times):.0f} to {max(times):.0f} of "
                 f"{len(times)}, of which the TPM took {statistics.median(of_chip):.0f}; it got "
                 + ", ".join("{} commands of {} ms".format(*bill) for bill in bills) + model)


del SensorTest
