"""Which method answers given sets best: tried on synthetic collections that resemble the real one.

Collections are drawn from the distribution nearest to the raw one, as in a bootstrap, and every
method is compared with what they were drawn from.  Only the private estimate is looked at, so no
privacy is spent.

Source: Wang et al. 2020, section V-D.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.core import settings
from sottovoce.core.estimate import Estimate
from sottovoce.postprocess import bootstrap
from sottovoce.postprocess.apply import methods, rule_of
from sottovoce.postprocess.post_pos import answered

POST_POS = "post-pos"  # works on answers, not on shares


@dataclass(frozen=True)
class Selection:
    """The best method, and the mean squared error of the shares of the sets under each."""

    method: str
    errors: dict[str, float]


def select(
    estimate: Estimate, sets: Sequence[Ints], among: Sequence[str] = (), repetitions: int = 30
) -> Selection:
    """Return the method with the least error for these sets; all are tried if none is named."""
    settings.entries("sets", sets, 1)
    chosen = membership(sets, len(estimate.votes))
    truth = bootstrap.population(estimate) / estimate.users
    raw = bootstrap.draws(estimate, repetitions) / estimate.users
    errors = {}
    for method in among or (*methods(), POST_POS):
        answers = _answers(estimate, method, raw, chosen)
        errors[method] = float(((answers - truth @ chosen.T) ** 2).mean())
    return Selection(min(errors, key=lambda method: errors[method]), errors)


def _answers(estimate: Estimate, method: str, raw: Floats, chosen: Floats) -> Floats:
    """Return (repetitions, sets): the shares of the sets in every collection."""
    if method == POST_POS:
        return answered(raw, chosen)
    return rule_of(estimate, method)(raw) @ chosen.T


def membership(sets: Sequence[Ints], size: int) -> Floats:
    """Return (sets, size): 1 where a set has a value."""
    table = np.zeros((len(sets), size))
    for row, indices in zip(table, sets, strict=True):
        row[indices] = 1.0
    return table
