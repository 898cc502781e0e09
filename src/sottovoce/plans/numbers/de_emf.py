"""DE-EMF and its refinements: the distribution of honest people behind poisoned reports.

All four start from the outputs that may be poisoned, which SEMF finds.

    DE-EMF      EMF; the distribution is x / sum of x, the share of false reports the sum of y
    DE-EMF*     DE-EMF, then plain EM on what remains of the counts:  c' = max(c - N y, 0)
    DE-REMF     EMF with the share of false reports given
    DE-REMF*    DE-REMF, then plain EM on what remains of the counts

The share should come from reports with a small epsilon, or from other knowledge: at a large epsilon
DE-EMF estimates far too large a share.  If no output may be poisoned, or the share is 0, all four
are plain EM.  DE-REMF* is the most accurate if the share is right.

Source: Du 2025, section 6.3 (algorithms 8 to 10, corrected).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Bools, Floats
from sottovoce.plans.numbers.emf import Filtered, OutputCounts, emf, unfiltered

MAX_SHARE = 0.5  # of false reports: a majority could not be told from honest reports


@dataclass(frozen=True, eq=False)
class Defended:
    """The distribution of honest people, and the false reports, for every row.

    ``poison`` is (rows, outputs): shares of all reports.  ``log_likelihood`` is that of the filter.
    """

    distribution: Floats
    poison: Floats
    log_likelihood: Floats

    @property
    def share(self) -> Floats:
        """Return the share of false reports, for every row."""
        return np.asarray(self.poison.sum(axis=1))


Method = Callable[[OutputCounts, Bools, Floats], Defended]


def de_emf(observed: OutputCounts, poisoned: Bools, share: Floats) -> Defended:
    """Return EMF's distribution; the ``share`` of false reports is not used."""
    return _defended(emf(observed, poisoned))


def de_emf_star(observed: OutputCounts, poisoned: Bools, share: Floats) -> Defended:
    """Return the distribution behind what remains without the false reports of DE-EMF."""
    return cleaned(observed, de_emf(observed, poisoned, share))


def de_remf(observed: OutputCounts, poisoned: Bools, share: Floats) -> Defended:
    """Return EMF's distribution with a given ``share`` of false reports in every row."""
    defended = _defended(unfiltered(observed))
    attacked = np.flatnonzero(poisoned.any(axis=1) & (share > 0))
    if len(attacked):
        rows = observed.rows(attacked)
        filtered = _defended(emf(rows, poisoned[attacked], share=share[attacked]))
        defended.distribution[attacked] = filtered.distribution
        defended.poison[attacked] = filtered.poison
        defended.log_likelihood[attacked] = filtered.log_likelihood
    return defended


def de_remf_star(observed: OutputCounts, poisoned: Bools, share: Floats) -> Defended:
    """Return the distribution behind what remains without the false reports of DE-REMF."""
    return cleaned(observed, de_remf(observed, poisoned, share))


METHODS: dict[str, Method] = {
    "de-emf": de_emf,
    "de-emf*": de_emf_star,
    "de-remf": de_remf,
    "de-remf*": de_remf_star,
}


def cleaned(observed: OutputCounts, defended: Defended, *, smooth: bool = False) -> Defended:
    """Return the distribution by plain EM, or by EMS, without the false reports that were found."""
    rerun = unfiltered(observed.without(defended.poison), smooth=smooth)
    return Defended(rerun.distribution, defended.poison, defended.log_likelihood)


def _defended(filtered: Filtered) -> Defended:
    return Defended(filtered.distribution, filtered.poison, filtered.log_likelihood)
