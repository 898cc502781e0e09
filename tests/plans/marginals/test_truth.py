"""Joint tables beside the truth, on records that can be counted by hand."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.baselines.marginals.baseline_marginals import BaselineMarginals
from sottovoce.lab.truth.compare import compare
from sottovoce.plans.marginals import truth
from sottovoce.plans.marginals.marginal_table import MarginalTable

DOMAIN = {"a": ["x", "y"], "b": range(3), "c": ["x", "y"]}
PLAN = BaselineMarginals(DOMAIN, "marg_ps", order=2)
RECORDS = {"a": ["x"] * 30 + ["y"] * 70, "b": [0] * 30 + [2] * 70, "c": ["x", "y"] * 50}
HELD = PLAN.domain.indices(RECORDS)


@pytest.fixture(scope="module")
def answer():
    return sv.simulate(sv.Task("t", PLAN, 6.0), RECORDS, seed=1)


def test_true_counts_are_of_cells_in_the_order_of_the_table(answer):
    counts = truth.counts(PLAN, HELD, ("a", "b"))
    assert tuple(counts) == answer.marginal("a", "b").labels
    assert {cell: count for cell, count in counts.items() if count} == {"x & 0": 30, "y & 2": 70}


def test_every_listed_table_stands_beside_its_truth(answer):
    compared = compare(PLAN, RECORDS, answer).parts
    assert [sum(one.truth.values()) for one in compared] == [100] * len(answer)
    assert compared[0].truth == {"x": 30, "y": 70}
    assert compared[1].truth == {"0": 30, "1": 0, "2": 70}


def test_the_distance_is_half_of_all_differences_on_average(answer):
    """One cell of one table of the three is off by a tenth: 0.1 / 2 / 3."""
    views = ((0, 1), (0, 2), (1, 2))
    exact = {view: MarginalTable(view, truth.shares(PLAN, HELD, view), np.eye(1)) for view in views}
    moved = exact[0, 1].shares.copy()
    moved[0, 0] += 0.1
    known = sv.simulate(sv.Task("t", PLAN, 6.0), RECORDS, seed=1)
    known.remembered.update(exact)
    assert truth.distance(known, HELD) == (0.0, 3)
    known.remembered[0, 1] = MarginalTable((0, 1), moved, np.eye(1))
    assert truth.distance(known, HELD)[0] == pytest.approx(0.1 / 2 / 3)


def test_the_tree_tells_what_pairs_really_tell(answer):
    first = truth.tree(answer, HELD)[0]
    assert (first.first, first.second) == ("a", "b")
    assert first.truth == pytest.approx(-0.3 * np.log(0.3) - 0.7 * np.log(0.7)), (
        "b gives a away: its entropy"
    )
    assert truth.information(PLAN, HELD)[0, 2] == pytest.approx(0.0, abs=1e-12)
