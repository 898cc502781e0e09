"""The published layouts have exactly the variances of the published analysis, person by person."""

import numpy as np
import pytest

from plans.tables.enumeration import outcomes, people
from plans.tables.laws import holding, law
from plans.tables.plans import THREE, TWO, held, ordinal, planned, question
from sottovoce.errors import ParameterError
from sottovoce.lab.baselines.tables.plan import published_table
from sottovoce.mechanisms.olh import OLH
from sottovoce.plans.tables.method import Method

EPSILON = 0.3  # two buckets, so that every map of a hash can be listed
COLUMNS = {"a": ordinal(3), "b": ordinal(2)}  # 3 to 5, and 3 to 4
ROUND = Method("add", "round")
CONDITION = {0: [0, 1], 1: [1]}


def moments(layout, where, measured=None):
    """(people) twice: mean and mean square of the score of everybody that there can be.

    Every layer, every rounding coin, every map of a hash and every bucket is listed.
    """
    work = planned(layout, question(layout, where, measured=measured), ROUND)
    (scoring,) = work.scorings.values()
    ((score,),) = [product.scores for product in work.totals[0].products]
    (slot,) = scoring.factor.slots
    rows = people(layout)
    mean, square = np.zeros(len(rows)), np.zeros(len(rows))
    for member in range(len(slot.family)):
        question_of_layer = slot.family[member]
        reports, chances = outcomes(question_of_layer.mechanism)
        scores = scoring(slot.number, member, reports)[:, score.column]
        for person, row in enumerate(rows):
            for cell, chance in law(question_of_layer.encoding, holding(tuple(row))).items():
                probability = float(chance) * slot.chance(member) * chances[:, cell]
                mean[person] += probability @ scores
                square[person] += probability @ scores**2
    return mean, square


def inside(layout, where):
    rows = people(layout)
    return np.prod([held(layout, at, chosen)[rows[:, at]] for at, chosen in where.items()], axis=0)


def second_moments():
    """s0 and s1 of section 3.1: of a cell that is not held, and of one that is."""
    noise = OLH(EPSILON, 12).noise  # the same for any number of cells
    return noise.unheld, 1 + noise.held + noise.unheld


def ends_of(first, last, value):
    """The sum of the squared ends, and the mean square of a value rounded to one of them."""
    share = (value - first) / (last - first)
    return first**2 + last**2, (1 - share) * first**2 + share * last**2


@pytest.fixture(scope="module")
def amg():
    return published_table(COLUMNS, "amg").layout(EPSILON)


def test_a_count_of_amg_adds_both_sides_of_the_coin_of_every_cell(amg):
    """One layer, all groups: E[z^2] = 2 cells s0 + (s1 - s0) [inside]."""
    mean, square = moments(amg, CONDITION)
    s0, s1 = second_moments()
    assert mean == pytest.approx(inside(amg, CONDITION), abs=1e-9)
    assert square == pytest.approx(2 * 2 * s0 + (s1 - s0) * inside(amg, CONDITION))


@pytest.mark.parametrize("where", [CONDITION, {1: [0]}], ids=["inside", "outside"])
def test_a_sum_of_amg_has_the_variance_of_the_augmented_marginal(amg, where):
    """E[z^2] = d ((min^2 + max^2) cells s0 + (s1 - s0) E[x^2] [inside]), with L = 1 layer."""
    mean, square = moments(amg, where, measured=0)
    s0, s1 = second_moments()
    value = 3 + people(amg)[:, 0]
    squared_ends, rounded = ends_of(3, 5, value)
    cells = len(where.get(0, range(3))) * 1
    chosen = inside(amg, where)
    assert mean == pytest.approx(chosen * value, abs=1e-9)
    expected = 2 * (squared_ends * cells * s0 + (s1 - s0) * rounded * chosen)
    assert square == pytest.approx(expected)


def test_amg_has_one_layer_for_every_number_and_is_mg_without_numbers(amg):
    (slot,) = amg.factors[0].slots
    assert [slot.cell(member).cells for member in range(len(slot.family))] == [12, 12]
    assert [slot.cell(member).rounded for member in range(2)] == [(0,), (1,)]
    labels = published_table({"x": THREE}, "amg").layout(EPSILON)
    assert labels.ask == published_table({"x": THREE}, "mg").layout(EPSILON).ask


LABELLED = {"a": ordinal(3), "b": TWO}
PLAIN = 3 * 2  # layers of HIO with a fan-out of 2
PARTITIONS = {  # method, partition: groups and layers of the sum of a
    ("ahio", "numbers"): (1, 2 * PLAIN),
    ("ahio", "all"): (2, 2 * PLAIN),
    ("ahio", ("a",)): (1, 2 * PLAIN),
    ("ehio", "numbers"): (1, 4 * 2),
    ("ehio", "all"): (2, 4 * 2),
    ("amg", "numbers"): (1, 1),
    ("amg", "all"): (2, 1),
    ("sr_hio", "numbers"): (1, 2 * PLAIN),
}


@pytest.mark.parametrize(("method", "partition"), PARTITIONS)
def test_a_sum_costs_as_many_times_the_variance_as_the_partition_has_columns(method, partition):
    """E[z^2] = d L ((min^2 + max^2) nodes s0 + (s1 - s0) E[x^2] [inside]): sections 4.3 and 4.4."""
    plan = published_table(LABELLED, method, fanout=2, partition=partition)
    layout = plan.layout(EPSILON)
    groups, layers = PARTITIONS[method, partition]
    nodes = 3 if method == "amg" else 1  # the single values of a, or all of them in one node
    mean, square = moments(layout, {1: [1]}, measured=0)
    s0, s1 = second_moments()
    value, chosen = 3 + people(layout)[:, 0], inside(layout, {1: [1]})
    squared_ends, rounded = ends_of(3, 5, value)
    assert mean == pytest.approx(chosen * value, abs=1e-9)
    expected = groups * layers * (squared_ends * nodes * s0 + (s1 - s0) * rounded * chosen)
    assert square == pytest.approx(expected)


def test_every_column_of_the_partition_doubles_the_layers_of_sr_hio():
    layout = published_table(LABELLED, "sr_hio", fanout=2, partition="all").layout(EPSILON)
    assert len(layout.factors[0].slots[0].family) == 2 * 2 * PLAIN


@pytest.mark.parametrize("method", ["ahio", "ehio", "amg"])
def test_a_count_stays_unbiased_whatever_the_partition(method):
    layout = published_table(LABELLED, method, fanout=2, partition="all").layout(EPSILON)
    mean, _ = moments(layout, CONDITION)
    assert mean == pytest.approx(inside(layout, CONDITION), abs=1e-9)


def test_a_number_outside_of_the_partition_has_no_coin():
    layout = published_table(COLUMNS, "ahio", partition=("b",)).layout(EPSILON)
    with pytest.raises(ParameterError, match="rounding coins"):
        moments(layout, {}, measured=0)
