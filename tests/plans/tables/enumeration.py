"""Exact means and variances of scores: every layer, every report, and every map that a seed can
stand for.

Hashing has more seeds than can be listed, but few maps from a small domain to its buckets.  One
seed for each of them, all equally likely, is the law that random seeds approach.
"""

from functools import cache
from itertools import product
from math import prod
from typing import Any

import numpy as np

from sottovoce.domains.person_tables import PersonTables
from sottovoce.mechanisms.affine import REPORT, AffineResponse
from sottovoce.mechanisms.grr import GRR
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.layout import Layout, Slot
from sottovoce.plans.tables.predict import PredictedScore
from sottovoce.plans.tables.scoring import Scoring
from sottovoce.plans.tables.select import QueryPlan


def people(layout: Layout) -> Any:
    """Return every record that there can be, as rows."""
    return np.array(list(product(*(range(kind.size) for kind in layout.attributes(0)))), np.int64)


@cache
def outcomes(mechanism: Any) -> tuple[Any, Any]:
    """Return every report with (reports, cells): its chance under every cell."""
    if isinstance(mechanism, GRR):
        return mechanism.outcomes(), mechanism.likelihood(mechanism.outcomes())
    seeds = _maps(mechanism)
    reports = _joined(
        mechanism,
        np.repeat(seeds, mechanism.buckets),
        np.tile(range(mechanism.buckets), len(seeds)),
    )
    return reports, mechanism.likelihood(reports) / len(seeds)


def _maps(mechanism: Any) -> Any:
    """Return one seed for every map from the padded domain to buckets."""
    if isinstance(mechanism, AffineResponse):
        bits, rank = mechanism.bits, mechanism.rank
        cells, count = 1 << bits, (1 << rank) * prod((1 << bits) - (1 << at) for at in range(rank))
    else:
        cells, count = mechanism.size, mechanism.buckets**mechanism.size
    tried = np.random.default_rng(0).integers(0, 1 << 32, 12 * count + 200)
    whole = _whole(mechanism, cells)
    tables = np.zeros(len(tried), np.int64)
    for bucket in range(mechanism.buckets):
        held = whole.support(
            _joined(mechanism, tried, np.full(len(tried), bucket)), np.arange(cells)
        )
        tables += bucket * (held @ (mechanism.buckets ** np.arange(cells, dtype=np.int64)))
    _, first = np.unique(tables, return_index=True)
    assert len(first) == count, "every map has a seed among those tried"
    return tried[first]


def _whole(mechanism: Any, cells: int) -> Any:
    """Return a mechanism that shows the padding too."""
    if isinstance(mechanism, OLH):
        return mechanism
    return AffineResponse(mechanism.epsilon, cells, mechanism.buckets, mechanism.groups)


def _joined(mechanism: Any, seeds: Any, buckets: Any) -> Any:
    made = np.empty(
        len(seeds), REPORT if isinstance(mechanism, AffineResponse) else mechanism.layout
    )
    made["seed"], made["bucket"] = seeds, buckets
    return made


def slot_moments(scoring: Scoring, slot: Slot, rows: Any) -> tuple[Any, Any]:
    """Return (people, targets) twice: the mean and the mean square of what one slot scores."""
    first = np.zeros((len(rows), len(scoring.columns)))
    second = np.zeros_like(first)
    for member in range(len(slot.family)):
        question = slot.family[member]
        reports, chances = outcomes(question.mechanism)
        scores = scoring(slot.number, member, reports)
        held = chances[:, question.encoding(PersonTables((rows,)), None)].T * slot.chance(
            member
        )  # (people, reports)
        first += held @ scores
        second += held @ scores**2
    return first, second


def factor_moments(scoring: Scoring, rows: Any) -> tuple[Any, Any]:
    """Return (people, targets) twice: mean and mean square of a factor's score; its slots are
    independent.
    """
    parts = [slot_moments(scoring, slot, rows) for slot in scoring.factor.slots]
    mean = sum(one for one, _ in parts)
    return mean, sum(square - one**2 for one, square in parts) + mean**2


def of_total(work: QueryPlan, rows: Any, place: int = 0) -> tuple[Any, Any]:
    """Return for every person the mean and the variance of their part in a total, which is one
    product.
    """
    (one,) = work.totals[place].products
    found = {at: factor_moments(scoring, rows) for at, scoring in work.scorings.items()}
    mean = prod(found[factor][0][:, column] for factor, column in one.scores) * one.weight
    square = prod(found[factor][1][:, column] for factor, column in one.scores) * one.weight**2
    return mean, square - mean**2


def stated(work: QueryPlan, place: int = 0) -> PredictedScore:
    """Return the moments that are predicted for a total of one factor."""
    ((score,),) = [one.scores for one in work.totals[place].products]
    return work.prediction.score(score)
