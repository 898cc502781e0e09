"""How far tables of binary attributes are from the truth: total variation, measured and exact.

Total variation is half the sum of absolute errors of a table, its mean taken over tables; raw
estimates are scored, so it may exceed 1.  ``ExactError`` is the mean squared error by formula.

Source: Cormode 2018, sections 4 and 5.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb, exp
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Ints
from sottovoce.lab.aggregate import collections
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.baselines.marginals.input_em import InputEM, ask_record, maximise
from sottovoce.lab.baselines.marginals.whole_table import WholeTable
from sottovoce.lab.populations.records import as_columns, record_domain, true_table
from sottovoce.lab.seeded import SeededRng
from sottovoce.lab.simulate import simulate
from sottovoce.mechanisms.oue import OUE
from sottovoce.plans.marginals.marginal_table import View
from sottovoce.tasks.task import Task

LN3 = float(np.log(3))
SIX = ("inp_rr", "inp_ps", "inp_ht", "marg_rr", "marg_ps", "marg_ht")
MAX_TABLES = 60  # of each collection; of 16 attributes there are up to 560
Kind = Callable[..., Ints]  # draws the records of a population


@dataclass(frozen=True)
class TableSetting:
    """A population of 2^bits people with so many attributes, and the order of its tables."""

    kind: Kind
    bits: int
    attributes: int
    order: int

    @property
    def people(self) -> Ints:
        """Return the records."""
        return population(self.kind, self.bits, self.attributes)

    @property
    def truth(self) -> Floats:
        """Return (tables, cells): the true tables."""
        return _truth(self)

    @property
    def squares(self) -> float:
        """Return the mean over tables of the sum of squared shares."""
        return float((self.truth**2).sum(axis=1).mean())


@cache
def population(kind: Kind, bits: int, attributes: int) -> Ints:
    """Return 2^bits records."""
    return kind(1 << bits, attributes, seed=bits)


@cache
def _truth(setting: TableSetting) -> Floats:
    views = scored_views(setting.attributes, setting.order)
    return np.array([shares(setting.people, view).ravel() for view in views])


def shares(people: Ints, view: View) -> Floats:
    """Return the true table of some bits."""
    return true_table(people, (2,) * people.shape[1], view)


def scored_views(attributes: int, order: int) -> list[View]:
    """Return the sets of attributes that are scored: all, or some drawn at random."""
    every = list(combinations(range(attributes), order))
    chosen = np.random.default_rng(0).permutation(len(every))[:MAX_TABLES]
    return [every[place] for place in sorted(chosen)]


def collected_model(method: str, people: Ints, order: int, epsilon: float, seed: int) -> Any:
    """Return what a collection knows.

    Unary encoding of the whole table is drawn from the exact law of its independent bits.
    """
    users, attributes = people.shape
    if method != "inp_rr":
        domain: Any = record_domain((2,) * attributes)
        task = Task("joint", BaselineMarginals(domain, method, order), epsilon)
        answers: Any = simulate(task, as_columns(people), seed=seed)
        return answers.model
    codes = people @ (1 << np.arange(attributes)[::-1])
    mechanism = OUE(epsilon, 1 << attributes)
    counts = next(collections(mechanism, np.bincount(codes, minlength=1 << attributes), 1, seed))
    return WholeTable((2,) * attributes, mechanism.estimate_counts(counts, users))


@dataclass(frozen=True, eq=False)
class TableScores:
    """The mean total variation of some collections, and the squared error of each."""

    variation: float
    squared: Floats


@cache
def scores(method: str, setting: TableSetting, epsilon: float = LN3, runs: int = 2) -> TableScores:
    """Return how far a method is from the truth."""
    views = scored_views(setting.attributes, setting.order)
    found = []
    for seed in range(runs):
        model = collected_model(method, setting.people, setting.order, epsilon, seed)
        found.append([model.table(view).shares.ravel() for view in views])
    errors = np.array(found) - setting.truth
    variation = float(np.abs(errors).sum(axis=2).mean() / 2)
    return TableScores(variation, np.asarray((errors**2).sum(axis=2).mean(axis=1)))


@dataclass(frozen=True)
class ExactError:
    """The exact mean squared error of a table, per user: section 4, corrected.

    Attributes have two values; ``squares`` is the mean over tables of the sum of squared shares.
    """

    attributes: int
    order: int
    epsilon: float
    squares: float = 0.0

    def __call__(self, method: str) -> float:
        error: float = getattr(self, method)()
        return error

    @property
    def cells(self) -> int:
        """Return the cells of a table."""
        return 1 << self.order

    @property
    def odds(self) -> float:
        """Return e^epsilon."""
        return exp(self.epsilon)

    def inp_rr(self) -> float:
        """Return the error of unary encoding of the whole record."""
        p = 0.5
        q = 1 / (self.odds + 1)
        cells: int = 2**self.attributes
        return cells * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)

    def inp_ps(self) -> float:
        """Return the error of direct response over the whole record."""
        behind = 1 << (self.attributes - self.order)
        cells: int = 2**self.attributes
        q = 1 / (self.odds + cells - 1)
        held = q * (self.odds + behind - 1)
        other = q * behind
        noise = held * (1 - held) + (self.cells - 1) * other * (1 - other)
        return noise / (q * (self.odds - 1)) ** 2

    def inp_ht(self) -> float:
        """Return the error of random coefficients of the whole record."""
        return self._signs(sum(comb(self.attributes, size) for size in range(1, self.order + 1)))

    def marg_ht(self) -> float:
        """Return the error of a random coefficient of a random view."""
        return self._signs(comb(self.attributes, self.order) * (self.cells - 1))

    def marg_rr(self) -> float:
        """Return the error of unary encoding of a random view."""
        return self._views(0.5, 1 / (self.odds + 1)) if self.cells > 2 else self.marg_ps()

    def marg_ps(self) -> float:
        """Return the error of direct response in a random view."""
        q = 1 / (self.odds + self.cells - 1)
        return self._views(self.odds * q, q)

    def _signs(self, many: int) -> float:
        gain = (self.odds + 1) / (self.odds - 1)
        drawn = 1 - 1 / many
        signs = self.cells * self.squares - 1
        noise = (self.cells - 1) * (gain**2 - 1) + drawn * (self.cells - 1 - signs)
        return many / self.cells * noise

    def _views(self, p: float, q: float) -> float:
        many = comb(self.attributes, self.order)
        noise = self.cells * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)
        return many * (noise + (1 - 1 / many) * (1 - self.squares))


@dataclass(frozen=True, eq=False)
class Maximised:
    """The mean total variation after expectation maximisation, and the steps of each table."""

    variation: float
    iterations: Ints


def maximised(people: Ints, epsilon: float, order: int = 2, seed: int = 0) -> Maximised:
    """Return how well expectation maximisation does from the uniform start (INPEM)."""
    attributes = people.shape[1]
    mechanism: Any = ask_record(epsilon, (2,) * attributes).mechanism
    reports = mechanism.privatize(mechanism.join(list(people.T)), SeededRng(seed))
    records, times = np.unique(reports, return_counts=True)
    reported = InputEM(mechanism, tuple(mechanism.split(records)), times)
    views = list(combinations(range(attributes), order))
    observed = np.array([reported.observed(view) for view in views])
    fit = maximise(observed, reported.channels(views[0]))
    truth = np.array([shares(people, view).ravel() for view in views])
    variation = float(np.abs(fit.frequencies - truth).sum(axis=1).mean() / 2)
    return Maximised(variation, np.asarray(fit.iterations))
