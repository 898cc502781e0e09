"""A shuffler that drops messages.

Messages are sealed, so that it cannot choose them by their values.  It drops a random share of
them, or those of people whom it knows by their addresses: a bias that nothing in the reports shows.
Canaries of the collector show the loss.

Source: docs/shuffling.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Bools, Values
from sottovoce.core.rng import Rng
from sottovoce.lab.attacks.base import HopAttack, RoundAtHop
from sottovoce.lab.batches import Batches, with_fakes


@dataclass(frozen=True)
class DroppedMessages(HopAttack, kind="drop"):
    """A share of all messages, drawn at random, never reaches the collector."""

    def mixed(self, batch: RoundAtHop, rng: Rng) -> Batches:
        threshold = round(batch.share * 2.0**64)
        kept = {}
        for address, reports in batch.batches.items():
            stays = ~rng.bernoulli(threshold, len(reports.reports))
            kept[address] = replace(
                reports,
                reports=reports.reports[stays],
                subjects=_those(reports.subjects, stays),
                public=_those(reports.public, stays),
            )
        return with_fakes(kept, batch.asked, batch.fakes, rng)


def _those(column: Values | None, stays: Bools) -> Values | None:
    return None if column is None else np.asarray(column[stays])
