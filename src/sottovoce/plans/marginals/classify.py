"""Predict one attribute from others, without anybody's record: from tables alone.

Naive Bayes needs only the pairs of the label with each feature, which are the most precise tables there are; prefer it
where features say different things.  A linear support vector machine learns from invented records, drawn from one table
of the label and all features; it sees what features say together and needs many more users.

Source: Wang 2021, section 6.3.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.answers.export import optional
from sottovoce.arrays import Floats, Ints
from sottovoce.core.rng import Rng
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.structure import possible
from sottovoce.plans.marginals.tables import Model, View

_RARE = 1e-6  # the share that stands for one that is estimated as none


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """The shares of the labels, and of every feature's values given the label: (labels, values) each."""

    features: View
    prior: Floats
    given: tuple[Floats, ...]

    def scores(self, records: Ints) -> Floats:
        """Return (records, labels): the logarithm of how likely each label is, up to a constant."""
        scores = np.tile(np.log(self.prior), (len(records), 1))
        for one, table in zip(self.features, self.given, strict=True):
            scores += np.log(table).T[records[:, one]]
        return scores

    def predict(self, records: Ints) -> Ints:
        """Return the most likely label of every record; ``records`` are (records, attributes), the label's unused."""
        return np.asarray(self.scores(records).argmax(axis=1))


def naive_bayes(model: Model, label: int, features: Sequence[int]) -> NaiveBayes:
    """Return the classifier that takes features to be independent of each other given the label."""
    _check(label, features)
    tables = [_paired(model, label, one) for one in features]
    prior = _common(possible(model.table((label,)).shares))
    return NaiveBayes(tuple(features), prior, tuple(_common(table) for table in tables))


def sampled(shares: Floats, count: int, rng: Rng) -> Ints:
    """Return (cells,): how many of so many records drawn from a table fall into each cell."""
    bounds = np.cumsum(possible(shares).ravel())
    drawn = np.searchsorted(bounds, rng.longs(count) / 2.0**64 * bounds[-1], side="right")
    return np.bincount(np.minimum(drawn, len(bounds) - 1), minlength=len(bounds))


@dataclass(frozen=True, eq=False)
class Machine:
    """A linear support vector machine over the values of features, or the only label there was."""

    features: View
    sizes: tuple[int, ...]
    fitted: Any

    def predict(self, records: Ints) -> Ints:
        """Return the label of every record; ``records`` are (records, attributes), the label's unused."""
        if isinstance(self.fitted, int):
            return np.full(len(records), self.fitted, np.int64)
        return np.asarray(self.fitted.predict(_indicators(records[:, list(self.features)], self.sizes)), np.int64)


def machine(shares: Floats, view: View, label: int, count: int, rng: Rng) -> Machine:
    """Return what a machine learns from records drawn from the table of a view that holds the label."""
    _check(label, features := tuple(one for one in view if one != label))
    if label not in view or shares.ndim != len(view):
        raise ParameterError("a machine learns from a table that has the label")
    counts = sampled(shares, count, rng)
    cells = np.stack(np.unravel_index(np.flatnonzero(counts), shares.shape), axis=1)
    place, weights = view.index(label), counts[counts > 0]
    labels, held = cells[:, place], np.delete(cells, place, axis=1)
    sizes = tuple(size for one, size in zip(view, shares.shape, strict=True) if one != label)
    if len(set(labels.tolist())) == 1:
        return Machine(features, sizes, int(labels[0]))
    learner = optional("sklearn.svm", "server").LinearSVC(dual=False)
    return Machine(features, sizes, learner.fit(_indicators(held, sizes), labels, sample_weight=weights))


def _check(label: int, features: Sequence[int]) -> None:
    if not features or label in features or len(set(features)) < len(features):
        raise ParameterError("a label is predicted from at least one other attribute, each named once")


def _paired(model: Model, label: int, feature: int) -> Floats:
    table = possible(model.table((min(label, feature), max(label, feature))).shares)
    return table if label < feature else table.T


def _common(table: Floats) -> Floats:
    """Return the shares of every row, none of them zero."""
    lifted = np.maximum(table, _RARE)
    return np.asarray(lifted / lifted.sum(axis=-1, keepdims=True))


def _indicators(values: Ints, sizes: Sequence[int]) -> Floats:
    """Return (records, values of all features): 1 where a feature has the value."""
    columns = [(values[:, [place]] == np.arange(size)).astype(np.float64) for place, size in enumerate(sizes)]
    return np.concatenate(columns, axis=1)
