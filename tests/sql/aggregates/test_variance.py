"""VARIANCE is the mean square less the squared mean: in one file, answered everywhere."""

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.cli.truths import Truth
from sottovoce.lab.checks import FIVE_SIGMA
from sottovoce.sql.aggregates.base import MeasureTerm
from sottovoce.sql.aggregates.variance import Variance
from sottovoce.sql.query import Column
from sottovoce.sql.reading import read
from sql.aggregates.derivatives import check_nothing, check_slopes

VARIANCE = Variance("v", (MeasureTerm(1.0, Column(0, 0)),))
TEXT = "SELECT VARIANCE(age) AS v, STDDEV(age) AS d FROM people WHERE home = 'flat'"


def test_a_variance_is_that_of_the_numbers():
    numbers = np.array([1.0, 4.0, 4.0, 9.0])
    totals = [numbers.sum(), len(numbers), (numbers**2).sum()]
    assert VARIANCE.combine(totals).value == pytest.approx(numbers.var())
    check_slopes(VARIANCE, totals)
    check_nothing(VARIANCE, [0.0, 0.0, 0.0])


def test_noise_may_make_it_negative():
    assert VARIANCE.combine([10.0, 5.0, 10.0]).value == -2.0


def test_it_is_answered_with_its_error_and_true_beside_the_deviation():
    dice = np.random.default_rng(3)
    people = {
        "age": np.minimum(dice.poisson(9, 200_000), 31),
        "home": dice.choice(["flat", "house"], 200_000),
    }
    plan = sv.Table({"age": range(32), "home": ["flat", "house"]})
    database = sv.simulate(sv.Task("t", plan, 8.0), people, seed=2)
    variance, deviation = database.sql(TEXT).figures[0]
    root, relative = variance.value**0.5, (variance.error / variance.value) ** 2
    assert deviation.value == pytest.approx(root * (1 + relative / (8 * (1 + relative))))
    assert variance.error == pytest.approx(2 * root * deviation.error, rel=0.01)
    assert deviation.interval() == pytest.approx([end**0.5 for end in variance.interval()])
    true = people["age"][people["home"] == "flat"].var()
    assert abs(variance.value - true) < FIVE_SIGMA * variance.error
    assert (
        abs(variance.value - 2 * true) > FIVE_SIGMA * variance.error
    )  # twice as much would be noticed
    truth = Truth(plan.domain, plan.domain.indices(people)).rows(
        read(TEXT, plan.domain), database.sql(TEXT)
    )
    assert truth == [pytest.approx([true, true**0.5])]
