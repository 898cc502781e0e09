"""RAP and RAP_R: unary encoding whose bits are shuffled one by one.

A person sends one message for every location: the location and its randomised bit.

    RAP      flips with 1 / (e^(local / 2) + 1), and promises against replacing a value
    RAP_R    flips with 1 / (e^local + 1), and promises against removing a person

A removal guarantee of epsilon is a replacement guarantee of 2 epsilon, so that the two methods are
one mechanism, which is called by different epsilons.

Whole vectors must not be shuffled under these bounds: their other bits tell vectors apart.  For all
people but one holding the same value, the vectors without its bit are the one person's and a few
others'.  ``lab.truth.shuffled_unary`` computes what a collector learns then.  So the form is
refused.

Source: Wang 2021, section 9.3.1, with theorem 9.3.1 restricted to single bits.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Ints, Reports, Values
from sottovoce.core.rng import Rng
from sottovoce.lab.baselines.shuffle_bounds.closed_forms import SHUFFLED_BITS, check_fragmented
from sottovoce.lab.baselines.shuffle_bounds.solh import (
    PublishedOracle,
    PublishedTarget,
    removal_unary,
    unary,
)
from sottovoce.lab.baselines.shuffled.base import REMOVAL, REPLACEMENT, PublishedClaim, PureOracle
from sottovoce.mechanisms.sue import SUE

MESSAGE = np.dtype([("location", "<u4"), ("bit", "u1")])


@dataclass(frozen=True)
class FragmentedUnary(PureOracle):
    """Symmetric unary encoding with one message per bit."""

    mechanism: SUE

    def messages(self, values: Values, rng: Rng) -> Reports:
        locations = np.arange(self.mechanism.size)
        bits = self.mechanism.support(self.mechanism.privatize(values, rng), locations)
        messages = np.empty(bits.size, MESSAGE)
        messages["location"] = np.tile(locations, len(bits))
        messages["bit"] = bits.ravel()
        return messages

    def supports(self, messages: Reports) -> Ints:
        ones = messages["location"][messages["bit"] == 1]
        return np.bincount(ones, minlength=self.mechanism.size).astype(np.int64)


def rap(target: PublishedTarget, size: int, shuffled: str = SHUFFLED_BITS) -> FragmentedUnary:
    """Return RAP for a central target.

    >>> round(rap(PublishedTarget(1.0, 602_325, 1e-9), 915).mechanism.epsilon, 2)
    12.37
    """
    check_fragmented(shuffled)
    oracle = unary(target)
    return _fragmented(oracle.local, size, _claim(target, oracle, REPLACEMENT))


def rap_removal(
    target: PublishedTarget, size: int, shuffled: str = SHUFFLED_BITS
) -> FragmentedUnary:
    """Return RAP_R for a central target that is a promise against removal."""
    check_fragmented(shuffled)
    oracle = removal_unary(target)
    # Against replacement, which is what the mechanism states, the budget is twice as large.
    return _fragmented(2 * oracle.local, size, _claim(target, oracle, REMOVAL))


def _fragmented(epsilon: float, size: int, claim: PublishedClaim) -> FragmentedUnary:
    return FragmentedUnary(SUE(epsilon, size), claim)


def _claim(target: PublishedTarget, oracle: PublishedOracle, neighbours: str) -> PublishedClaim:
    return PublishedClaim(target.central, target.delta, oracle.local, neighbours)
