"""Classifiers that learn from marginals alone, without anybody's record.

Naive Bayes needs only the tables of the label with each feature, the most precise tables there are;
prefer it where features say different things.  A linear support vector machine learns from
synthetic records drawn from one table of the label and all features; it sees what features say
together and needs many more users.

Source: Wang 2021, section 6.3.4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.answers.export import optional
from sottovoce.arrays import Floats, Ints
from sottovoce.core.rng import Rng
from sottovoce.core.settings import distinct, entries
from sottovoce.errors import ParameterError
from sottovoce.plans.marginals.chow_liu import directed_table, to_distribution
from sottovoce.plans.marginals.marginal_table import Model, View

_RARE = 1e-6  # stands for a share that is estimated as 0


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """The shares of the labels, and of every feature's values given the label: (labels, values)."""

    features: View
    prior: Floats
    given: tuple[Floats, ...]

    def scores(self, records: Ints) -> Floats:
        """Return (records, labels): the logarithm of each label's likelihood, up to a constant."""
        scores = np.tile(np.log(self.prior), (len(records), 1))
        for feature, table in zip(self.features, self.given, strict=True):
            scores += np.log(table).T[records[:, feature]]
        return scores

    def predict(self, records: Ints) -> Ints:
        """Return the most likely label of (records, attributes).

        The label's own column is not used.
        """
        return np.asarray(self.scores(records).argmax(axis=1))


def naive_bayes(model: Model, label: int, features: Sequence[int]) -> NaiveBayes:
    """Return the classifier that takes features to be independent of each other given the label."""
    _check_features(label, features)
    prior = _without_zeros(to_distribution(model.table((label,)).shares))
    tables = [_without_zeros(directed_table(model, label, feature)) for feature in features]
    return NaiveBayes(tuple(features), prior, tuple(tables))


def sample_cells(shares: Floats, count: int, rng: Rng) -> Ints:
    """Return (cells,): how many of ``count`` records drawn from a table fall into each cell."""
    bounds = np.cumsum(to_distribution(shares).ravel())
    uniforms = rng.longs(count) / 2.0**64 * bounds[-1]
    cells = np.searchsorted(bounds, uniforms, side="right")
    return np.bincount(np.minimum(cells, len(bounds) - 1), minlength=len(bounds))


@dataclass(frozen=True, eq=False)
class LinearMachine:
    """A linear support vector machine over the values of features, or the only label there was."""

    features: View
    sizes: tuple[int, ...]
    fitted: Any

    def predict(self, records: Ints) -> Ints:
        """Return the label of (records, attributes); the label's own column is unused."""
        if isinstance(self.fitted, int):
            return np.full(len(records), self.fitted, np.int64)
        indicators = _indicators(records[:, list(self.features)], self.sizes)
        return np.asarray(self.fitted.predict(indicators), np.int64)


def linear_machine(shares: Floats, view: View, label: int, count: int, rng: Rng) -> LinearMachine:
    """Return what a machine learns from ``count`` records drawn from the table of a view."""
    features = tuple(attribute for attribute in view if attribute != label)
    _check_features(label, features)
    if label not in view or shares.ndim != len(view):
        raise ParameterError("`view` must contain the label, and `shares` must be its table")
    counts = sample_cells(shares, count, rng)
    cells = np.stack(np.unravel_index(np.flatnonzero(counts), shares.shape), axis=1)
    column = view.index(label)
    labels = cells[:, column]
    values = np.delete(cells, column, axis=1)
    pairs = zip(view, shares.shape, strict=True)
    sizes = tuple(size for attribute, size in pairs if attribute != label)
    if len(set(labels.tolist())) == 1:
        return LinearMachine(features, sizes, int(labels[0]))
    learner = optional("sklearn.svm", "server").LinearSVC(dual=False)
    weights = counts[counts > 0]
    fitted = learner.fit(_indicators(values, sizes), labels, sample_weight=weights)
    return LinearMachine(features, sizes, fitted)


def _check_features(label: int, features: Sequence[int]) -> None:
    entries("features", features, 1)
    distinct("features", features)
    if label in features:
        raise ParameterError("`features` must not contain the label")


def _without_zeros(table: Floats) -> Floats:
    """Return the shares of every row, none of them 0."""
    lifted = np.maximum(table, _RARE)
    return np.asarray(lifted / lifted.sum(axis=-1, keepdims=True))


def _indicators(values: Ints, sizes: Sequence[int]) -> Floats:
    """Return (records, values of all features): 1 where a feature has the value."""
    columns = [
        (values[:, [feature]] == np.arange(size)).astype(np.float64)
        for feature, size in enumerate(sizes)
    ]
    return np.concatenate(columns, axis=1)
