"""Optimised unary encoding."""

from decimal import Decimal
from math import exp, log

import numpy as np
import pytest

from sottovoce.core.noise import IndependentNoise
from sottovoce.errors import ParameterError
from sottovoce.lab.checks import (
    PURE_CHECKS,
    SAMPLED_CHECKS,
    epsilon_is_never_exceeded,
    samples_follow_the_likelihood,
)
from sottovoce.maths import exact
from sottovoce.mechanisms.oue import OUE

SMALL = [OUE(epsilon, size) for epsilon in (0.1, 1.0, 4.0) for size in (2, 5)] + [OUE(1.0, 9)]


@pytest.mark.parametrize(
    "mechanism", SMALL, ids=lambda mechanism: f"{mechanism.epsilon}-{mechanism.size}"
)
@pytest.mark.parametrize("check", PURE_CHECKS, ids=lambda check: check.__name__)
def test_contract(check, mechanism):
    check(mechanism)


def test_the_held_bit_is_a_fair_coin_exactly():
    assert OUE(epsilon=0.7, size=4).keep == 1 << 63


def test_golden_estimates():
    """Epsilon ln 3: four times the count less the users; epsilon 1, 400 of 1,000 bits: 567.2093."""
    oue = OUE(epsilon=log(3), size=4)
    assert oue.q == pytest.approx(1 / 4)
    assert oue.estimate_counts(np.array([5, 3, 2, 2]), 12).totals == pytest.approx([8, 0, -4, -4])
    golden = OUE(epsilon=1.0, size=4).estimate_counts(np.array([400]), 1000)
    assert golden.totals[0] == pytest.approx(567.2093, abs=5e-5)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_no_other_unary_encoding_of_this_epsilon_is_better_for_rare_values(epsilon):
    """Over all q, each with the p that spends epsilon, q = 1 / (e^eps + 1) has the least: Wang
    2021, section 3.3.3.
    """
    best = OUE(epsilon, 4)
    for q in np.linspace(0.2, 5, 200) * best.q:
        if q < 1:
            p = exp(epsilon) * q / (1 - q + exp(epsilon) * q)
            assert IndependentNoise.of(p, q).unheld >= best.noise.unheld * (1 - 1e-12)
    assert best.noise.unheld == pytest.approx(4 * exp(epsilon) / (exp(epsilon) - 1) ** 2)


def test_a_halved_flip_is_refused():
    class Halved(OUE):
        def probabilities(self):
            keep, flip = super().probabilities()
            return keep, flip / 2

    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        Halved(epsilon=1.0, size=5)


@pytest.mark.parametrize(
    "check", [samples_follow_the_likelihood, *SAMPLED_CHECKS], ids=lambda check: check.__name__
)
def test_a_device_that_halves_the_flips_is_caught(check):
    class Sparse(OUE):
        def privatize(self, values, rng):
            return OUE(log(2 * exp(self.epsilon) + 1), self.size).privatize(values, rng)

    with pytest.raises(AssertionError):
        check(Sparse(epsilon=1.0, size=5))


def test_a_law_that_reveals_too_much_is_caught():
    class Revealing(OUE):
        q = property(lambda self: self.flip / exact.UNIT / 2)

    with pytest.raises(AssertionError):
        epsilon_is_never_exceeded(Revealing(epsilon=1.0, size=5))


def test_thresholds_are_the_nearest_that_do_not_overspend():
    oue = OUE(epsilon=1.0, size=4)
    with exact.sixty_digits():
        ideal = exact.UNIT / (exact.exp(1.0) + 1)
    assert 0 <= Decimal(oue.flip) - ideal < 1
    OUE(epsilon=1.0, size=4, flip=oue.flip + 1)
    with pytest.raises(ParameterError, match="more than the stated epsilon"):
        OUE(epsilon=1.0, size=4, flip=oue.flip - 1)
