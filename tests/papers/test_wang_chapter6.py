"""Joint tables of many attributes: what chapter 6 of Wang 2021 and section 6 of Cormode 2018 claim,
on invented data.

Errors are sums of squared errors over the cells of random tables, after Norm-Sub for every method.
FT is inp_ht. Collections are genuine where nothing else is said; elsewhere tables are drawn from
their law, people included.
"""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from sottovoce.lab.baselines.binary_attributes import split_into_bits as taken_apart
from sottovoce.lab.baselines.binary_attributes import table_from_bits as put_together
from sottovoce.lab.baselines.priview import PriView
from sottovoce.lab.experiments.cormode.independence_power import DrawnCollection as Asked
from sottovoce.lab.experiments.figures.cormode import APART, TOGETHER, TRIPS, places, tree_share
from sottovoce.lab.experiments.wang_chapter6.classification import ClassificationSetting
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import (
    MarginalsSetting,
    squared_error,
    squared_error_of_pairs,
    uniform_error,
)
from sottovoce.lab.experiments.wang_chapter6.marginal_errors import random_views as some_views
from sottovoce.lab.populations.records import (
    TAXI,
    applicants,
    kosarak_joint,
    kosarak_like,
    marginal_applicants,
    movielens_joint,
    taxi_joint,
    taxi_like,
    three_levels,
    tree_joint,
)
from sottovoce.lab.populations.records import true_table as truth
from sottovoce.plans.marginals.covering import cover
from sottovoce.plans.marginals.independence import dependence, pearson
from sottovoce.plans.marginals.marginal_table import project as projected
from sottovoce.plans.marginals.view_selection import ViewLayout, choose_views


def collected(records, sizes, order, method, epsilon, seed):
    """What is known after a genuine collection."""
    return MarginalsSetting(tuple(sizes), order, method, epsilon).collect(records, seed)


def drawn(asked, joint, dice):
    """What a collection drawn from its law says."""
    return asked.draw(joint, dice)


@cache
def trips_tested(method):
    """Of 100 collections the tests of three pairs that hang together, and of three that do not."""
    dice, pairs = np.random.default_rng(1), [places(pair) for pair in TOGETHER + APART]
    models = [drawn(Asked(method, TRIPS, 1.1), taxi_joint(), dice) for _ in range(100)]
    return [[dependence(model.table(pair), TRIPS) for pair in pairs] for model in models]


def test_pearsons_statistic_of_dependent_pairs_is_near_the_true_one():
    """Cormode 2018, Figure 7: medians of 100; seen 87,568, 98,632 and 63,288 of 86,016, 96,503 and
    62,865.
    """
    medians = np.median(
        [[test.naive for test in row[:3]] for row in trips_tested("inp_ht")], axis=0
    )
    whole = tuple(range(len(TAXI)))
    true = [pearson(projected(taxi_joint(), whole, places(pair)), TRIPS) for pair in TOGETHER]
    print("median statistics", medians, "true", true)
    assert np.abs(medians / true - 1).max() < 0.15


@pytest.mark.papers
@pytest.mark.parametrize("method", ["inp_ht", "marg_ps"])
def test_the_test_that_knows_the_noise_tells_pairs_apart_and_pearsons_does_not(method):
    """Dependent pairs are rejected in 95 % or more, independent ones in 12 % or less, by Pearson's
    in 70 % or more.
    """
    rows = trips_tested(method)
    aware = np.mean([[test.rejects() for test in row] for row in rows], axis=0)
    naive = np.mean([[test.naive > 3.841 for test in row] for row in rows], axis=0)
    print(method, "rejected", aware, "by Pearson", naive)
    assert aware[:3].min() >= 0.95
    assert aware[3:].max() <= 0.12
    assert naive[3:].min() >= 0.7


def test_genuine_trips_are_told_apart_as_well():
    model = collected(taxi_like(TRIPS), (2,) * 8, 2, "inp_ht", 1.1, seed=1)
    tests = [dependence(model.table(places(pair)), TRIPS) for pair in TOGETHER + APART]
    assert all(test.rejects(1e-6) for test in tests[:3])
    assert not any(test.rejects(0.001) for test in tests[3:])
    assert sum(test.naive > 3.841 for test in tests[3:]) >= 2


@pytest.mark.papers
def test_trees_of_data_with_clear_structure_have_most_of_the_information():
    """Cormode 2018, Figure 8; over 30 runs seen .78, .95, .99, 1.00 (InpHT) and .61, .84, .95, 1.00
    (MargPS).
    """
    found = {
        epsilon: [tree_share(tree_joint(), method, epsilon, 20) for method in ("inp_ht", "marg_ps")]
        for epsilon in (0.2, 0.4, 0.6)
    }
    print("share of the information", found)
    assert found[0.4][0] >= 0.92
    assert found[0.6][0] >= 0.97
    assert tree_share(tree_joint(), "inp_ht", 1.0, 5) >= 0.97
    assert all(hadamard >= marginal - 0.02 for hadamard, marginal in found.values())
    assert found[0.2][1] <= 0.8


def test_trees_of_data_where_everything_goes_together_are_only_reported():
    """Where all pairs are nearly alike the claim fails: over 30 runs InpHT .90 to .93, MargPS .91
    to .92 for every epsilon from .2 to 1.4, and trees at random .88.
    """
    found = {
        method: tree_share(movielens_joint(10), method, 0.6, 4) for method in ("inp_ht", "marg_ps")
    }
    print("share of the information", found)
    assert all(0.8 < share < 1 for share in found.values())


def clicks(attributes, power, order, methods, epsilon, runs, count=50):
    """The mean error of every method, and of tables that say nothing."""
    errors, sizes = {method: [] for method in (*methods, "uniform")}, (2,) * attributes
    for run in range(runs):
        records = kosarak_like(1 << power, attributes, seed=run)
        tables = {
            view: truth(records, sizes, view)
            for view in some_views(attributes, order, count, seed=run)
        }
        errors["uniform"].append(uniform_error(tables))
        for method in methods:
            model = collected(records, sizes, order, method, epsilon, 100 + run)
            errors[method].append(squared_error(model, tables))
    means = {method: float(np.mean(found)) for method, found in errors.items()}
    print(attributes, order, epsilon, means)
    return means


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
def test_calm_is_at_least_three_times_better_than_ft_with_sixteen_attributes(epsilon):
    """Figure 6.4; over 12 runs FT/CALM was 6.8, 5.6, 5.0, 4.6, 5.0 at epsilon .2, .6, 1, 1.4, 2."""
    means = clicks(16, 16, 3, ["calm", "inp_ht"], epsilon, 3)
    assert means["inp_ht"] >= 3 * means["calm"]
    assert epsilon < 0.6 or means["calm"] < means["uniform"] / 3


@pytest.mark.parametrize("epsilon", [0.2, 2.0])
def test_whole_tables_and_all_marginals_are_worse_than_ft_with_sixteen_attributes(epsilon):
    """Figure 6.4; over 3 runs FC 1.15, .50, .21 and AM .67, .076, .021 at epsilon .2, 1, 2, FT .28,
    .020, .008.
    """
    means = clicks(16, 16, 3, ["calm", "inp_ht", "fc", "am"], epsilon, 1, count=20)
    assert means["calm"] < means["inp_ht"] < min(means["fc"], means["am"])


@pytest.mark.papers
@pytest.mark.parametrize("epsilon", [0.6, 2.0])
def test_calm_is_not_worse_than_ft_even_with_eight_attributes(epsilon):
    """Figure 6.4; over 20 runs FT/CALM was 2.3, 1.7, 2.0, 2.1, 2.9 at epsilon .2, .6, 1, 1.4, 2."""
    means = clicks(8, 16, 3, ["calm", "inp_ht"], epsilon, 10, count=25)
    assert means["calm"] <= means["inp_ht"]
    assert means["calm"] < means["uniform"] / 3


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
def test_the_gap_grows_with_thirty_two_attributes(epsilon):
    """Figure 6.4; over 10 runs FT/CALM was 17, 23, 17 at epsilon .2, 1, 2."""
    means = clicks(32, 16, 3, ["calm", "inp_ht"], epsilon, 1)
    assert means["inp_ht"] >= 6 * means["calm"]


@pytest.mark.parametrize("power", [15, pytest.param(18, marks=pytest.mark.papers)])
def test_the_gap_grows_with_tables_of_six(power):
    """Figure 6.4, epsilon 1; over 4 runs FT/CALM was 7.7, single runs scatter by a fifth."""
    found, sizes = [], (2,) * 16
    for run in range(2):
        records = kosarak_like(1 << power, 16, seed=run)
        tables = {view: truth(records, sizes, view) for view in some_views(16, 6, seed=run)}
        known, signs = (
            collected(records, sizes, 6, method, 1.0, 100 + run) for method in ("calm", "inp_ht")
        )
        found.append(
            (
                squared_error_of_pairs(known, tables),
                squared_error(signs, tables),
                uniform_error(tables),
            )
        )
    calm, hadamard, uniform = np.mean(found, axis=0)
    print("CALM", calm, "FT", hadamard, "uniform", uniform)
    one = next(iter(tables))
    assert squared_error_of_pairs(known, {one: tables[one]}) == pytest.approx(
        squared_error(known, {one: tables[one]})
    )
    assert hadamard >= 6 * calm
    assert calm < uniform / 3


@pytest.mark.parametrize("power", [15, pytest.param(18, marks=pytest.mark.papers)])
def test_the_gap_grows_further_at_a_larger_epsilon(power):
    """Figure 6.4, tables of six at epsilon 2; over 4 runs FT/CALM was 10.1."""
    means = clicks(16, power, 6, ["calm", "inp_ht"], 2.0, 1, count=8)
    assert means["inp_ht"] >= 6 * means["calm"]


def answers(epsilon, runs):
    """The mean errors with eight attributes of three values, FT also with all coefficients of their
    bits.
    """
    errors, sizes = {}, (3,) * 8
    for run in range(runs):
        records = three_levels(1 << 16, seed=run)
        bits = taken_apart(records, sizes)
        tables = {view: truth(records, sizes, view) for view in some_views(8, 3, 20, seed=run)}
        for method in ("calm", "am", "fc"):
            found = squared_error(collected(records, sizes, 3, method, epsilon, run), tables)
            errors.setdefault(method, []).append(found)
        known = collected(bits, (2,) * 16, 6, "calm", epsilon, run)
        signs = collected(bits, (2,) * 16, 6, "inp_ht", epsilon, run)
        errors.setdefault("be", []).append(
            _apart(lambda view, known=known: known.fit(view).table, sizes, tables)
        )
        errors.setdefault("ft", []).append(
            _apart(lambda view, signs=signs: signs.table(view).shares, sizes, tables)
        )
    means = {method: float(np.mean(found)) for method, found in errors.items()}
    print(epsilon, means)
    return means


def _apart(found, sizes, tables):
    return np.mean(
        [((put_together(found, sizes, view) - table) ** 2).sum() for view, table in tables.items()]
    )


@pytest.mark.parametrize("epsilon", [1.0, pytest.param(2.0, marks=pytest.mark.papers)])
def test_with_three_values_calm_is_best_and_needs_no_bits(epsilon):
    """Figure 6.5; over 4 runs at epsilon 1: CALM .0080, AM .036, FC .098, FT with the paper's
    coefficients .125, with those that are needed .027, BE .033; tables that say nothing .072.  At
    .6 CALM .021, AM .085, FC .18, FT .21 over 12 runs for the last two, of which one had them the
    other way round.  At .2 CALM, .097, is worse than nothing.
    """
    means = answers(epsilon, 2)
    assert means["calm"] < means["am"] < means["fc"] < means["ft"]
    assert means["calm"] < means["be"]


def misclassified(setting, runs, views=()):
    """The share that a machine gets wrong which learnt by CALM, without noise, and majority."""
    wrong = setting.by_calm(runs, views), setting.without_noise(), setting.majority()
    print(setting, "CALM, no noise, majority", wrong)
    return wrong


@pytest.mark.parametrize(
    ("population", "runs"),
    [
        pytest.param(marginal_applicants, 10, id="one", marks=pytest.mark.papers),
        pytest.param(applicants, 5, id="several"),
    ],
)
def test_classification_is_close_to_no_noise_with_a_million_people(population, runs):
    """Figure 6.6, n = 2^20, epsilon .8, four fifths are asked; means of 25 runs were .175 of .160
    without noise and .208 by majority, and .178 of .183 and .209.  At n = 2^16 CALM was no better
    than majority.
    """
    wrong, exact, majority = misclassified(ClassificationSetting(population, 20, 0.8), runs)
    assert wrong <= exact + 0.02
    assert wrong < majority


def planned(epsilon):
    return ClassificationSetting(applicants, 20, epsilon).planned_views()


def test_at_a_large_epsilon_larger_views_than_pairs_are_planned():
    assert (len(planned(0.8)), len(planned(0.8)[0])) == (105, 2)
    assert (len(planned(1.4)), len(planned(1.4)[0])) == (838, 4)


@pytest.mark.papers
def test_larger_views_than_pairs_make_classification_worse():
    """At epsilon 1.4 the planning rule turns from 105 pairs to 838 views of four, whose error is
    nine times as large.

    On the first population drawn up the claim then fails, .209 of .160 in 12 runs; with pairs it
    holds, .164 in 25. The second population, drawn up after that, has no single combination on
    which all depends: .182 of .183.
    """
    setting = ClassificationSetting(marginal_applicants, 20, 1.4)
    wrong, exact, majority = misclassified(setting, 6, planned(0.8))
    assert wrong <= exact + 0.02
    assert wrong < majority


def heat(number, size, epsilon, runs=10):
    """The mean error of all tables of three of eight attributes, for so many views of so many
    attributes.
    """
    joint, dice, whole = kosarak_joint(8), np.random.default_rng(3), tuple(range(8))
    tables = {view: projected(joint, whole, view) for view in combinations(whole, 3)}
    asked = Asked("calm", 1 << 16, epsilon, choose_views(ViewLayout(number, size), 8, 3))
    error = float(np.mean([squared_error(drawn(asked, joint, dice), tables) for _ in range(runs)]))
    print(number, "views of", size, "at", epsilon, error)
    return error


@pytest.mark.papers
def test_more_pairs_are_better_and_a_large_epsilon_wants_larger_views():
    """Figure 6.7; over 10 runs at epsilon .6, 4, 8, 16, 28 pairs: .0099, .0073, .0047, .0075,
    triples .0076, .0063, .0071, .0064; at epsilon 2, 16 views: pairs .0022, triples .0005.
    """
    assert heat(28, 2, 0.6) < 0.85 * heat(4, 2, 0.6)
    assert heat(16, 3, 2.0) < heat(16, 2, 2.0) / 3


@pytest.mark.parametrize("power", [15, pytest.param(18, marks=pytest.mark.papers)])
def test_a_trusted_curator_does_far_better(power):
    """Figure 6.9; at n = 2^18, d = 16, k = 3 CALM's error was 500, 570 and 270 times that of
    PriView at .2, 1 and 2.
    """
    records, sizes = kosarak_like(1 << power, 16), (2,) * 16
    tables = {view: truth(records, sizes, view) for view in some_views(16, 3, 30)}
    curated = squared_error(PriView(sizes, cover(16, 2, 8), 2.0).publish(records, 1), tables)
    local = squared_error(collected(records, sizes, 3, "calm", 2.0, 1), tables)
    print("PriView", curated, "CALM", local)
    assert local >= 10 * curated
