"""A shuffler that sends messages twice.

It would count some people double.  Every message carries a random id inside its seal, and the
collector counts each id once, so that nothing is gained.  The simulation makes the copies and then
does what the collector does.

Source: docs/shuffling.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from sottovoce.core.rng import Rng
from sottovoce.lab.attacks.base import HopAttack, RoundAtHop
from sottovoce.lab.batches import Batches, with_fakes


@dataclass(frozen=True)
class DuplicatedMessages(HopAttack, kind="duplicate"):
    """A share of all messages, drawn at random, arrives twice."""

    def mixed(self, batch: RoundAtHop, rng: Rng) -> Batches:
        threshold = round(batch.share * 2.0**64)
        counted = {}
        for address, reports in batch.batches.items():
            ids = rng.longs(len(reports.reports))
            again = np.flatnonzero(rng.bernoulli(threshold, len(ids)))
            arrived = np.concatenate([np.arange(len(ids)), again])
            _, first = np.unique(ids[arrived], return_index=True)
            counted[address] = replace(reports, reports=reports.reports[arrived[np.sort(first)]])
        return with_fakes(counted, batch.asked, batch.fakes, rng)
