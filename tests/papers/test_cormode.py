"""Cormode 2018: experiments with marginals, on populations invented to look like the published
ones.

Total variation is half the sum of absolute errors of a table, its mean taken over tables; raw
estimates are scored, so it may exceed 1.  Windows surround what an independent implementation
measured on the same populations.
"""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.experiments.cormode.table_variation import (
    LN3,
    SIX,
    TableSetting,
    maximised,
    population,
)
from sottovoce.lab.experiments.cormode.table_variation import ExactError as Exact
from sottovoce.lab.experiments.cormode.table_variation import scores as table_scores
from sottovoce.lab.populations.records import movielens_like, record_domain, taxi_like


def scores(method, kind, bits, attributes, order, epsilon=LN3, runs=2):
    """The mean total variation of some collections, and the squared error of each."""
    found = table_scores(method, TableSetting(kind, bits, attributes, order), epsilon, runs)
    return found.variation, found.squared


def variation(*setting, **options):
    return scores(*setting, **options)[0]


def squares(kind, order):
    """The mean over tables of the sum of squared shares, of 2^16 people with eight attributes."""
    return TableSetting(kind, 16, 8, order).squares


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


@pytest.mark.papers
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
    failed = [
        (maximised(people, epsilon, seed=seed).iterations == 1).mean() for seed in range(runs)
    ]
    assert low <= np.mean(failed) <= high, failed


@pytest.mark.parametrize(("epsilon", "worse"), [(0.6, 1.3), (1.1, 2.0), (1.4, 2.0)])
def test_expectation_maximisation_is_worse_than_random_coefficients(epsilon, worse):
    """Figure 6: taxi trips, 2^18 people, eight attributes."""
    people = population(taxi_like, 18, 8)
    found = np.mean([maximised(people, epsilon, seed=seed).variation for seed in range(2)])
    assert found > worse * variation("inp_ht", taxi_like, 18, 8, 2, epsilon=epsilon, runs=4)


def test_expectation_maximisation_takes_thousands_of_steps():
    """Figure 6: more of them the more attributes share the budget."""
    few, many = (
        maximised(population(taxi_like, 16, attributes), 0.6).iterations for attributes in (8, 16)
    )
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
