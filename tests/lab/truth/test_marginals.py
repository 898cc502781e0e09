"""Joint tables beside the truth, on records that can be counted by hand."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.truth import marginals
from sottovoce.lab.truth.frequencies import compare
from sottovoce.plans.marginals.tables import Table

DOMAIN = {"a": ["x", "y"], "b": range(3), "c": ["x", "y"]}
PLAN = sv.Marginals(DOMAIN, users=50_000, order=2, method="marg_ps")
RECORDS = {"a": ["x"] * 30 + ["y"] * 70, "b": [0] * 30 + [2] * 70, "c": ["x", "y"] * 50}
HELD = PLAN.domain.indices(RECORDS)


@pytest.fixture(scope="module")
def answer():
    return sv.simulate(sv.Task("t", PLAN, 6.0), RECORDS, seed=1)


def test_true_counts_are_of_cells_in_the_order_of_the_table(answer):
    counts = marginals.counts(PLAN, HELD, ("a", "b"))
    assert tuple(counts) == answer.marginal("a", "b").labels
    assert {cell: count for cell, count in counts.items() if count} == {"x & 0": 30, "y & 2": 70}


def test_every_listed_table_stands_beside_its_truth(answer):
    task = sv.Task("t", PLAN, 6.0)
    compared = compare(task, RECORDS, answer)
    assert [sum(one.truth.values()) for one in compared] == [100] * len(answer)
    assert compared[0].truth == {"x": 30, "y": 70}
    assert compared[1].truth == {"0": 30, "1": 0, "2": 70}


def true_shares(view):
    """The true table of two attributes, counted one record after another."""
    table = np.zeros([PLAN.domain.attributes[place].size for place in view])
    for record in HELD:
        table[tuple(record[place] for place in view)] += 1
    return table / len(HELD)


def test_the_distance_is_half_of_all_differences_on_average(answer):
    """One cell of one table of the three is off by a tenth: 0.1 / 2 / 3."""
    exact = {view: Table(view, true_shares(view), np.eye(1)) for view in ((0, 1), (0, 2), (1, 2))}
    moved = exact[0, 1].shares.copy()
    moved[0, 0] += 0.1
    known = sv.simulate(sv.Task("t", PLAN, 6.0), RECORDS, seed=1)
    known.made.update(exact)
    assert marginals.distance(known, HELD) == (0.0, 3)
    known.made[0, 1] = Table((0, 1), moved, np.eye(1))
    assert marginals.distance(known, HELD)[0] == pytest.approx(0.1 / 2 / 3)


def test_the_tree_tells_what_pairs_really_tell(answer):
    first = marginals.tree(answer, HELD)[0]
    assert (first.one, first.other) == ("a", "b")
    assert first.truth == pytest.approx(-0.3 * np.log(0.3) - 0.7 * np.log(0.7)), "b gives a away: its entropy"
    assert marginals.information(PLAN, HELD)[0, 2] == pytest.approx(0.0, abs=1e-12)
