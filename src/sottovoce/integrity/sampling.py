"""Samples of very many reports: every n-th report of a log.

A log is sorted by random report ids.  An attacker who chooses ids can put false reports next to
each other.  That does not move them into a sample or out of it, because every n-th report is taken
from any stretch of the log.
"""

from collections.abc import Iterable

import numpy as np

from sottovoce.arrays import Reports


def every(parts: Iterable[Reports], step: int) -> Reports:
    """Return the first of the reports in some parts, and then one in ``step``.

    >>> every([np.arange(4), np.arange(4, 9)], 3)
    array([0, 3, 6])
    """
    sampled = []
    passed = 0  # reports so far
    for reports in parts:
        # A copy of few: a view would keep all reports in memory.
        sampled.append(reports if step == 1 else reports[-passed % step :: step].copy())
        passed += len(reports)
    return np.concatenate(sampled)
