"""What the methods by pieces end with: whole values as candidates, put to the test of reports of whole values.

Source: Wang 2021, section 4.1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from sottovoce.core.estimate import Estimate
from sottovoce.domains.base import Domain
from sottovoce.domains.bits import Bits
from sottovoce.domains.strings import Strings
from sottovoce.errors import NoDataError, ParameterError
from sottovoce.maths.hashing import indices_of
from sottovoce.mechanisms.affine import AffineResponse
from sottovoce.mechanisms.affine_prefix import AffinePrefix
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.grr import GRR
from sottovoce.tasks.choice import Choice
from sottovoce.tasks.collected import Collected
from sottovoce.tasks.question import Address, Question

TESTERS = 10  # one user of so many tests whole values where users are partitioned


def check_settings(domain: Domain, top: int, most: int) -> None:
    """Refuse domains without bits, and to seek nothing or too much."""
    if not isinstance(domain, (Bits, Strings)):
        raise ParameterError("heavy hitters are sought among values of some bits or texts of some bytes")
    if type(top) is not int or not 1 <= top <= most:
        raise ParameterError(f"from 1 to {most} values are sought")


def whole(domain: Domain, epsilon: float) -> Question:
    """Return the question for the whole value."""
    return Question(AffinePrefix(epsilon, domain.size))


def over(epsilon: float, size: int) -> Mechanism:
    """Return what randomises a piece with so many values."""
    return GRR(epsilon, size) if size < AffineResponse.min_size else AffineResponse(epsilon, size)


def with_testers(tested: Question, others: Sequence[Any]) -> Choice:
    """Return the choice in which one user of ten answers the first question, and the rest one of the others."""
    return Choice((tested, *others), (len(others), *[TESTERS - 1] * len(others)))


def together(estimates: Iterable[Estimate]) -> Estimate:
    """Return the estimate from the reports of several groups with the same question."""
    return reduce(
        lambda one, other: replace(one, votes=one.votes + other.votes, users=one.users + other.users), estimates
    )


def ranked(
    collected: Collected, addresses: Iterable[Address], domain: Bits | Strings, numbers: Sequence[int], top: int
) -> tuple[tuple[str, ...], Estimate]:
    """Return the most frequent candidates and how many people hold each, from the reports of whole values."""
    if not numbers:
        raise NoDataError("no pieces fit together to a value")
    among = indices_of(numbers, domain.bits)
    estimate = together(collected.estimate(address, among) for address in addresses)
    places = np.argsort(-estimate.votes, kind="stable")[:top]
    return tuple(domain.shown(numbers[place]) for place in places.tolist()), estimate.picked(places)
