"""The median is the quantile of a half; by group, from a collection."""

import numpy as np
import pytest

import sottovoce as sv


@pytest.fixture(scope="module")
def people():
    dice = np.random.default_rng(3)
    age = np.minimum(dice.poisson(9, 30_000), 24)
    return {"age": age, "home": np.where(dice.random(30_000) < age / 40, "house", "flat")}


def test_it_is_answered_by_group_with_an_interval(people):
    plan = sv.Table({"age": range(25), "home": ["flat", "house"]})
    database = sv.simulate(sv.Task("t", plan, 3.0), people, seed=2)
    result = database.sql("SELECT home, MEDIAN(age) AS m FROM people GROUP BY home")
    assert len(result) == 2
    for row in result.table:
        true = np.median(people["age"][people["home"] == row.labels[0]])
        low, high = row.figures[0].interval()
        assert low <= true <= high
        assert high - low < 8
        assert row.attacked(0, 0.95, 0.001) is not None
    explained = str(database.sql("EXPLAIN SELECT MEDIAN(age) FROM people"))
    assert "where count up to a value crosses its share of the count" in explained
