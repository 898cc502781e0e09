"""Counts from decoded sums are those of scored reports: totals to the last digits, errors up to
their own spread.
"""

from dataclasses import replace

import numpy as np
import pytest

import sottovoce as sv
from plans.tables.plans import table_plan
from sottovoce.errors import NoDataError
from sottovoce.lab.experiments.tables import contributions
from sottovoce.plans.tables import counting
from sottovoce.sql.aggregates.count import Count
from sottovoce.sql.query import Column, GroupBy, Query

USERS = 6_000


def collected(method, *, published=False, most=None, rows=1):
    dice = np.random.default_rng(5)
    plan = table_plan(
        {"a": range(12), "b": ["x", "y", "z"]},
        method=method,
        published=published,
        most=most,
        rows=rows,
        fanout=4,
    )
    held = {
        "a": np.minimum(dice.poisson(4, USERS), 11),
        "b": dice.choice(["x", "y", "z"], USERS, p=[0.5, 0.3, 0.2]),
    }
    if most is not None:
        held["uid"] = dice.integers(0, USERS // 2, USERS)
        held["uid"][0] = USERS // 2
    return sv.simulate(sv.Task("t", plan, 3.0), held, seed=2)


def scored(database, place):
    column = Column(0, place)
    query = Query((0,), (Count("n"),), group_by=(GroupBy(column, "value"),))
    figures = [row[0] for row in database.answer(query).figures]
    return np.array([one.value for one in figures]), np.array([one.variance for one in figures])


def spread(database, name):
    """The relative standard error of the sum of squares of what people contribute to each count."""
    squares = contributions(database, f"SELECT {name}, COUNT(*) FROM people GROUP BY {name}") ** 2
    return squares.std(axis=0) / squares.mean(axis=0) / np.sqrt(len(squares))


PLANS = [
    {"method": "hio"},
    {"method": "hio", "published": True},
    {"method": "hio", "most": 4},
    {"method": "hio", "most": 4, "rows": 2},
    {"method": "ahio", "published": True},
    {"method": "ehio"},
    {"method": "hi"},
    {"method": "mg"},
    {"method": "sc_join"},
    {"method": "sc_sampled"},
]


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: "-".join(map(str, plan.values())))
@pytest.mark.parametrize("place", [0, 1])
def test_decoded_and_scored_counts_are_the_same(plan, place):
    database = collected(**plan)
    found = counting.counts(database.layout, database.collected, Column(0, place))
    totals, variances = scored(database, place)
    np.testing.assert_allclose(found.totals, totals, rtol=1e-9, atol=1e-6)
    # Both estimate one variance, from decoded votes and from the squares of the very scores: 5
    # sigma of a mean of
    # squares.  As published, of one cell at a time, the square of a vote is linear in it.
    near = (
        np.full(len(totals), 1e-6) if plan.get("published") else 5 * spread(database, "ab"[place])
    )
    assert (np.abs(found.variances / variances - 1) < near).all()
    assert (
        np.abs(2 * found.variances / variances - 1) > near
    ).all()  # twice as much would be noticed


def test_counts_are_listed_without_scoring_anything(monkeypatch):
    database = collected("hio")
    monkeypatch.setattr(
        type(database), "answer", lambda *_, **__: pytest.fail("a query was answered")
    )
    answer = database["people.a"]
    assert answer.labels == tuple(map(str, range(12)))
    assert answer.estimate.users == USERS
    assert abs(answer.estimate.totals.sum() - USERS) < 1e-6 * USERS


def test_a_layer_that_is_forgotten_is_noticed(monkeypatch):
    database = collected("hio")
    wanted = counting.counts(database.layout, database.collected, Column(0, 0)).totals
    plain = type(database.collected).tally

    def forgetful(self, address):
        if address.member == 3:
            raise NoDataError("as if nobody had been asked about this layer")
        return plain(self, address)

    monkeypatch.setattr(type(database.collected), "tally", forgetful)
    found = counting.counts(database.layout, database.collected, Column(0, 0)).totals
    assert not np.allclose(found, wanted, rtol=1e-3)


def test_layers_too_large_to_decode_are_scored():
    plan = sv.Table({"a": range(6), "b": range(1_000), "c": range(1_000)}, fanout=1_000)
    dice = np.random.default_rng(3)
    held = {
        name: dice.integers(0, size, 500) for name, size in (("a", 6), ("b", 1_000), ("c", 1_000))
    }
    database = sv.simulate(sv.Task("t", plan, 4.0), held, seed=1)
    found = counting.counts(database.layout, database.collected, Column(0, 0))
    totals, variances = scored(database, 0)
    np.testing.assert_allclose(found.totals, totals, rtol=1e-9, atol=1e-6)
    assert (np.abs(found.variances / variances - 1) < 5 * spread(database, "a")).all()
    erased = replace(database.collected, batches={})
    with pytest.raises(NoDataError, match="need the reports"):
        counting.counts(database.layout, erased, Column(0, 0))
