"""Checks of mechanisms that randomise a number: in exact fractions, by enumeration, and sampled."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sottovoce.lab.checks import (
    CONTRACT_CHECKS,
    FIVE_SIGMA,
    ScriptedRng,
    epsilon_is_spent_whole,
)
from sottovoce.lab.seeded import SeededRng
from sottovoce.maths.exact import UNIT


def moments_are_as_stated(mechanism):
    """Summed over all outputs: the mean is the number itself, the variance the stated one."""
    values, chances = np.arange(mechanism.size), mechanism.channel()
    numbers = mechanism.numbers(mechanism.codes(mechanism.outcomes()))
    means = numbers @ chances
    np.testing.assert_allclose(means, mechanism.points(values), atol=1e-12 * np.abs(numbers).max())
    spread = numbers**2 @ chances - means**2
    np.testing.assert_allclose(mechanism.variance(values), spread, rtol=1e-11, atol=1e-12)


# What every mechanism for numbers must pass.
NUMERIC_CHECKS = (*CONTRACT_CHECKS, epsilon_is_spent_whole, moments_are_as_stated)


def every_numeric_check(mechanisms):
    """Parametrise a test by mechanisms, and by the checks that each of them must pass."""

    def parametrised(test):
        by_check = pytest.mark.parametrize(
            "check", NUMERIC_CHECKS, ids=lambda check: check.__name__
        )
        by_mechanism = pytest.mark.parametrize(
            "mechanism", mechanisms, ids=lambda mechanism: mechanism.key
        )
        return by_mechanism(by_check(test))

    return parametrised


def exact_means(mechanism):
    """The mean number of every index of a window mechanism, every draw of its randomiser listed."""
    return [_exact_mean(mechanism, value) for value in range(mechanism.size)]


def numbers_are_unbiased(mechanism, users=200_000):
    """Sampled reports of every index average to its number, and spread as stated."""
    held = np.arange(users) % mechanism.size
    numbers = mechanism.numbers(mechanism.codes(mechanism.privatize(held, SeededRng(12))))
    for value in range(mechanism.size):
        own, (stated,) = numbers[held == value], mechanism.variance(np.array([value]))
        z = (own.mean() - mechanism.points(np.array([value]))[0]) / np.sqrt(stated / len(own))
        squares = (own - own.mean()) ** 2
        other = (squares.mean() - stated) / (squares.std() / np.sqrt(len(own)) + 1e-12)
        assert max(abs(z), abs(other)) < FIVE_SIGMA, (value, z, other)


def the_mean_is_found(mechanism, held):
    """Within five standard errors, and the error is that of theory: noise and the spread of what
    people hold.
    """
    tally = mechanism.tally(mechanism.privatize(held, SeededRng(11)))
    points, found = mechanism.points(held), mechanism.mean(tally)
    stated = (mechanism.variance(held).mean() + points.var()) / len(held)
    assert abs(found.total - points.mean()) < FIVE_SIGMA * found.error, (found, points.mean())
    assert abs(found.variance / stated - 1) < 0.05, (found, stated)
    return tally, found


def variances(mechanism):
    """The stated variance of every index."""
    return mechanism.variance(np.arange(mechanism.size))


def _exact_mean(mechanism, value):
    cells, window, travel = mechanism.outputs, mechanism.window, mechanism.travel
    rounding = mechanism.size - 1 if travel % (mechanism.size - 1) else 1
    draws = list(product(range(rounding), (True, False), range(window), range(travel)))
    rounded, coins, inside, outside = zip(*draws, strict=True)
    scripts = [
        script
        for script, limit in ((rounded, rounding), (inside, window), (outside, travel))
        if limit > 1
    ]
    rng = ScriptedRng(bernoulli=coins, integers=[draw for script in scripts for draw in script])
    reports = mechanism.privatize(np.full(len(draws), value), rng).tolist()
    keep = Fraction(mechanism.keep, UNIT)
    chances = {True: keep, False: 1 - keep}
    total = sum(
        chances[coin] * (2 * report - cells + 1)
        for coin, report in zip(coins, reports, strict=True)
    )
    return total * UNIT / ((mechanism.keep * cells - UNIT * window) * rounding * window * travel)
