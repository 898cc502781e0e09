"""Post-Pos: negative answers become 0 when a question is asked, and not before.

Less biased on sets than Base-Pos, but not additive: the answers for two halves need not sum to that
for the whole.  The answer is never further from the truth than the raw one, so the raw error is
stated, and it covers at least as often.

Source: Wang et al. 2020, section IV-A.
"""

from dataclasses import replace

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core.estimate import Estimate, Total


def post_pos(estimate: Estimate, indices: Ints) -> Total:
    """Return the total of a set of values, at least 0, from the raw votes."""
    total = (estimate.raw or estimate).sum(indices)
    return replace(total, total=max(total.total, 0.0))


def answered(raw: Floats, sets: Floats) -> Floats:
    """Return (..., queries): shares of at least 0 of the rows of ``sets``, (queries, size)."""
    return np.maximum(raw @ sets.T, 0.0)
