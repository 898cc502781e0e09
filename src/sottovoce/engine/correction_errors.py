"""Errors of a corrected estimate: the whole correction again and again, on halves of the reports.

Everything that looked at the reports looks again: the tests of seeds, the seed filter, the largest
estimates, the tests of pairs and loads, the suspects, the load EMF and the decoding.  Where no test
alarms in a half, nothing is corrected there.  So an alarm that was a close call has large errors.

Halves are drawn without replacement, because a report that is drawn twice has its seed twice.  With
m of n reports the estimate f_m of such a part spreads around that of all of them, f_n, as

    Var[f_m - f_n] = Var[f_n] (n - m) / m

so that the differences of halves are errors as they are.  Of many reports smaller parts are drawn
and their differences are multiplied by sqrt(m / (n - m)).

Source: Shao and Wu 1989.
"""

from dataclasses import dataclass, field, replace
from math import sqrt

import numpy as np

from sottovoce.arrays import Floats, Reports, Values
from sottovoce.core.estimate import Estimate
from sottovoce.core.noise import SampledNoise, StatedNoise
from sottovoce.core.rng import KeyedRng
from sottovoce.engine.base import estimate_candidates
from sottovoce.engine.memory import MemoryCollected, ReportBatch
from sottovoce.integrity import defence
from sottovoce.integrity.corrected_estimate import Corrected, corrected
from sottovoce.integrity.examine import tested
from sottovoce.mechanisms.base import Mechanism
from sottovoce.tasks.collected import Blocks, Collected
from sottovoce.tasks.question import Address

REPLICATES = 50
MAX_PART = 1 << 16  # reports of one replicate
MAX_SAMPLED_CELLS = 1 << 14  # whose replicates are kept; beyond, only their variances


@dataclass(frozen=True, eq=False)
class AddressCorrection:
    """The whole correction of the reports at one address; ``among`` are the values to estimate."""

    collected: MemoryCollected
    address: Address
    among: Values | Blocks | None = None
    fresh: dict[Address, Reports] = field(default_factory=dict)  # of the seed filter

    @property
    def mechanism(self) -> Mechanism:
        """Return the mechanism of the reports."""
        return self.collected.rounds[self.address.round].question(self.address).mechanism

    def decode(self, reports: Reports) -> Estimate:
        """Return the estimate of some reports as they are."""
        if self.among is None:
            return self.mechanism.estimate(self.mechanism.tally(reports))
        return estimate_candidates(self.mechanism, reports, self.among)

    def corrected(self, suspected: defence.Suspected, reports: Reports) -> Corrected:
        """Return the estimate of reports, weighted by how honest they seem."""
        return corrected(suspected.candidates, suspected.suspects, reports, self.decode)

    def frequencies(self, reports: Reports) -> Floats:
        """Return the frequencies that the whole correction makes of some reports."""
        batches = {self.address: ReportBatch(reports)}
        part = replace(self.collected, batches=batches, tallied={}, persons={})
        number = self.address.round
        found = tested(self, part, number)
        seed_filter = defence.seed_filter(part, number, found, self.fresh)
        if seed_filter is not None:
            reports = reports[seed_filter.kept[self.address]]
            part = replace(part, batches={self.address: ReportBatch(reports)}, tallied={})
        suspects = defence.suspected(part, found)
        if self.address in suspects:
            return self.corrected(suspects[self.address], reports).estimate.frequencies
        return self.decode(reports).frequencies

    def candidates(self, collected: Collected, address: Address) -> Blocks | None:
        """Return the values that can become part of the outcome; None for all."""
        return self.among if isinstance(self.among, Blocks) else None

    def with_errors(self, estimate: Estimate, reports: Reports, replicates: int) -> Estimate:
        """Return a corrected estimate of all reports with the errors of the whole correction."""
        count = len(reports)
        size = min(count // 2, MAX_PART)
        context = f"halves {self.address.round} {self.address.member} {self.address.slot}"
        rng = KeyedRng(self.collected.seed, context.encode())
        errors = np.empty((replicates, len(estimate.votes)))
        for row in errors:
            drawn = np.sort(np.argsort(rng.words(count), kind="stable")[:size])
            row[:] = self.frequencies(reports[drawn]) - estimate.frequencies
        errors *= estimate.users * sqrt(size / (count - size))
        if len(estimate.votes) > MAX_SAMPLED_CELLS:
            return replace(estimate, noise=StatedNoise(np.asarray((errors**2).mean(axis=0))))
        noise = SampledNoise(estimate.votes + errors, around=estimate.votes)
        return replace(estimate, noise=noise)
