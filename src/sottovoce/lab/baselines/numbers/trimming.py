"""Trimming: leave out the smallest and the largest reports, and decode the rest as if nobody lied.

Half of a stated share is cut from either end of the outputs.  Honest reports are cut as well, and
false ones in the middle stay.

Source: Du 2025, section 2.3.
"""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.core.settings import open_share
from sottovoce.plans.numbers.emf import OutputCounts, unfiltered


def trimmed(observed: OutputCounts, share: float) -> Floats:
    """Return the distribution behind the reports that remain."""
    kept = trimmed_counts(observed.counts[0], open_share("share", share))
    remaining = OutputCounts(kept[None], observed.channel, observed.size, observed.epsilon)
    return np.asarray(unfiltered(remaining).distribution[0])


def trimmed_counts(counts: Floats, share: float) -> Floats:
    """Return counts without ``share`` / 2 of the reports at either end.

    >>> trimmed_counts(np.array([2.0, 4.0, 4.0]), 0.6).tolist()
    [0.0, 3.0, 1.0]
    """
    total = float(counts.sum())
    sums = np.clip(np.append(0.0, counts.cumsum()), share / 2 * total, (1 - share / 2) * total)
    return np.asarray(np.diff(sums))
