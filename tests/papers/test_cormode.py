"""Cormode 2018: experiments with marginals, on populations invented to look like the published
ones.

Total variation is half the sum of absolute errors of a table, its mean taken over tables; raw
estimates are scored, so it may exceed 1.  Windows surround what an independent implementation
measured on the same populations.
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.aggregate import collections
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.baselines.marginals.input_em import InputEM, ask_record, maximise
from sottovoce.lab.baselines.marginals.whole_table import WholeTable
from sottovoce.lab.populations.records import (
    as_columns,
    movielens_like,
    record_domain,
    taxi_like,
    true_table,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.mechanisms.oue import OUE

LN3 = float(np.log(3))
SIX = ("inp_rr", "inp_ps", "inp_ht", "marg_rr", "marg_ps", "marg_ht")
MAX_TABLES = 60  # of each collection; of 16 attributes there are up to 560


def shares(people, view):
    """The true table of some bits."""
    return true_table(people, (2,) * people.shape[1], view)


def tables(attributes, order):
    """The sets of attributes that are scored: all, or some drawn at random."""
    every = list(combinations(range(attributes), order))
    chosen = np.random.default_rng(0).permutation(len(every))[:MAX_TABLES]
    return [every[place] for place in sorted(chosen)]


def model(method, people, order, epsilon, seed):
    """What a collection knows; unary encoding of the whole table by the exact law of its
    independent bits.
    """
    users, attributes = people.shape
    if method != "inp_rr":
        task = sv.Task(
            "joint", BaselineMarginals(record_domain((2,) * attributes), method, order), epsilon
        )
        return sv.simulate(task, as_columns(people), seed=seed).model
    codes = people @ (1 << np.arange(attributes)[::-1])
    mechanism = OUE(epsilon, 1 << attributes)
    counts = next(collections(mechanism, np.bincount(codes, minlength=1 << attributes), 1, seed))
    return WholeTable((2,) * attributes, mechanism.estimate_counts(counts, users))


def estimated(method, people, order, epsilon, seed):
    """(tables, cells): the tables of one collection."""
    found = model(method, people, order, epsilon, seed)
    return np.array([found.table(view).shares.ravel() for view in tables(people.shape[1], order)])


@cache
def population(kind, bits, attributes):
    return kind(1 << bits, attributes, seed=bits)


@cache
def truth(kind, bits, attributes, order):
    """(tables, cells): the true tables."""
    people = population(kind, bits, attributes)
    return np.array([shares(people, view).ravel() for view in tables(attributes, order)])


@cache
def scores(method, kind, bits, attributes, order, epsilon=LN3, runs=2):
    """The mean total variation of some collections, and the squared error of each."""
    people = population(kind, bits, attributes)
    found = np.array([estimated(method, people, order, epsilon, seed) for seed in range(runs)])
    errors = found - truth(kind, bits, attributes, order)
    return float(abs(errors).sum(axis=2).mean() / 2), (errors**2).sum(axis=2).mean(axis=1)


def variation(*setting, **options):
    return scores(*setting, **options)[0]


@dataclass(frozen=True)
class Exact:
    """The exact mean squared error of a table, per user, for attributes of two values: section 4,
    corrected.

    ``squares`` is the mean over tables of the sum of squared shares.
    """

    attributes: int
    order: int
    epsilon: float
    squares: float = 0.0

    def __call__(self, method):
        return getattr(self, method)()

    @property
    def cells(self):
        return 1 << self.order

    @property
    def odds(self):
        return float(np.exp(self.epsilon))

    def inp_rr(self):
        p, q = 0.5, 1 / (self.odds + 1)
        return 2**self.attributes * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)

    def inp_ps(self):
        behind, q = 1 << (self.attributes - self.order), 1 / (self.odds + 2**self.attributes - 1)
        held, other = q * (self.odds + behind - 1), q * behind
        noise = held * (1 - held) + (self.cells - 1) * other * (1 - other)
        return noise / (q * (self.odds - 1)) ** 2

    def inp_ht(self):
        many = sum(comb(self.attributes, size) for size in range(1, self.order + 1))
        return self._signs(many)

    def marg_ht(self):
        return self._signs(comb(self.attributes, self.order) * (self.cells - 1))

    def marg_rr(self):
        return self._views(0.5, 1 / (self.odds + 1)) if self.cells > 2 else self.marg_ps()

    def marg_ps(self):
        q = 1 / (self.odds + self.cells - 1)
        return self._views(self.odds * q, q)

    def _signs(self, many):
        gain, drawn = (self.odds + 1) / (self.odds - 1), 1 - 1 / many
        signs = self.cells * self.squares - 1
        return (
            many
            / self.cells
            * ((self.cells - 1) * (gain**2 - 1) + drawn * (self.cells - 1 - signs))
        )

    def _views(self, p, q):
        many = comb(self.attributes, self.order)
        noise = self.cells * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)
        return many * (noise + (1 - 1 / many) * (1 - self.squares))


def squares(kind, order):
    """The mean over tables of the sum of squared shares, of 2^16 people with eight attributes."""
    return float((truth(kind, 16, 8, order) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("method", SIX)
def test_the_squared_error_is_the_exact_one(method):
    """Twelve collections of 2^16 people, eight attributes, tables of two: within four standard
    errors.
    """
    seen = scores(method, movielens_like, 16, 8, 2, runs=12)[1]
    exact = Exact(8, 2, LN3, squares(movielens_like, 2))(method) / (1 << 16)
    assert abs(seen.mean() - exact) < 4 * seen.std(ddof=1) / np.sqrt(len(seen)), (
        seen.mean(),
        exact,
    )


@pytest.mark.parametrize("method", SIX)
def test_four_times_the_people_halve_the_error(method):
    """Figure 4, for every method: that of preferential sampling falls as well, it only starts very
    high.
    """
    few, many = (
        variation(method, movielens_like, bits, 8, 2, runs=runs)
        for bits, runs in ((16, 12), (18, 4))
    )
    assert many / few == pytest.approx(0.5, abs=0.08)


@pytest.mark.parametrize(
    ("attributes", "order"),
    [(8, 2), (8, 3), (16, 2), pytest.param(16, 3, marks=pytest.mark.papers)],
)
def test_random_coefficients_have_the_least_error_of_the_six(attributes, order):
    """Figure 4."""
    found = {method: variation(method, movielens_like, 16, attributes, order) for method in SIX}
    assert min(found, key=found.get) == "inp_ht", found


@pytest.mark.parametrize(("attributes", "order"), [(8, 1), (8, 2), (8, 3), (16, 2), (16, 3)])
def test_preferential_sampling_of_the_whole_record_collapses(attributes, order):
    """Figure 4: more than five times the error of random coefficients from eight attributes on."""
    direct, signs = (
        variation(method, movielens_like, 16, attributes, order) for method in ("inp_ps", "inp_ht")
    )
    assert direct > 5 * signs


def test_the_errors_are_those_that_were_measured():
    """The table of an independent run of ten collections, to a fifth; of ten collections each is
    known to some 5 %.
    """
    published = {
        "inp_rr": 0.093,
        "inp_ps": 0.324,
        "inp_ht": 0.034,
        "marg_rr": 0.060,
        "marg_ps": 0.042,
        "marg_ht": 0.048,
    }
    for method, seen in published.items():
        assert variation(method, movielens_like, 16, 8, 2, runs=12) == pytest.approx(
            seen, rel=0.2
        ), method


def test_single_attributes_are_as_well_known_by_four_methods():
    """Figure 4 at k = 1: views of one attribute and coefficients of one are the same question."""
    found = [
        variation(method, movielens_like, 16, 8, 1, runs=6)
        for method in ("marg_ps", "marg_rr", "marg_ht", "inp_ht")
    ]
    assert max(found) < 1.35 * min(found), found
    exact = [Exact(8, 1, LN3, 0.6)(method) for method in ("marg_ps", "marg_ht", "inp_ht")]
    assert max(exact) < 1.0001 * min(exact)


def test_whole_records_take_over_where_tables_have_more_than_half_of_the_attributes():
    """Figure 5: taxi trips, eight attributes; by the exact errors the two cross between four and
    five.
    """
    orders = range(1, 8)
    runs = {
        method: [variation(method, taxi_like, 16, 8, order, runs=4) for order in orders]
        for method in ("inp_ht", "inp_rr")
    }
    better = [
        coefficients < whole
        for coefficients, whole in zip(runs["inp_ht"], runs["inp_rr"], strict=True)
    ]
    assert better[:4] == [True] * 4, runs
    assert better[5:] == [False] * 2, runs
    exact = [Exact(8, order, LN3, squares(taxi_like, order)) for order in orders]
    assert [one.inp_ht() < one.inp_rr() for one in exact] == [True] * 4 + [False] * 3


def test_a_table_of_five_attributes_is_known_to_an_eighth():
    """Section 5.3: a total variation of 0.125 at k = 5 with 2^18 people."""
    assert 0.105 < variation("inp_ht", taxi_like, 18, 8, 5) < 0.15


def test_a_whole_record_in_unary_is_much_longer_than_a_coefficient():
    """Section 5.3: 2^d bits against d + 1."""
    assert pytest.approx(28.4, abs=0.05) == 2**8 / 9
    assert pytest.approx(3855, abs=0.5) == 2**16 / 17
    widths = [
        sv.Task("t", BaselineMarginals(record_domain((2,) * 8), one, 2), 1.0).opening.width
        for one in ("inp_rr", "inp_ht")
    ]
    assert widths == [32, 1]


def split(people, epsilon, seed):
    """The reports of whole records, the budget split over the attributes."""
    attributes = people.shape[1]
    mechanism = ask_record(epsilon, (2,) * attributes).mechanism
    reports = mechanism.privatize(mechanism.join(list(people.T)), SeededRng(seed))
    records, times = np.unique(reports, return_counts=True)
    return InputEM(mechanism, tuple(mechanism.split(records)), times)


def maximised(people, epsilon, order=2, seed=0):
    """(tables, cells) by expectation maximisation from the uniform start, and the steps of each."""
    reported = split(people, epsilon, seed)
    views = list(combinations(range(people.shape[1]), order))
    observed = np.array([reported.observed(view) for view in views])
    fit = maximise(observed, reported.channels(views[0]))
    truth = np.array([shares(people, view).ravel() for view in views])
    return abs(fit.frequencies - truth).sum(axis=1).mean() / 2, fit.iterations


@pytest.mark.parametrize(
    ("bits", "attributes", "epsilon", "low", "high"),
    [
        (16, 8, 0.2, 0.0, 0.15),  # published 3 of 28
        (18, 16, 0.1, 1.0, 1.0),  # all of 120
        pytest.param(18, 16, 0.2, 0.3, 0.85, marks=pytest.mark.papers),  # 72 of 120
        pytest.param(19, 24, 0.2, 0.9, 1.0, marks=pytest.mark.papers),  # all of 276
    ],
)
def test_expectation_maximisation_stops_where_it_started(bits, attributes, epsilon, low, high):
    """Table 3, rows 3, 5, 6 and 7: the share of tables of two attributes that never leave the
    uniform start.
    """
    people, runs = (
        population(taxi_like, bits, attributes),
        4 if low < 0.9 else 1,
    )  # single runs scatter from 0.28 to 0.72
    failed = [(maximised(people, epsilon, seed=seed)[1] == 1).mean() for seed in range(runs)]
    assert low <= np.mean(failed) <= high, failed


@pytest.mark.parametrize(("epsilon", "worse"), [(0.6, 1.3), (1.1, 2.0), (1.4, 2.0)])
def test_expectation_maximisation_is_worse_than_random_coefficients(epsilon, worse):
    """Figure 6: taxi trips, 2^18 people, eight attributes."""
    people = population(taxi_like, 18, 8)
    found = np.mean([maximised(people, epsilon, seed=seed)[0] for seed in range(2)])
    assert found > worse * variation("inp_ht", taxi_like, 18, 8, 2, epsilon=epsilon, runs=4)


def test_expectation_maximisation_takes_thousands_of_steps():
    """Figure 6: more of them the more attributes share the budget."""
    few, many = (maximised(population(taxi_like, 16, attributes), 0.6)[1] for attributes in (8, 16))
    assert np.median(few) > 1000
    assert np.median(many) > 1.5 * np.median(few)


EPSILONS = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4)


def test_random_coefficients_are_best_at_every_epsilon_by_the_exact_errors():
    """Figure 9; and a response in the view beats a coefficient of it from some epsilon on: 0.57 at
    k = 2, 1.0 at 3.
    """
    for kind in (movielens_like, taxi_like):
        for order, crossing in ((2, 0.57), (3, 1.0)):
            held = squares(kind, order)
            for epsilon in EPSILONS:
                exact = {method: Exact(8, order, epsilon, held)(method) for method in SIX}
                assert min(exact, key=exact.get) == "inp_ht"
            for epsilon in (crossing - 0.05, crossing + 0.05):
                exact = Exact(8, order, epsilon, held)
                assert (exact.marg_ht() < exact.marg_ps()) == (epsilon < crossing)


def test_coefficients_of_a_view_beat_its_cells_at_a_small_epsilon_only():
    """Figure 9 at k = 3: a ratio of squared errors of 1.67 at epsilon 0.4 and of 0.71 at 1.4."""
    for epsilon, ratio in ((0.4, 1.67), (1.4, 0.71)):
        cells, signs = (
            variation(one, movielens_like, 16, 8, 3, epsilon=epsilon)
            for one in ("marg_ps", "marg_ht")
        )
        assert (signs < cells) == (epsilon < 1)
        exact = Exact(8, 3, epsilon, squares(movielens_like, 3))
        assert exact.marg_ps() / exact.marg_ht() == pytest.approx(ratio, abs=0.03)


@pytest.mark.parametrize("attributes", [6, 8, pytest.param(10, marks=pytest.mark.papers)])
def test_frequency_oracles_do_not_scale(attributes):
    """Figure 10: random coefficients, then local hashing, then sketches, whose hashes collide."""
    setting = (movielens_like, 18, attributes, 2)
    found = [variation(method, *setting) for method in ("inp_ht", "inp_olh", "inp_htcms")]
    assert found == sorted(found), found
